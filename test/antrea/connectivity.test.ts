import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  type Connectivity,
  type ConnectivityObservation,
  decideConnectivity,
  initialConnectivity,
  summarise,
} from "../../lib/antrea/connectivity.ts";
import type { Fault } from "../../lib/antrea/fault.ts";
import { CAUSES } from "../../lib/base/cause.ts";

const refused: Fault = { cause: "CredentialRefused", message: "401 Unauthorized" };
const unreachable: Fault = { cause: "APIServerUnreachable", message: "connection refused" };
const beat: ConnectivityObservation = { kind: "announced", found: true };
const created: ConnectivityObservation = { kind: "announced", found: false };
const lost: ConnectivityObservation = { kind: "failed", fault: unreachable, found: false };

/** One observation every 10 s from `from` on. */
function after(
  observations: readonly ConnectivityObservation[],
  failureThreshold = 3,
  from: Connectivity = initialConnectivity(0),
  at = 10_000,
): Connectivity {
  return observations.reduce((c, o, i) => decideConnectivity(c, o, at + i * 10_000, { failureThreshold }), from);
}

describe("connectivity, rule by rule", () => {
  it("begins with Ready Unknown and IsLeader False, both saying that the leader was added", () => {
    assert.deepEqual(initialConnectivity(7), {
      ready: {
        status: "Unknown",
        reason: "",
        message: "Leader cluster added",
        lastTransitionTime: 7,
        observedAt: 7,
        failures: 0,
      },
      isLeader: {
        status: "False",
        reason: "",
        message: "Leader cluster added",
        lastTransitionTime: 7,
        observedAt: 7,
        failures: 0,
      },
    });
  });

  it("takes a connection without conditions for a new one", () => {
    assert.deepEqual(
      decideConnectivity(undefined, lost, 5, { failureThreshold: 3 }),
      decideConnectivity(initialConnectivity(5), lost, 5, { failureThreshold: 3 }),
    );
  });

  it("is Ready without reason or message after the beat that created the announce, and not yet IsLeader", () => {
    const { ready, isLeader } = after([created]);

    assert.deepEqual(
      [ready.status, ready.reason, ready.message, ready.cause, ready.lastTransitionTime],
      ["True", "", "", undefined, 10_000],
    );
    assert.deepEqual(
      [isLeader.status, isLeader.message, isLeader.lastTransitionTime],
      ["False", "Leader cluster added", 0],
    );
  });

  it("is IsLeader after the first beat that found the announce", () => {
    const { isLeader } = after([created, beat, beat]);

    assert.deepEqual(
      [isLeader.status, isLeader.reason, isLeader.message, isLeader.lastTransitionTime],
      ["True", "", "This leader cluster is the leader for local cluster", 20_000],
    );
  });

  it("has both conditions True after one beat when the announce existed", () => {
    const { ready, isLeader } = after([beat]);

    assert.deepEqual([ready.status, isLeader.status], ["True", "True"]);
  });

  it("changes nothing but the time of observation on a success while connected", () => {
    const connected = after([beat]);

    const later = after([beat], 3, connected, 20_000);

    assert.deepEqual(later.ready, { ...connected.ready, observedAt: 20_000 });
    assert.deepEqual(later.isLeader, { ...connected.isLeader, observedAt: 20_000 });
  });

  it("stays Ready and counts while failures are fewer than the threshold", () => {
    const { ready } = after([beat, lost, lost]);

    assert.deepEqual([ready.status, ready.message, ready.failures, ready.lastTransitionTime], ["True", "", 2, 10_000]);
  });

  it("is Disconnected with the error and its cause at the threshold", () => {
    const { ready } = after([beat, lost, lost, lost]);

    assert.deepEqual(
      [ready.status, ready.reason, ready.message, ready.cause, ready.failures, ready.lastTransitionTime],
      ["False", "Disconnected", "connection refused", "APIServerUnreachable", 3, 40_000],
    );
  });

  it("is Disconnected by the first failure with a threshold of 1, as the in-cluster agent", () => {
    const { ready } = after([beat, lost], 1);

    assert.deepEqual([ready.status, ready.reason, ready.lastTransitionTime], ["False", "Disconnected", 20_000]);
  });

  it("shows the latest error while disconnected, without moving the time of transition", () => {
    const { ready } = after([beat, lost, lost, lost, { kind: "failed", fault: refused, found: false }]);

    assert.deepEqual(
      [ready.message, ready.cause, ready.failures, ready.lastTransitionTime],
      ["401 Unauthorized", "CredentialRefused", 4, 40_000],
    );
  });

  it("shows the error of a connection that never worked, and is False at the threshold", () => {
    const two = after([lost, lost]);
    const three = after([lost, lost, lost]);

    assert.deepEqual(
      [two.ready.status, two.ready.reason, two.ready.message, two.ready.cause, two.ready.lastTransitionTime],
      ["Unknown", "", "connection refused", "APIServerUnreachable", 0],
    );
    assert.deepEqual(
      [three.ready.status, three.ready.reason, three.ready.lastTransitionTime],
      ["False", "Disconnected", 30_000],
    );
  });

  it("recovers with the first success", () => {
    const { ready } = after([beat, lost, lost, lost, lost, beat]);

    assert.deepEqual(
      [ready.status, ready.reason, ready.message, ready.cause, ready.failures, ready.lastTransitionTime],
      ["True", "", "", undefined, 0, 60_000],
    );
  });

  it("counts from nothing again after a success", () => {
    assert.equal(after([beat, lost, lost, beat, lost, lost]).ready.status, "True");
  });

  it("keeps IsLeader through a disconnect", () => {
    const { isLeader } = after([beat, lost, lost, lost, lost]);

    assert.deepEqual([isLeader.status, isLeader.lastTransitionTime], ["True", 10_000]);
  });

  it("takes a refusal that proves the announce for IsLeader, though the beat failed", () => {
    const denied: Fault = { cause: "DeniedByLeaderWebhook", message: "denied" };

    const { ready, isLeader } = after([{ kind: "failed", fault: denied, found: true }]);

    assert.deepEqual([ready.status, ready.message, isLeader.status], ["Unknown", "denied", "True"]);
  });

  it("shows an announce with other IDs beside Ready True, and drops it when it is mended", () => {
    const mismatch: Fault = { cause: "ConfigurationInvalid", message: "clusterSetID is b, not a" };

    const wrong = after([beat, { kind: "announced", found: true, mismatch }]);
    const mended = after([beat], 3, wrong, 30_000);

    assert.deepEqual(
      [wrong.ready.status, wrong.ready.message, wrong.ready.cause, wrong.ready.lastTransitionTime],
      ["True", "clusterSetID is b, not a", "ConfigurationInvalid", 10_000],
    );
    assert.deepEqual([mended.ready.message, mended.ready.cause], ["", undefined]);
  });

  it("is False at once when the member's own objects cannot be used", () => {
    const fault: Fault = { cause: "ConfigurationInvalid", message: "no ca.crt" };

    const { ready, isLeader } = after([{ kind: "misconfigured", fault }]);

    assert.deepEqual([ready.status, ready.reason, ready.message], ["False", "Disconnected", "no ca.crt"]);
    assert.equal(isLeader.status, "False");
  });

  it("waits without a ClusterSet: Ready Unknown, IsLeader False, whatever was before", () => {
    const fault: Fault = { cause: "ClusterSetMissing", message: "no ClusterSet" };

    const { ready, isLeader } = after([beat, { kind: "waiting", fault }]);

    assert.deepEqual([ready.status, ready.cause, ready.message], ["Unknown", "ClusterSetMissing", "no ClusterSet"]);
    assert.equal(isLeader.status, "False");
  });

  it("cuts messages to 4,096 bytes", () => {
    const fault: Fault = { cause: "ServerError", message: "€".repeat(20_000) };

    const { ready } = after([{ kind: "failed", fault, found: false }]);

    assert.ok(Buffer.byteLength(ready.message) <= 4096);
    assert.match(ready.message, /cut by \d+ bytes/);
  });
});

