import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { Membership } from "../../lib/state/membership.ts";
import { PHASES, SUMMARY_STATES } from "../../lib/state/membership.ts";
import { decideMembershipChange, decideRejoin, type MembershipChange } from "../../lib/state/membership-change.ts";
import { specOf } from "./membership-samples.ts";

const standing: Membership = {
  ...specOf("east"),
  shard: "default-1",
  phase: "joined",
  assignment: 4,
  clusterUID: "uid-1",
  connectedOnce: false,
  createdAt: 1,
  createdBy: "platform",
  updatedAt: 1,
  summary: { state: "Connected", since: 7 },
};

const change: fc.Arbitrary<MembershipChange> = fc.record(
  {
    phase: fc.constantFrom(...PHASES),
    connectedOnce: fc.boolean(),
    clusterUID: fc.constantFrom("uid-1", "uid-2"),
    summary: fc.record(
      { state: fc.constantFrom(...SUMMARY_STATES), since: fc.integer({ min: 8, max: 9 }) },
      { noNullPrototype: true },
    ),
    access: fc.constantFrom(standing.access, { kubeconfig: { ssm: "/a" } }),
    antrea: fc.constantFrom(standing.antrea, { namespace: "other" }),
    options: fc.constantFrom(standing.options, { failureThreshold: 9, networkProfile: "default" }),
    reassign: fc.boolean(),
  },
  { requiredKeys: [], noNullPrototype: true },
);

test("the assignment never falls, and rises by one exactly when leader or credential may have changed", () => {
  fc.assert(
    fc.property(change, (given) => {
      const decision = decideMembershipChange(standing, given, {}, 99);
      if (decision.kind !== "change") return;
      const reassigned =
        given.reassign === true ||
        (given.access ?? standing.access) !== standing.access ||
        (given.antrea ?? standing.antrea) !== standing.antrea;
      assert.equal(decision.next.assignment, standing.assignment + Number(reassigned));
    }),
  );
});

test("a change that was made changes nothing when it is asked for again, unless it asks for a new assignment", () => {
  fc.assert(
    fc.property(change, (given) => {
      const once = decideMembershipChange(standing, given, {}, 99);
      if (once.kind !== "change" || given.reassign === true) return;
      assert.equal(decideMembershipChange(once.next, given, {}, 100).kind, "unchanged");
    }),
  );
});

test("name, shard and origin never change, and another UID is always refused", () => {
  fc.assert(
    fc.property(change, (given) => {
      const decision = decideMembershipChange(standing, given, {}, 99);
      assert.equal(decision.kind === "refused", given.clusterUID === "uid-2");
      if (decision.kind !== "change") return;
      const { cluster, protocol, shard, createdAt, createdBy } = decision.next;
      assert.deepEqual(
        { cluster, protocol, shard, createdAt, createdBy },
        { cluster: "east", protocol: "antrea", shard: "default-1", createdAt: 1, createdBy: "platform" },
      );
    }),
  );
});

test("the shard's revision rises with everything but the summary", () => {
  const summary = decideMembershipChange(standing, { summary: { state: "Paused", since: 9 } }, {}, 99);
  const connected = decideMembershipChange(standing, { connectedOnce: true }, {}, 99);

  assert.equal(summary.kind === "change" && summary.raisesRevision, false);
  assert.equal(connected.kind === "change" && connected.raisesRevision, true);
});

test("a summary keeps the time since which its state holds", () => {
  const cause = decideMembershipChange(
    standing,
    { summary: { state: "Connected", cause: "Throttled", since: 50 } },
    {},
    99,
  );
  const state = decideMembershipChange(standing, { summary: { state: "Disconnected", since: 50 } }, {}, 99);

  assert.deepEqual(cause.kind === "change" && cause.next.summary, { state: "Connected", cause: "Throttled", since: 7 });
  assert.deepEqual(state.kind === "change" && state.next.summary, { state: "Disconnected", since: 50 });
});

test("a membership that is being left is not joined again meanwhile", () => {
  for (const phase of ["leaving", "left"] as const) {
    const decision = decideRejoin({ ...standing, phase }, specOf("east"), "uid-1", 99);

    assert.deepEqual(decision, { kind: "refused", because: "Leaving" });
  }
});

test("a membership that has left its shard does not come back", () => {
  const left: Membership = { ...standing, phase: "left" };

  for (const phase of ["joining", "joined", "leaving"] as const) {
    assert.deepEqual(decideMembershipChange(left, { phase }, {}, 99), { kind: "refused", because: "Leaving" });
  }
  assert.equal(decideMembershipChange(left, { leave: null }, {}, 99).kind, "unchanged");
});

test("what says how far a leave has come, and what is kept of the leader, makes no window read again", () => {
  const leave = { force: false, startedAt: 1, attempts: 1 };
  const leader = { clusterID: "north", server: "https://north:6443" };
  for (const [change, raises] of [
    [{ leave }, false],
    [{ leader, keptLeaderHash: "hash" }, false],
    [{ paused: true }, true],
    [{ phase: "leaving", leaveReason: "Requested", leave }, true],
  ] satisfies [MembershipChange, boolean][]) {
    const decision = decideMembershipChange(standing, change, {}, 99);

    assert.ok(decision.kind === "change" && decision.raisesRevision === raises, JSON.stringify(change));
  }
});
