import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { sendBeat } from "../../lib/antrea/announce.ts";
import { deferral } from "../../lib/antrea/announce-beat.ts";
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

  it("is asked once more before it would call us disconnected, 30 s after the last success", () => {
    assert.equal(deferral(throttled(25_000), 0, 10_000), 20_000);
    assert.equal(deferral(throttled(8_000), 0, 10_000), 18_000);
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
    void sendBeat(leader.client("leader"), spec, "1", {
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