describe("connectivity, for lists", () => {
  it("is one word with the cause and the time of the transition", () => {
    assert.deepEqual(summarise(after([])), { state: "Pending", since: 0 });
    assert.deepEqual(summarise(after([lost])), { state: "Pending", cause: "APIServerUnreachable", since: 0 });
    assert.deepEqual(summarise(after([beat])), { state: "Connected", since: 10_000 });
    assert.deepEqual(summarise(after([lost, lost, lost])), {
      state: "Disconnected",
      cause: "APIServerUnreachable",
      since: 30_000,
    });
  });
});

const faults = fc.record({ cause: fc.constantFrom(...CAUSES), message: fc.string({ minLength: 1, maxLength: 40 }) });
const beats = fc.oneof(
  fc.record({ kind: fc.constant("announced" as const), found: fc.boolean() }),
  fc.record({ kind: fc.constant("failed" as const), fault: faults, found: fc.boolean() }),
);
const observations = fc.oneof(
  { weight: 8, arbitrary: beats },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("misconfigured" as const), fault: faults }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("waiting" as const), fault: faults }) },
  { weight: 1, arbitrary: fc.constant({ kind: "paused" as const }) },
);

/** Every step of a random history: what was before, what was seen, what came out. */
function steps(
  history: readonly ConnectivityObservation[],
  failureThreshold: number,
): {
  readonly before: Connectivity;
  readonly seen: ConnectivityObservation;
  readonly now: number;
  readonly out: Connectivity;
}[] {
  let before = initialConnectivity(0);
  return history.map((seen, i) => {
    const now = (i + 1) * 10_000;
    const step = { before, seen, now, out: decideConnectivity(before, seen, now, { failureThreshold }) };
    before = step.out;
    return step;
  });
}

