import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { ApiObject } from "../../../infra/local/cluster/types.ts";
import { reconcileImport } from "../../../lib/antrea/imports/reconcile-import.ts";
import { ImportWorld, importOf, type WireSpec } from "./import-world.ts";

const LABEL = "ns:team=shop&pod:app=web";

describe("imports of kind LabelIdentity", { timeout: 60_000 }, () => {
  let world: ImportWorld;
  before(async () => {
    world = await ImportWorld.start();
  });
  beforeEach(() => {
    world.settings.labelIdentities = true;
    world.requests();
  });
  after(() => world.end());

  const spec = (id: number, label = LABEL): WireSpec => ({ kind: "LabelIdentity", labelIdentity: { label, id } });
  const read = (name: string): ApiObject | undefined =>
    world.read("multicluster.crd.antrea.io", "labelidentities", name);

  it("makes a LabelIdentity of the import's own name", async () => {
    await world.reconcile("aaaa", spec(7));

    assert.deepEqual(read("aaaa")?.["spec"], { label: LABEL, id: 7 });
    assert.equal(world.records.get("aaaa")?.state, "Applied");
  });

  it("corrects the number and the label alike", async () => {
    await world.reconcile("bbbb", spec(7));
    await world.reconcile("bbbb", spec(8));
    const renumbered = read("bbbb")?.["spec"];
    await world.put({ ...read("bbbb"), spec: { label: "ns:&pod:", id: 8 } });
    world.newWindow();

    await world.reconcile("bbbb", spec(8));

    assert.deepEqual(renumbered, { label: LABEL, id: 8 });
    assert.deepEqual(read("bbbb")?.["spec"], { label: LABEL, id: 8 });
  });

  it("deletes it by the name of an import that is gone, without any record", async () => {
    await world.reconcile("cccc", spec(7));
    world.records.clear();
    world.newWindow();

    const lastSeen = importOf("cccc", spec(7));
    const outcome = await reconcileImport(
      { name: "cccc", wanted: undefined, record: undefined, lastSeen },
      world.context,
    );

    assert.equal(outcome.kind, "removed");
    assert.equal(read("cccc"), undefined);
  });

  it("is ignored without a request where the membership does not ask for it, and what is there stays", async () => {
    await world.reconcile("dddd", spec(7));
    world.requests();
    world.settings.labelIdentities = false;

    const known = await world.reconcile("dddd", spec(8));
    const unknown = await world.reconcile("eeee", spec(9));

    assert.deepEqual([known.kind, unknown.kind], ["settled", "ignored"]);
    assert.equal(world.records.get("dddd")?.state, "Excluded");
    assert.deepEqual(read("dddd")?.["spec"], { label: LABEL, id: 7 });
    assert.deepEqual(world.requests(), []);
    await world.reconcile("dddd", undefined);
    assert.equal(read("dddd"), undefined);
  });

  it("says what is missing in the payload", async () => {
    for (const labelIdentity of [undefined, {}, { label: LABEL }, { id: 7 }, { label: 7, id: "x" }]) {
      await world.reconcile("ffff", { kind: "LabelIdentity", labelIdentity });
      assert.equal(world.records.get("ffff")?.state, "Invalid");
    }
  });
});
