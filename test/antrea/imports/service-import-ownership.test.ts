import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { ApiObject } from "../../../infra/local/cluster/types.ts";
import { ImportWorld, serviceSpec } from "./import-world.ts";

const MARK = "multicluster.antrea.io/imported-service";

describe("what a user has under the names of a ServiceImport", { timeout: 60_000 }, () => {
  let world: ImportWorld;
  let name: string;
  let count = 0;
  before(async () => {
    world = await ImportWorld.start();
  });
  beforeEach(() => {
    count += 1;
    name = `web-${count}`;
    world.mayWrite = () => true;
    world.requests();
  });
  after(() => world.end());

  const importName = (): string => `shop-${name}-service`;
  const service = (): ApiObject | undefined => world.read("", "services", `antrea-mc-${name}`, "shop");
  const imported = (): ApiObject | undefined => world.read("multicluster.x-k8s.io", "serviceimports", name, "shop");
  const state = (): string | undefined => world.records.get(importName())?.state;
  const userService = async (annotations: Record<string, string> = {}): Promise<void> =>
    await world.put({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: `antrea-mc-${name}`, namespace: "shop", annotations },
      spec: { ports: [{ port: 8080 }] },
    });
  const userImport = async (annotations: Record<string, string> = {}): Promise<void> =>
    await world.put({
      apiVersion: "multicluster.x-k8s.io/v1alpha1",
      kind: "ServiceImport",
      metadata: { name, namespace: "shop", annotations },
      spec: { type: "ClusterSetIP", ports: [{ port: 8080 }] },
    });

  it("leaves a user's Service of that name alone, says whose it is, and installs the import when it is gone", async () => {
    await userService();
    const before = service();

    const outcome = await world.reconcile(importName(), serviceSpec(name));

    assert.equal(outcome.kind === "settled" && outcome.afterMs, 55_000);
    assert.equal(state(), "Conflicted");
    assert.match(world.records.get(importName())?.error ?? "", new RegExp(`Service shop/antrea-mc-${name} `));
    assert.deepEqual(service(), before);
    assert.equal(imported(), undefined);
    await world.client.delete(
      { type: { group: "", version: "v1", resource: "services" }, namespace: "shop", name: `antrea-mc-${name}` },
      {},
      { timeoutMs: 1_000 },
    );
    world.newWindow();
    await world.reconcile(importName(), serviceSpec(name));
    assert.equal(state(), "Applied");
  });

  it("leaves a user's ServiceImport of that name alone", async () => {
    await userImport();
    const before = imported();

    await world.reconcile(importName(), serviceSpec(name));
    const shown = state();
    await world.reconcile(importName(), undefined);

    assert.equal(shown, "Conflicted");
    assert.deepEqual([service(), imported()], [undefined, before]);
  });

  it("adopts an unmarked ServiceImport beside an annotated Service, and removes it with its import", async () => {
    await userService({ [MARK]: "true" });
    await userImport();

    await world.reconcile(importName(), serviceSpec(name));

    assert.equal(state(), "Applied");
    await world.reconcile(importName(), undefined);
    assert.deepEqual([service(), imported()], [undefined, undefined]);
  });

  it("waits with a new Service until the finalizers of the old one are done", async () => {
    await world.reconcile(importName(), serviceSpec(name));
    const kept = service();
    await world.put({ ...kept, metadata: { ...kept?.metadata, finalizers: ["example.com/hold"] } });
    world.newWindow();

    const removed = await world.reconcile(importName(), undefined);
    await world.reconcile(importName(), serviceSpec(name));
    const waits = state();

    assert.deepEqual([removed.kind, waits], ["removed", "Pending"]);
  });

  it("does not delete a Service whose annotation its user took off, and names it", async () => {
    await world.reconcile(importName(), serviceSpec(name));
    const { annotations: _, ...metadata } = service()?.metadata ?? { name: "" };
    await world.put({ ...service(), metadata });

    // Not read again: the delete itself is bound to the version that was seen.
    const removed = await world.reconcile(importName(), undefined);

    assert.deepEqual(removed.kind === "removed" && removed.done.released, [`Service shop/antrea-mc-${name}`]);
    assert.notEqual(service(), undefined);
    assert.equal(imported(), undefined);
  });

  it("leaves a ServiceImport alone that a user made while our own was still to be made", async () => {
    world.intend(importName(), serviceSpec(name));
    let left = 1;
    world.mayWrite = () => left-- > 0;
    await world.reconcile(importName(), serviceSpec(name));
    world.mayWrite = () => true;
    await userImport();
    const before = imported();
    world.newWindow();

    await world.reconcile(importName(), serviceSpec(name));
    const shown = state();
    await world.reconcile(importName(), undefined);

    assert.equal(shown, "Conflicted");
    assert.deepEqual([service(), imported()], [undefined, before]);
  });

  it("removes what it was making when it was cut off, also when the import has become another kind or others' since", async () => {
    for (const then of [serviceSpec(name, [80], { kind: "" }), serviceSpec(name, [80], { clusterID: ["west"] })]) {
      await world.reconcile(importName(), serviceSpec(name, [80], { clusterID: ["west"] }));
      let left = 1;
      world.mayWrite = () => left-- > 0;
      await world.settle(importName(), serviceSpec(name));
      world.mayWrite = () => true;
      const cutOff = service();
      world.newWindow();

      await world.settle(importName(), then);
      await world.settle(importName(), undefined);

      assert.notEqual(cutOff, undefined);
      assert.equal(service(), undefined);
    }
  });
});
