import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { ApiObject } from "../../../infra/local/cluster/types.ts";
import { ImportWorld, specOf, type WireSpec } from "./import-world.ts";

const INFO = {
  clusterID: "west",
  serviceCIDR: "10.11.0.0/16",
  podCIDRs: ["10.12.0.0/16"],
  gatewayInfos: [{ gatewayIP: "172.18.0.9" }],
};

describe("imports of kind ClusterInfo", { timeout: 60_000 }, () => {
  let world: ImportWorld;
  before(async () => {
    world = await ImportWorld.start();
  });
  after(() => world.end());

  const spec = (clusterinfo: WireSpec | undefined): WireSpec => ({
    kind: "ClusterInfo",
    name: "ignored",
    namespace: "kube-system",
    clusterinfo,
  });
  const read = (name: string): ApiObject | undefined =>
    world.read("multicluster.crd.antrea.io", "clusterinfoimports", name, "kube-system");

  it("makes a ClusterInfoImport of the import's own name in the member's Namespace, without an annotation", async () => {
    await world.reconcile("west-clusterinfo", spec(INFO));

    const made = read("west-clusterinfo");
    assert.deepEqual(made?.["spec"], INFO);
    assert.equal(made?.metadata.annotations, undefined);
    assert.equal(world.records.get("west-clusterinfo")?.state, "Applied");
  });

  it("brings changed gateways to it, and sends nothing while they stay", async () => {
    await world.reconcile("changing", spec(INFO));
    world.requests();

    await world.reconcile("changing", spec({ ...INFO, gatewayInfos: [{ gatewayIP: "172.18.0.10" }] }));
    const changed = world.requests();
    await world.reconcile("changing", spec({ ...INFO, gatewayInfos: [{ gatewayIP: "172.18.0.10" }] }));

    assert.deepEqual(changed, ["update clusterinfoimports/changing"]);
    assert.deepEqual(world.requests(), []);
    assert.deepEqual(specOf(read("changing"))["gatewayInfos"], [{ gatewayIP: "172.18.0.10" }]);
  });

  it("takes an empty list for none, as Antrea's agents read it", async () => {
    const { podCIDRs: _, ...less } = INFO;
    await world.reconcile("empty", spec(less));
    world.requests();

    await world.reconcile("empty", spec({ ...less, podCIDRs: [] }));

    assert.deepEqual(world.requests(), []);
    assert.equal(world.records.get("empty")?.state, "Applied");
  });

  it("leaves out what this very cluster has exported", async () => {
    const outcome = await world.reconcile("east-clusterinfo", spec({ ...INFO, clusterID: "east" }));

    assert.equal(outcome.kind, "settled");
    assert.equal(world.records.get("east-clusterinfo")?.state, "Excluded");
    assert.equal(read("east-clusterinfo"), undefined);
  });

  it("says that a payload is missing, and keeps what an earlier version installed", async () => {
    await world.reconcile("emptied", spec(INFO));

    await world.reconcile("emptied", spec(undefined));

    assert.equal(world.records.get("emptied")?.state, "Invalid");
    assert.notEqual(read("emptied"), undefined);
  });

  it("deletes it with its import, by the record of a window that has long ended", async () => {
    await world.reconcile("leaving", spec(INFO));
    world.newWindow();

    const removed = await world.reconcile("leaving", undefined);

    assert.equal(removed.kind, "removed");
    assert.equal(read("leaving"), undefined);
  });

  it("replaces what stands there under the import's name, for nobody else makes objects of this kind", async () => {
    await world.put({
      apiVersion: "multicluster.crd.antrea.io/v1alpha1",
      kind: "ClusterInfoImport",
      metadata: { name: "stale", namespace: "kube-system" },
      spec: { clusterID: "old" },
    });

    await world.reconcile("stale", spec(INFO));

    assert.deepEqual(read("stale")?.["spec"], INFO);
  });
});
