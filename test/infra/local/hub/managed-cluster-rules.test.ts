import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ApiRecord } from "../../../../infra/local/api-client/api-client.ts";
import { decideCluster, mutateCluster } from "../../../../infra/local/hub/managed-cluster-rules.ts";
import { CLUSTER_SET_LABEL } from "../../../../infra/local/hub/resources.ts";

const NOW = new Date("2026-12-01T10:00:00Z");

function cluster(spec: object = {}, set = "default", name = "east"): ApiRecord {
  return { metadata: { name, labels: { [CLUSTER_SET_LABEL]: set } }, spec };
}

/** The rights that a write needs, as `verb resource/subresource name`. */
function needed(object: ApiRecord, oldObject?: ApiRecord): unknown {
  const verdict = decideCluster({ object, oldObject });
  if (verdict.kind === "refused") return verdict;
  return verdict.rights.map((right) => `${right.verb} ${right.resource}/${right.subresource} ${right.name ?? ""}`);
}

describe("a hub's rules for ManagedClusters", () => {
  it("asks for the right to accept from whoever accepts, not from whoever takes it back", () => {
    const [accepted, open] = [cluster({ hubAcceptsClient: true }), cluster({ hubAcceptsClient: false })];

    assert.deepEqual(needed(accepted, open), ["update managedclusters/accept east"]);
    assert.deepEqual(needed(accepted, accepted), []);
    assert.deepEqual(needed(open, accepted), []);
  });

  it("asks for the right to join the set that a cluster comes from and the one that it goes to", () => {
    assert.deepEqual(needed(cluster()), ["create managedclustersets/join default"]);
    assert.deepEqual(needed(cluster({}, "prod"), cluster()), [
      "create managedclustersets/join default",
      "create managedclustersets/join prod",
    ]);
    assert.deepEqual(needed(cluster(), cluster()), []);
  });

  it("refuses names that no Namespace can have, and URLs without TLS", () => {
    for (const name of ["east.example", "e".repeat(64), "-east"]) {
      assert.equal(decideCluster({ object: cluster({}, "default", name), oldObject: undefined }).kind, "refused", name);
    }
    assert.deepEqual(needed(cluster({ managedClusterClientConfigs: [{ url: "http://east" }] })), {
      kind: "refused",
      code: 400,
      message: 'url "http://east" is invalid in client configs',
    });
  });

  it("puts a cluster without a set into the default one", () => {
    const path = "/metadata/labels/cluster.open-cluster-management.io~1clusterset";
    const set = { op: "add", path, value: "default" };

    assert.deepEqual(mutateCluster({ object: { metadata: { name: "east" } }, oldObject: undefined }, NOW), {
      kind: "patched",
      patch: [{ op: "add", path: "/metadata/labels", value: {} }, set],
    });
    assert.deepEqual(mutateCluster({ object: cluster({}, ""), oldObject: cluster() }, NOW), {
      kind: "patched",
      patch: [set],
    });
  });

  it("stamps new and changed taints itself, keeps the stamps of others, and takes none from a writer", () => {
    const taint = { key: "maintenance", effect: "NoSelect" };
    const stamped = cluster({ taints: [{ ...taint, timeAdded: "2026-11-01T00:00:00Z" }] });
    const stamp = (value: string): object => ({ op: "add", path: "/spec/taints/0/timeAdded", value });
    const mutate = (object: ApiRecord, oldObject: ApiRecord): unknown => mutateCluster({ object, oldObject }, NOW);

    assert.deepEqual(mutate(cluster({ taints: [taint] }), cluster()), {
      kind: "patched",
      patch: [stamp("2026-12-01T10:00:00Z")],
    });
    assert.deepEqual(mutate(cluster({ taints: [taint] }), stamped), {
      kind: "patched",
      patch: [stamp("2026-11-01T00:00:00Z")],
    });
    assert.deepEqual(mutate(stamped, stamped), { kind: "patched", patch: [] });
    assert.deepEqual(mutate(stamped, cluster()), {
      kind: "refused",
      code: 400,
      message: 'It is not allowed to set TimeAdded of Taint "maintenance".',
    });
  });
});
