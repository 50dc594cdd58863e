import assert from "node:assert/strict";
import { test } from "node:test";
import { importRights, leaderRights, type UsedRight } from "../../lib/antrea/rights.ts";
import { rightsIn } from "../support/held-rights.ts";

const KUBERNETES = new URL("../../infra/kubernetes/", import.meta.url);

const words = (rights: readonly UsedRight[]): readonly string[] =>
  rights.map(({ verb, type }) => `${verb} ${type.group}/${type.resource}`).toSorted();

test("what importing uses in a member is what its role gives, and the role in the ClusterSet's Namespace", () => {
  const manifest = new URL("member/hawser.yaml", KUBERNETES);
  const given = rightsIn(manifest, "hawser-antrea-imports");
  const inNamespace = rightsIn(manifest, "hawser-antrea-member").filter((right) =>
    right.includes("clusterinfoimports"),
  );

  const used = importRights({ namespace: "kube-system", imports: { labelIdentities: true } });

  assert.deepEqual(words(used), [...given, ...inNamespace].toSorted());
});

test("nothing is asked about LabelIdentities where the membership does not want them", () => {
  assert.ok(!words(importRights({ namespace: "kube-system" })).some((right) => right.includes("labelidentities")));
});

test("what is used in a leader is what its role for members gives", () => {
  const given = rightsIn(new URL("leader/member-role.yaml", KUBERNETES), "antrea-mc-member-cluster-role");

  assert.deepEqual(words(leaderRights({ commonArea: "antrea-multicluster" })), given);
});
