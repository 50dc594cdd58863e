import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import { listMember } from "../../../lib/antrea/imports/member-list.ts";
import { reconcileImport } from "../../../lib/antrea/imports/reconcile-import.ts";
import type { ResourceImport } from "../../../lib/antrea/imports/resource-import.ts";
import { findStrays } from "../../../lib/antrea/imports/strays.ts";
import { ImportWorld, importOf, serviceSpec } from "./import-world.ts";

const MARK = "multicluster.antrea.io/imported-service";

describe("what no import asks for any more", { timeout: 60_000 }, () => {
  let world: ImportWorld;
  before(async () => {
    world = await ImportWorld.start();
  });
  beforeEach(() => {
    world.records.clear();
    world.newWindow();
  });
  afterEach(() => world.member.faults.clear());
  after(() => world.end());

  const put = async (kind: string, name: string, annotations: Record<string, string> = {}): Promise<void> => {
    const [apiVersion, metadata, spec] = {
      Service: ["v1", { namespace: "shop" }, { ports: [{ port: 80 }] }],
      ServiceImport: ["multicluster.x-k8s.io/v1alpha1", { namespace: "shop" }, { type: "ClusterSetIP", ports: [] }],
      ClusterInfoImport: ["multicluster.crd.antrea.io/v1alpha1", { namespace: "kube-system" }, {}],
      LabelIdentity: ["multicluster.crd.antrea.io/v1alpha1", {}, { id: 1, label: "ns:&pod:" }],
    }[kind] ?? ["", {}, {}];
    await world.put({ apiVersion, kind, metadata: { ...(metadata as object), name, annotations }, spec });
  };
  const names = (group: string, resource: string): readonly string[] =>
    world.member.engine
      .readAll(group, resource)
      .map(({ metadata }) => metadata.name ?? "")
      .filter((name) => name !== "kubernetes")
      .toSorted();

  /** Lists the member, then takes the imports for the leader's, and removes what is left over. */
  async function clean(imports: readonly ResourceImport[]): Promise<readonly string[]> {
    const listed = await listMember(world.context);
    assert.ok(listed.ok);
    const strays = findStrays(world.objects, imports, world.records.values(), world.settings);
    for (const { name, ...stray } of strays) {
      const record = { ...stray, name, since: 0, attempts: 0, assignment: 1, fence: 1 };
      const outcome = await reconcileImport({ name, wanted: undefined, record }, world.context);
      assert.equal(outcome.kind, "removed");
    }
    return strays.map(({ name }) => name);
  }

  it("goes if an importer made it, with the unmarked ServiceImport beside an annotated Service, and nothing else", async () => {
    await put("Service", "antrea-mc-old", { [MARK]: "true" });
    await put("ServiceImport", "old");
    await put("Service", "antrea-mc-kept", { [MARK]: "true" });
    await put("ServiceImport", "kept");
    await put("Service", "antrea-mc-mine");
    await put("Service", "plain");
    await put("ServiceImport", "mine");
    await put("ServiceImport", "ours", { [MARK]: "true" });
    await put("ClusterInfoImport", "west-clusterinfo");
    await put("ClusterInfoImport", "gone-clusterinfo");
    await put("LabelIdentity", "aaaa");
    await put("LabelIdentity", "bbbb");

    const removed = await clean([
      importOf("shop-kept-service", serviceSpec("kept")),
      importOf("west-clusterinfo", { kind: "ClusterInfo", clusterinfo: { clusterID: "west" } }),
      importOf("aaaa", { kind: "LabelIdentity" }),
    ]);

    assert.deepEqual(removed.toSorted(), [
      "stray/ClusterInfo/kube-system/gone-clusterinfo",
      "stray/LabelIdentity//bbbb",
      "stray/ServiceImport/shop/old",
      "stray/ServiceImport/shop/ours",
    ]);
    assert.deepEqual(names("", "services"), ["antrea-mc-kept", "antrea-mc-mine", "plain"]);
    assert.deepEqual(names("multicluster.x-k8s.io", "serviceimports"), ["kept", "mine"]);
    assert.deepEqual(names("multicluster.crd.antrea.io", "clusterinfoimports"), ["west-clusterinfo"]);
    assert.deepEqual(names("multicluster.crd.antrea.io", "labelidentities"), ["aaaa"]);
  });

  it("is not what was imported while the cleaning ran", async () => {
    const imports = Array.from({ length: 50 }, (_, i) => importOf(`shop-new-${i}-service`, serviceSpec(`new-${i}`)));
    assert.ok((await listMember(world.context)).ok);
    for (const wanted of imports) {
      await reconcileImport({ name: wanted.name, wanted, record: undefined }, world.context);
    }

    const strays = findStrays(world.objects, imports, [], world.settings);

    assert.deepEqual(
      strays.filter(({ name }) => name.includes("new-")),
      [],
    );
  });

  it("is not looked for among kinds that our identity may not list, nor among those that the member does not serve", async () => {
    await put("LabelIdentity", "cccc");
    world.member.faults.add({
      match: { verbs: ["list"], resource: "labelidentities" },
      action: { kind: "status", code: 403, reason: "Forbidden", message: "no" },
    });
    world.member.faults.add({
      match: { verbs: ["list"], resource: "clusternetworkpolicies" },
      action: { kind: "status", code: 404, reason: "NotFound", message: "no" },
    });

    const listed = await listMember(world.context);
    const removed = await clean([]);

    assert.deepEqual(listed, { ok: true, value: ["labelidentities"] });
    assert.ok(!removed.some((name) => name.includes("cccc")));
    assert.ok(names("multicluster.crd.antrea.io", "labelidentities").includes("cccc"));
  });

  it("is never guessed from a list that failed", async () => {
    world.member.faults.add({ match: { verbs: ["list"], resource: "serviceimports" }, action: { kind: "reset" } });

    const listed = await listMember(world.context);

    assert.ok(!listed.ok);
  });

  it("costs one list for each type, and then no import that is right costs a request", async () => {
    const imports = Array.from({ length: 20 }, (_, i) => importOf(`shop-many-${i}-service`, serviceSpec(`many-${i}`)));
    for (const { name, spec } of imports) await world.reconcile(name, spec);
    world.newWindow();
    world.requests();

    assert.ok((await listMember(world.context)).ok);
    for (const { name, spec } of imports) await world.reconcile(name, spec);

    const requests = world.requests();
    assert.ok(requests.every((request) => request.startsWith("list ")));
    assert.equal(new Set(requests).size, requests.length);
  });
});
