import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { sendBeat } from "../../lib/antrea/announce.ts";
import { deferral, lastChance } from "../../lib/antrea/announce-beat.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { kubeError, MemoryCluster } from "./memory-cluster.ts";

const throttled = (retryAfterMs: number) =>
  ({ kind: "failed", error: kubeError("tooManyRequests", { retryAfterMs }), found: false }) as const;

describe("a leader that asks to be left alone", () => {
  it("is left alone for as long as it says", () => {
    assert.equal(deferral(throttled(5_000), undefined, 100), 5_100);
    assert.equal(deferral(throttled(0), undefined, 100), 100);
  });

  it("is left alone for a minute at most", () => {
    assert.equal(deferral(throttled(86_400_000), undefined, 0), 60_000);
  });

  it("is asked once more 27 s after the last success, before it would call us disconnected", () => {
    assert.equal(deferral(throttled(25_000), 0, 10_000), 27_000);
    assert.equal(deferral(throttled(8_000), 0, 10_000), 18_000);
    assert.equal(lastChance(0, 10_000), 27_000);
    assert.deepEqual([lastChance(0, 27_000), lastChance(undefined, 1)], [undefined, undefined]);
  });

  it("is never left alone longer than it asks, nor asked again within that time unless it is the last chance", () => {
    const times = fc.record({
      retryAfterMs: fc.nat(100_000),
      succeededMs: fc.option(fc.nat(100_000), { nil: undefined }),
      sinceMs: fc.nat(60_000),
    });
    fc.assert(
      fc.property(times, ({ retryAfterMs, succeededMs, sinceMs }) => {
        const nowMs = (succeededMs ?? 0) + sinceMs;
        const asked = nowMs + Math.min(retryAfterMs, 60_000);
        const until = deferral(throttled(retryAfterMs), succeededMs, nowMs);
        assert.ok(until >= nowMs && until <= asked);
        assert.ok(until === asked || until === lastChance(succeededMs, nowMs));
        if (succeededMs !== undefined && sinceMs < 27_000) assert.ok(until <= succeededMs + 27_000);
      }),
    );
  });

  it("is left alone as it asks when that moment has passed", () => {
    assert.equal(deferral(throttled(25_000), 0, 40_000), 65_000);
  });

  it("is not left alone after any other answer", () => {
    const other = { kind: "failed", error: kubeError("unavailable"), found: false } as const;

    assert.equal(deferral(other, undefined, 0), Number.NEGATIVE_INFINITY);
    assert.equal(deferral({ kind: "withheld" }, undefined, 0), Number.NEGATIVE_INFINITY);
  });
});

describe("a beat", () => {
  it("ends within its time limit when the question whether an announce may be made is not answered", async () => {
    const clock = new FakeClock();
    const spec = {
      clusterID: "east",
      clusterSetID: "set",
      leaderClusterID: "north",
      server: "https://north:6443",
      secret: "leader-token",
      commonArea: "antrea-multicluster",
    };
    let seen: unknown;
    const leader = new MemoryCluster();
    void sendBeat(leader.client("leader"), spec, () => "1", {
      clock,
      timeoutMs: 8_000,
      mayCreate: async (signal) => {
        await clock.sleep(60_000, signal);
        return false;
      },
    }).then((observation) => {
      seen = observation;
    });

    await clock.advance(7_999);
    assert.equal(seen, undefined);
    await clock.advance(1);
    assert.deepEqual(seen, { kind: "withheld" });
  });
});
