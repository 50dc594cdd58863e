import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { type ObservedClusterSet, planClusterSetStatus, shownLeader } from "../../lib/antrea/cluster-set-status.ts";
import { type Connectivity, decideConnectivity, initialConnectivity } from "../../lib/antrea/connectivity.ts";

const T0 = Date.parse("2026-01-01T00:00:00.000Z");
const options = { failureThreshold: 1 };
const added = initialConnectivity(T0);
const created = decideConnectivity(added, { kind: "announced", found: false }, T0 + 500, options);
const connected = decideConnectivity(created, { kind: "announced", found: true }, T0 + 10_700, options);
const lost = decideConnectivity(
  connected,
  { kind: "failed", fault: { cause: "APIServerUnreachable", message: "refused" }, found: false },
  T0 + 20_000,
  options,
);

function observed(status?: unknown, more: Partial<ObservedClusterSet> = {}): ObservedClusterSet {
  const name = { namespace: "kube-system", name: "set", uid: "u", resourceVersion: "7" };
  return { ...name, generation: 2, leaderClusterID: "north", status, ...more };
}

describe("the status of a member's ClusterSet", () => {
  it("without a connection: one cluster, none ready, disconnected", () => {
    assert.deepEqual(planClusterSetStatus(observed(), undefined, T0), {
      observedGeneration: 2,
      totalClusters: 1,
      readyClusters: 0,
      clusterStatuses: [],
      conditions: [
        {
          type: "Ready",
          status: "False",
          lastTransitionTime: "2026-01-01T00:00:00Z",
          message: "Disconnected from leader",
        },
      ],
    });
  });

  it("before the first beat: both conditions as they began, disconnected", () => {
    const plan = planClusterSetStatus(observed(), added, T0);

    const time = { lastTransitionTime: "2026-01-01T00:00:00Z", message: "Leader cluster added" };
    assert.deepEqual(plan?.clusterStatuses, [
      {
        clusterID: "north",
        conditions: [
          { type: "Ready", status: "Unknown", ...time },
          { type: "IsLeader", status: "False", ...time },
        ],
      },
    ]);
    assert.equal(plan?.conditions[0]?.["status"], "False");
  });

  it("Ready, and not yet IsLeader: Unknown, not yet connected", () => {
    const plan = planClusterSetStatus(observed(), created, T0);

    assert.equal(plan?.readyClusters, 1);
    assert.deepEqual(
      [plan?.conditions[0]?.["status"], plan?.conditions[0]?.["message"]],
      ["Unknown", "Leader not yet connected"],
    );
  });

  it("Ready and IsLeader: True without a message", () => {
    const plan = planClusterSetStatus(observed(), connected, T0 + 11_000);

    assert.deepEqual(plan?.clusterStatuses[0]?.conditions, [
      { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" },
      {
        type: "IsLeader",
        status: "True",
        lastTransitionTime: "2026-01-01T00:00:10Z",
        message: "This leader cluster is the leader for local cluster",
      },
    ]);
    assert.deepEqual(plan?.conditions, [{ type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:11Z" }]);
  });

  it("not Ready: False, with the reason and the error of the leader", () => {
    const plan = planClusterSetStatus(observed(), lost, T0);

    assert.deepEqual(plan?.clusterStatuses[0]?.conditions[0], {
      type: "Ready",
      status: "False",
      lastTransitionTime: "2026-01-01T00:00:20Z",
      message: "refused",
      reason: "Disconnected",
    });
    assert.equal(plan?.conditions[0]?.["message"], "Disconnected from leader");
  });

  it("says nothing of other IDs on the wire, where a True condition has no message", () => {
    const mismatch = { cause: "ConfigurationInvalid", message: "other IDs" } as const;
    const odd = decideConnectivity(connected, { kind: "announced", found: true, mismatch }, T0, options);

    assert.equal(planClusterSetStatus(observed(), odd, T0)?.clusterStatuses[0]?.conditions[0]?.message, undefined);
  });

  it("keeps the time of the overall condition while its status stays, and corrects its message", () => {
    const shown = planClusterSetStatus(observed(), created, T0);
    const status = { ...shown, conditions: [{ ...shown?.conditions[0], message: "old words" }] };

    const plan = planClusterSetStatus(observed(status), created, T0 + 3_600_000);

    assert.deepEqual(plan?.conditions, shown?.conditions);
  });

  it("moves the time of the overall condition with its status", () => {
    const shown = planClusterSetStatus(observed(), connected, T0);

    const plan = planClusterSetStatus(observed(shown), lost, T0 + 20_000);

    assert.equal(plan?.conditions[0]?.["lastTransitionTime"], "2026-01-01T00:00:20Z");
  });

  it("leaves one of several conditions of type Ready, and keeps those of other types where they are", () => {
    const other = { type: "Audited", status: "True", extra: "kept", lastTransitionTime: "2020-01-01T00:00:00Z" };
    const old = { type: "Ready", status: "False", lastTransitionTime: "2019-01-01T00:00:00Z" };
    const right = { type: "Ready", status: "True", lastTransitionTime: "2021-01-01T00:00:00Z" };

    const plan = planClusterSetStatus(observed({ conditions: [old, other, right] }), connected, T0);

    assert.deepEqual(plan?.conditions, [right, other]);
  });

  it("is not written when it is shown already, however the server leaves out what is empty", () => {
    for (const connectivity of [undefined, added, created, connected, lost]) {
      const plan = planClusterSetStatus(observed(), connectivity, T0);
      const { readyClusters, ...rest } = plan ?? { readyClusters: 0 };
      const pruned = readyClusters === 0 ? rest : plan;

      assert.equal(planClusterSetStatus(observed(plan), connectivity, T0 + 86_400_000), undefined);
      assert.equal(planClusterSetStatus(observed(pruned), connectivity, T0 + 86_400_000), undefined);
    }
  });

  it("takes null, empty and absent for the same", () => {
    const shown = planClusterSetStatus(observed(), undefined, T0);
    const spelled = { ...shown, readyClusters: null, clusterStatuses: null };
    const conditions = [{ ...shown?.conditions[0], reason: "" }];

    assert.equal(planClusterSetStatus(observed({ ...spelled, conditions }), undefined, T0), undefined);
  });

  it("is written for a new generation, another leader and a number that somebody changed", () => {
    const shown = planClusterSetStatus(observed(), connected, T0);

    assert.notEqual(planClusterSetStatus(observed(shown, { generation: 3 }), connected, T0), undefined);
    assert.notEqual(planClusterSetStatus(observed(shown, { leaderClusterID: "south" }), connected, T0), undefined);
    assert.notEqual(planClusterSetStatus(observed({ ...shown, totalClusters: 9 }), connected, T0), undefined);
  });

  it("replaces what has not the shape of a status", () => {
    for (const odd of ["text", 7, { conditions: "none" }, { clusterStatuses: [5] }]) {
      assert.notEqual(planClusterSetStatus(observed(odd), connected, T0), undefined);
    }
  });

  it("tells whose conditions it shows", () => {
    assert.equal(shownLeader(observed(planClusterSetStatus(observed(), connected, T0))), "north");
    assert.equal(shownLeader(observed()), undefined);
    assert.equal(shownLeader(observed("odd")), undefined);
  });

  it("is stable: what was written once is never written again, from any status that stood there", () => {
    const condition = fc.record({
      type: fc.constantFrom("Ready", "Other"),
      status: fc.constantFrom("True", "False", "Unknown"),
      lastTransitionTime: fc.constantFrom("2020-01-01T00:00:00Z", "", "never"),
      message: fc.string(),
    });
    const any = fc.oneof(fc.anything(), fc.record({ conditions: fc.array(condition), totalClusters: fc.nat() }));
    fc.assert(
      fc.property(
        any,
        fc.constantFrom<(Connectivity | undefined)[]>(undefined, added, created, connected, lost),
        (status, c) => {
          const plan = planClusterSetStatus(observed(status), c, T0);
          if (plan === undefined) return;
          assert.equal(plan.conditions.filter((each) => each["type"] === "Ready").length, 1);
          assert.equal(planClusterSetStatus(observed(structuredClone(plan)), c, T0 + 60_000), undefined);
        },
      ),
    );
  });
});
