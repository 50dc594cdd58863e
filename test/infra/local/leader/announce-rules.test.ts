import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ApiRecord } from "../../../../infra/local/api-client/api-client.ts";
import {
  type AnnounceRequest,
  decideAnnounce,
  type LeaderView,
} from "../../../../infra/local/leader/announce-rules.ts";

const LEADER = "antrea-multicluster";
const EAST = `system:serviceaccount:${LEADER}:member-east`;

function account(name: string, clusterId?: string): ApiRecord {
  const annotations = clusterId === undefined ? {} : { "multicluster.antrea.io/cluster-id": clusterId };
  return { metadata: { name, namespace: LEADER, annotations } };
}

function announce(change: Record<string, unknown> = {}, name = "member-announce-from-east"): ApiRecord {
  return {
    metadata: { name, namespace: LEADER },
    clusterID: "east",
    clusterSetID: "test-clusterset",
    leaderClusterID: "north",
    ...change,
  };
}

const view: LeaderView = {
  namespace: LEADER,
  serviceAccounts: [account("member-east", "east"), account("default"), account("antrea-mc-controller")],
  clusterSets: [
    { metadata: { name: "test-clusterset" }, spec: { clusterID: "north", leaders: [{ clusterID: "north" }] } },
  ],
};

function create(object: ApiRecord, username = EAST, of: LeaderView = view): ReturnType<typeof decideAnnounce> {
  return decideAnnounce({ operation: "CREATE", username, object, oldObject: undefined }, of);
}

function assertRefused(verdict: ReturnType<typeof decideAnnounce>, code: number, words: RegExp): void {
  assert.equal(verdict.allowed, false);
  if (verdict.allowed) return;
  assert.equal(verdict.code, code);
  assert.match(verdict.message, words);
}

describe("the leader's rules for announces", () => {
  it("admits a member that announces itself", () => {
    assert.deepEqual(create(announce()), { allowed: true });
  });

  it("refuses a caller that is no ServiceAccount, but lets it delete", () => {
    assertRefused(create(announce(), "kubernetes-admin"), 400, /Username must be in the form/);
    const removal: AnnounceRequest = {
      operation: "DELETE",
      username: "kubernetes-admin",
      object: undefined,
      oldObject: announce(),
    };
    assert.equal(decideAnnounce(removal, view).allowed, true);
  });

  it("refuses a ServiceAccount of another Namespace, but lets it delete", () => {
    const foreign = "system:serviceaccount:default:member-east";
    assertRefused(create(announce(), foreign), 403, /is not in Namespace "antrea-multicluster"/);
    const removal: AnnounceRequest = {
      operation: "DELETE",
      username: foreign,
      object: undefined,
      oldObject: announce(),
    };
    assert.equal(decideAnnounce(removal, view).allowed, true);
  });

  it("answers 412 for a ServiceAccount that does not exist", () => {
    assertRefused(create(announce(), `system:serviceaccount:${LEADER}:gone`), 412, /ServiceAccount "gone"/);
  });

  it("refuses a ServiceAccount whose annotation is missing or names another cluster", () => {
    const words = /expected multicluster.antrea.io\/cluster-id annotation to match/;
    assertRefused(create(announce(), `system:serviceaccount:${LEADER}:default`), 403, words);
    assertRefused(create(announce({ clusterID: "west" }, "member-announce-from-west")), 403, words);
  });

  it("answers 412 while the leader has no ClusterSet", () => {
    assertRefused(create(announce(), EAST, { ...view, clusterSets: [] }), 412, /no ClusterSet found in Namespace/);
  });

  it("refuses another ClusterSet, another leader and another name", () => {
    assertRefused(create(announce({ clusterSetID: "other" })), 403, /Unknown ClusterSet ID/);
    assertRefused(create(announce({ leaderClusterID: "south" })), 403, /does not match that in the ClusterSet/);
    assertRefused(create(announce({}, "member-announce-from-west")), 403, /name must be "member-announce-from-east"/);
  });

  it("refuses an ID that forms a dash prefix pair with another's, shorter or longer", () => {
    for (const other of ["east-1", "ea"]) {
      const shorter = other === "ea" ? announce({ clusterID: "ea-st" }, "member-announce-from-ea-st") : announce();
      const accounts = [account("member-east", String(shorter["clusterID"])), account("other", other)];
      assertRefused(
        create(shorter, EAST, { ...view, serviceAccounts: accounts }),
        403,
        /conflicts with an existing member's/,
      );
    }
  });

  it("refuses an update that changes an ID, and admits one that touches the annotation", () => {
    const update = (change: Record<string, unknown>): ReturnType<typeof decideAnnounce> =>
      decideAnnounce({ operation: "UPDATE", username: EAST, object: announce(change), oldObject: announce() }, view);

    assert.equal(update({}).allowed, true);
    assertRefused(update({ clusterSetID: "x" }), 403, /cannot be changed/);
    assertRefused(update({ leaderClusterID: "x" }), 403, /cannot be changed/);
  });

  it("lets the leader's own controller update and delete any announce, but not create one", () => {
    const controller = `system:serviceaccount:${LEADER}:antrea-mc-controller`;
    const update: AnnounceRequest = {
      operation: "UPDATE",
      username: controller,
      object: announce(),
      oldObject: announce(),
    };
    assert.equal(decideAnnounce(update, view).allowed, true);
    assertRefused(create(announce(), controller), 403, /is not permitted for ServiceAccount/);
  });
});
