import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clusterSetStatus, judge, seen } from "../../../../infra/local/leader/member-status.ts";
import { isStale } from "../../../../infra/local/leader/stale.ts";

const START = Date.parse("2026-01-01T00:00:00Z");

describe("the leader's view of a member", () => {
  it("is connected from the first announce on", () => {
    const member = seen(undefined, "east", START);

    assert.equal(member.connected, true);
    assert.equal(member.message, "Member Connected");
  });

  it("stays connected at 30 s and turns over after", () => {
    const member = seen(undefined, "east", START);

    assert.equal(judge(member, START + 30_000).connected, true);
    const lost = judge(member, START + 30_001);
    assert.equal(lost.connected, false);
    assert.equal(lost.message, "No MemberClusterAnnounce update after Thu Jan  1 00:00:00 UTC 2026");
  });

  it("recovers at the next look and moves its time only when the status moves", () => {
    const lost = judge(seen(undefined, "east", START), START + 40_000);

    const back = judge(seen(lost, "east", START + 41_000), START + 50_000);

    assert.equal(back.connected, true);
    assert.equal(back.lastTransitionTime, START + 50_000);
    assert.equal(judge(back, START + 60_000).lastTransitionTime, START + 50_000);
  });

  it("makes the ClusterSet ready when every member is, also with none", () => {
    const east = seen(undefined, "east", START);
    const status = (members: Parameters<typeof clusterSetStatus>[0]): unknown =>
      clusterSetStatus(members, 3, [], START);

    assert.deepEqual(status([]), {
      observedGeneration: 3,
      totalClusters: 0,
      readyClusters: 0,
      conditions: [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" }],
      clusterStatuses: [],
    });
    const lost = clusterSetStatus([judge(east, START + 31_000)], 3, [], START);
    assert.equal(lost["readyClusters"], 0);
    assert.equal((lost["conditions"] as { reason: string }[])[0]?.reason, "NoReadyCluster");
  });
});

describe("the leader's sweep", () => {
  const announce = (touched?: string): Parameters<typeof isStale>[0] => ({
    metadata: { name: "member-announce-from-east", annotations: touched === undefined ? {} : { "touch-ts": touched } },
  });

  it("takes what was not touched for a day, was never touched, or does not say when", () => {
    assert.equal(isStale(announce("2025-12-30T23:59:59Z"), START), true);
    assert.equal(isStale(announce(), START), true);
    assert.equal(isStale(announce("yesterday"), START), true);
    assert.equal(isStale(announce("2026-01-01"), START), true);
  });

  it("leaves what was touched within a day, with or without fractions and offsets", () => {
    assert.equal(isStale(announce("2025-12-31T00:00:00Z"), START), false);
    assert.equal(isStale(announce("2025-12-31T12:00:00.123456Z"), START), false);
    assert.equal(isStale(announce("2025-12-31T12:00:00+02:00"), START), false);
  });
});
