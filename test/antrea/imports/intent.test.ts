import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { decideIntent } from "../../../lib/antrea/imports/intent.ts";
import type { ImportSettings } from "../../../lib/antrea/imports/reconciler.ts";
import { ImportWorld, importOf, serviceSpec, type WireSpec } from "./import-world.ts";

const SETTINGS: ImportSettings = {
  clusterID: "east",
  namespace: "kube-system",
  commonArea: "antrea-multicluster",
  labelIdentities: false,
};

const intent = (spec: WireSpec, settings: Partial<ImportSettings> = {}): readonly [string, string | undefined] => {
  const decided = decideIntent({ wanted: importOf("i", spec) }, { ...SETTINGS, ...settings });
  return [decided.kind, decided.kind === "install" ? undefined : decided.because];
};

describe("which imports are for this member", () => {
  it("all whose spec.clusterID is absent or empty, and those that name it", () => {
    for (const clusterID of [undefined, [], ["east"], ["west", "east"]]) {
      assert.deepEqual(intent(serviceSpec("web", [80], { clusterID })), ["install", undefined]);
    }
  });

  it("none whose spec.clusterID names others only", () => {
    assert.deepEqual(intent(serviceSpec("web", [80], { clusterID: ["west"] })), [
      "remove",
      "spec.clusterID of the import names other clusters, not east",
    ]);
  });

  it("none of a kind that nobody knows, and those that Antrea does not use are named so", () => {
    assert.deepEqual(intent({ kind: "Foo", name: "x" }), ["leave", "kind Foo is not known"]);
    assert.deepEqual(intent({ kind: "Raw", name: "x" }), ["leave", "imports of kind Raw are not used by Antrea"]);
    assert.deepEqual(intent({ name: "x" }), ["leave", "the import has no spec.kind"]);
  });

  it("none that would write into a Namespace of Kubernetes, unless the membership names it", () => {
    for (const namespace of ["kube-system", "kube-public", "kube-node-lease"]) {
      const spec = serviceSpec("web", [80], { namespace });
      assert.match(intent(spec)[1] ?? "", new RegExp(`^Namespace ${namespace} belongs to Kubernetes`));
      assert.equal(intent(spec, { namespaces: [namespace] })[0], "install");
    }
    const info = { kind: "ClusterInfo", namespace: "kube-system", name: "x", clusterinfo: { clusterID: "west" } };
    assert.equal(intent(info)[0], "install");
  });

  it("only those for the Namespaces that the membership names, if it names some", () => {
    assert.equal(intent(serviceSpec("web"), { namespaces: ["shop"] })[0], "install");
    assert.deepEqual(intent(serviceSpec("web"), { namespaces: ["other"] }), [
      "remove",
      "Namespace shop is not among antrea.imports.namespaces of the membership",
    ]);
  });
});

describe("imports that are not, or no more, for this member", { timeout: 60_000 }, () => {
  let world: ImportWorld;
  before(async () => {
    world = await ImportWorld.start();
  });
  after(() => world.end());

  const service = (name: string): unknown => world.read("", "services", `antrea-mc-${name}`, "shop");

  it("are not installed, removed when the list drops us, and installed when it is emptied", async () => {
    const states: unknown[] = [];
    for (const clusterID of [["west"], ["west", "east"], ["west"], []]) {
      await world.settle("shop-a-service", serviceSpec("a", [80], { clusterID }));
      states.push([world.records.get("shop-a-service")?.state, service("a") !== undefined]);
    }

    assert.deepEqual(states, [
      ["Excluded", false],
      ["Applied", true],
      ["Excluded", false],
      ["Applied", true],
    ]);
  });

  it("cost no request once that is known", async () => {
    const spec = serviceSpec("b", [80], { clusterID: ["west"] });
    await world.reconcile("shop-b-service", spec);
    world.newWindow();
    world.requests();

    await world.reconcile("shop-b-service", spec);

    assert.deepEqual(world.requests(), []);
  });

  it("are shown with their kind when nobody knows it, without a request and without an error", async () => {
    world.requests();

    const outcome = await world.reconcile("odd", { kind: "Foo", namespace: "shop", name: "x" });
    const removed = await world.reconcile("odd", undefined);

    assert.deepEqual([outcome.kind, removed.kind, world.requests()], ["settled", "removed", []]);
  });

  it("keep what they installed when their kind becomes one that nobody knows, until they are gone", async () => {
    await world.reconcile("shop-c-service", serviceSpec("c"));

    await world.reconcile("shop-c-service", serviceSpec("c", [80], { kind: "Foo" }));
    const { state, kind } = world.records.get("shop-c-service") ?? {};
    const stays = service("c") !== undefined;
    await world.reconcile("shop-c-service", undefined);

    assert.deepEqual([state, kind, stays, service("c")], ["Unsupported", "ServiceImport", true, undefined]);
  });

  it("give way to the one that comes first by its name where two ask for the same", async () => {
    await world.reconcile("b-import", serviceSpec("d", [80]));
    await world.reconcile("a-import", serviceSpec("d", [81]));

    await world.reconcile("b-import", serviceSpec("d", [80]));
    const conflicted = world.records.get("b-import");
    await world.reconcile("b-import", undefined);

    assert.equal(conflicted?.state, "Conflicted");
    assert.match(conflicted?.error ?? "", /^the import a-import asks for the same/);
    assert.notEqual(service("d"), undefined);
    await world.reconcile("a-import", undefined);
    assert.equal(service("d"), undefined);
  });
});
