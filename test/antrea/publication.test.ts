import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  type Connectivity,
  type ConnectivityObservation,
  decideConnectivity,
  initialConnectivity,
} from "../../lib/antrea/connectivity.ts";
import { publish } from "../../lib/antrea/publication.ts";

const options = { failureThreshold: 3 };
const failure = (message: string): ConnectivityObservation => ({
  kind: "failed",
  fault: { cause: "ServerError", message },
  found: false,
});

describe("what others are shown", () => {
  it("is everything at first", () => {
    const live = initialConnectivity(0);

    assert.equal(publish(undefined, live, 0), live);
  });

  it("stays the same object while beats succeed", () => {
    const shown = decideConnectivity(undefined, { kind: "announced", found: true }, 0, options);
    const live = decideConnectivity(shown, { kind: "announced", found: true }, 3_600_000, options);

    assert.equal(publish(shown, live, 3_600_000), shown);
  });

  it("shows the first error of a new connection at once", () => {
    const shown = initialConnectivity(0);
    const live = decideConnectivity(shown, failure("a"), 10, options);

    assert.equal(publish(shown, live, 10).ready.message, "a");
  });

  it("shows another error of the same state a minute after the last one", () => {
    const shown = decideConnectivity(undefined, failure("a"), 0, { failureThreshold: 1 });
    const live = (at: number): Connectivity => decideConnectivity(shown, failure("b"), at, options);

    assert.equal(publish(shown, live(59_999), 59_999), shown);
    assert.equal(publish(shown, live(60_000), 60_000).ready.message, "b");
  });

  it("does not wait for a wall clock that was set back", () => {
    const shown = decideConnectivity(undefined, failure("a"), 3_600_000, { failureThreshold: 1 });
    const live = decideConnectivity(shown, failure("b"), 0, options);

    assert.equal(publish(shown, live, 0).ready.message, "b");
  });

  it("shows a new connection though its statuses are those of the old one", () => {
    const shown = initialConnectivity(0);

    assert.equal(publish(shown, initialConnectivity(5), 5).ready.lastTransitionTime, 5);
  });

  it("never differs from the truth in status, and changes at most once a minute without a transition", () => {
    const seen = fc.oneof(
      fc.record({ kind: fc.constant("announced" as const), found: fc.boolean() }),
      fc.constantFrom("a", "b", "c").map(failure),
    );
    fc.assert(
      fc.property(fc.array(seen, { maxLength: 60 }), (history) => {
        let live = initialConnectivity(0);
        let shown = live;
        let changedAt = Number.NEGATIVE_INFINITY;
        history.forEach((observation, i) => {
          const now = (i + 1) * 10_000;
          const next = decideConnectivity(live, observation, now, options);
          const transition = next.ready.status !== shown.ready.status || next.isLeader.status !== shown.isLeader.status;
          const faultCameOrWent = (next.ready.cause === undefined) !== (shown.ready.cause === undefined);
          live = next;
          const after = publish(shown, live, now);
          if (after !== shown) {
            assert.ok(transition || faultCameOrWent || now - changedAt >= 60_000);
            changedAt = now;
          }
          shown = after;
          assert.equal(shown.ready.status, live.ready.status);
          assert.equal(shown.isLeader.status, live.isLeader.status);
        });
      }),
    );
  });
});