describe("connectivity, for every history", () => {
  const threshold = fc.integer({ min: 1, max: 6 });

  it("moves the time of transition exactly when the status moves", () => {
    fc.assert(
      fc.property(fc.array(observations), threshold, (history, n) => {
        for (const { before, now, out } of steps(history, n)) {
          for (const type of ["ready", "isLeader"] as const) {
            const moved = before[type].status !== out[type].status;
            assert.equal(out[type].lastTransitionTime, moved ? now : before[type].lastTransitionTime);
          }
        }
      }),
    );
  });

  it("is Ready after every success", () => {
    fc.assert(
      fc.property(fc.array(observations), threshold, (history, n) => {
        for (const { seen, out } of steps(history, n)) {
          if (seen.kind !== "announced") continue;
          assert.deepEqual([out.ready.status, out.ready.reason, out.ready.failures], ["True", "", 0]);
        }
      }),
    );
  });

  it("is False after a row of beats exactly when the threshold was reached since the last success", () => {
    fc.assert(
      fc.property(fc.array(beats), threshold, (history, n) => {
        let row = 0;
        let reached = false;
        for (const { seen, out } of steps(history, n)) {
          row = seen.kind === "announced" ? 0 : row + 1;
          reached = seen.kind !== "announced" && (reached || row >= n);
          assert.equal(out.ready.status === "False", reached);
          assert.equal(out.ready.failures, row);
        }
      }),
    );
  });

  it("shows the latest error whenever it is not Ready", () => {
    fc.assert(
      fc.property(fc.array(observations), threshold, (history, n) => {
        for (const { seen, out } of steps(history, n)) {
          if (seen.kind === "announced" || seen.kind === "paused" || out.ready.status === "True") continue;
          assert.equal(out.ready.message, seen.fault.message);
          assert.equal(out.ready.cause, seen.fault.cause);
        }
      }),
    );
  });

  it("says that it is paused exactly after a pause, whatever was before", () => {
    fc.assert(
      fc.property(fc.array(observations), threshold, (history, n) => {
        for (const { seen, out } of steps(history, n)) {
          assert.equal(out.ready.reason === "Paused", seen.kind === "paused");
          assert.equal(summarise(out).state === "Paused", seen.kind === "paused");
          if (seen.kind === "paused") assert.deepEqual([out.ready.status, out.ready.cause], ["Unknown", undefined]);
        }
      }),
    );
  });

  it("never takes IsLeader back while there is a ClusterSet", () => {
    fc.assert(
      fc.property(fc.array(observations), threshold, (history, n) => {
        for (const { before, seen, out } of steps(history, n)) {
          if (seen.kind === "waiting" || before.isLeader.status !== "True") continue;
          assert.equal(out.isLeader.status, "True");
        }
      }),
    );
  });
});
