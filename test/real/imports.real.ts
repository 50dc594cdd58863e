import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { ApiRecord } from "../../infra/local/api-client/api-client.ts";
import { eventually } from "../../infra/local/control-plane/apply.ts";
import { paths } from "../../infra/local/leader/resources.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { ImportsUnderTest } from "./imports-under-test.ts";

/** Waits until it holds, a bounded time. */
async function holds(what: string, condition: () => Promise<boolean>): Promise<void> {
  await eventually(systemClock, what, async () => ((await condition()) ? true : undefined));
}

const MARK = "multicluster.antrea.io/imported-service";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";

describe("imports into a member, on real API servers", { timeout: 240_000 }, () => {
  let east: ImportsUnderTest;
  before(async () => {
    east = await ImportsUnderTest.start();
  });
  after(() => east.end());

  const slices = async (service: string): Promise<readonly ApiRecord[]> => {
    const selector = encodeURIComponent(`kubernetes.io/service-name=${service}`);
    const path = `/apis/discovery.k8s.io/v1/namespaces/shop/endpointslices?labelSelector=${selector}`;
    return (await east.admin.request("GET", path)).body.items ?? [];
  };
  const addressesIn = (of: readonly ApiRecord[]): readonly string[] =>
    of.flatMap((slice) =>
      ((slice["endpoints"] ?? []) as { addresses: string[] }[]).flatMap(({ addresses }) => addresses),
    );
  const many = (n: number): readonly object[] =>
    Array.from({ length: n }, (_, i) => ({ ip: `10.200.${i >> 8}.${i & 255}` }));
  const endpoints = (name: string, n: number): Record<string, unknown> => ({
    kind: "Endpoints",
    namespace: "shop",
    name,
    endpoints: { subsets: [{ addresses: many(n), ports: [{ name: "http", port: 80, protocol: "TCP" }] }] },
  });
  const service = (name: string, ...ports: readonly number[]): Record<string, unknown> => ({
    kind: "ServiceImport",
    namespace: "shop",
    name,
    serviceImport: { spec: { type: "ClusterSetIP", ports: ports.map((port) => ({ name: `p-${port}`, port })) } },
  });

  it("become a Service with its ServiceImport, changed and removed with one write for each, and none when right", async () => {
    const spec = service("web", 80, 443);
    const writes = [await east.reconcile("shop-web-service", spec), await east.reconcile("shop-web-service", spec)];
    const made = await east.read("/api/v1/namespaces/shop/services/antrea-mc-web");
    const imported = await east.read("/apis/multicluster.x-k8s.io/v1alpha1/namespaces/shop/serviceimports/web");
    const { clusterIP } = made["spec"] as { clusterIP: string };
    writes.push(await east.reconcile("shop-web-service", service("web", 443)));
    east.newWindow();
    writes.push(await east.reconcile("shop-web-service", service("web", 443)));
    writes.push(await east.reconcile("shop-web-service", undefined));

    assert.deepEqual(writes, [2, 0, 2, 0, 2]);
    assert.equal(made.metadata.annotations?.[MARK], "true");
    assert.deepEqual((imported["spec"] as { ips: string[] }).ips, [clusterIP]);
    assert.equal(await east.code("/api/v1/namespaces/shop/services/antrea-mc-web"), 404);
  });

  it("leave a user's Service alone, and are installed when it is gone", async () => {
    const path = "/api/v1/namespaces/shop/services/antrea-mc-taken";
    const body = { metadata: { name: "antrea-mc-taken" }, spec: { ports: [{ port: 9 }] } };
    await east.admin.request("POST", "/api/v1/namespaces/shop/services", body);
    const before = await east.read(path);

    await east.reconcile("shop-taken-service", service("taken", 80));
    const shown = east.state("shop-taken-service");
    const kept = await east.read(path);
    await east.admin.request("DELETE", path);
    await east.reconcile("shop-taken-service", service("taken", 80));

    assert.deepEqual([shown, kept.metadata.resourceVersion], ["Conflicted", before.metadata.resourceVersion]);
    assert.equal(east.state("shop-taken-service"), "Applied");
  });

  it("wait for a Namespace that is missing", async () => {
    await east.reconcile("late-web-service", { ...service("web", 80), namespace: "late" });
    const waits = east.state("late-web-service");
    await east.namespace("late");
    await east.reconcile("late-web-service", { ...service("web", 80), namespace: "late" });

    assert.deepEqual([waits, east.state("late-web-service")], ["WaitingForNamespace", "Applied"]);
  });

  it("are mirrored by the cluster up to a thousand addresses, and written as slices above, never both", async () => {
    await east.reconcile("shop-big-service", service("big", 80));
    await east.settle("shop-big-endpoints", endpoints("big", 1_000));
    await holds("mirrored", async () => addressesIn(await slices("antrea-mc-big")).length === 1_000);
    await east.settle("shop-big-endpoints", endpoints("big", 2_300));
    const own = await slices("antrea-mc-big");
    const rewritten = await east.reconcile("shop-big-endpoints", endpoints("big", 2_300));

    const addresses = addressesIn(own);
    assert.deepEqual([addresses.length, new Set(addresses).size], [2_300, 2_300]);
    assert.ok(own.every(({ metadata }) => metadata.labels?.[MANAGED_BY] === "hawser-imports"));
    assert.equal(rewritten, 0);
    await east.settle("shop-big-endpoints", endpoints("big", 3));
    await holds("mirrored again", async () => {
      const mirrored = await slices("antrea-mc-big");
      return mirrored.length === 1 && addressesIn(mirrored).length === 3;
    });
    await east.reconcile("shop-big-endpoints", undefined);
    await holds("gone", async () => (await slices("antrea-mc-big")).length === 0);
  });

  it("become policies while their Tier is there, and tell the leader once when it is not", async () => {
    const policy = (tier: string) => ({
      kind: "AntreaClusterNetworkPolicy",
      name: "deny",
      clusternetworkpolicy: { priority: 1, tier, appliedTo: [{ namespaceSelector: {} }] },
    });
    await east.reconcile("deny-antreaclusternetworkpolicy", policy("late"));
    await east.reconcile("deny-antreaclusternetworkpolicy", policy("late"));
    const events = await east.leader.request("GET", "/api/v1/namespaces/antrea-multicluster/events");
    const body = {
      apiVersion: "crd.antrea.io/v1beta1",
      kind: "Tier",
      metadata: { name: "late" },
      spec: { priority: 9 },
    };
    await east.admin.request("POST", "/apis/crd.antrea.io/v1beta1/tiers", body);
    await east.reconcile("deny-antreaclusternetworkpolicy", policy("late"));

    const told = (events.body.items ?? []).filter((event) => event["reason"] === "ACNPImportFailed");
    assert.deepEqual(
      told.map((event) => event["message"]),
      ["ACNP Tier late does not exist in importing cluster east"],
    );
    assert.equal(east.state("deny-antreaclusternetworkpolicy"), "Applied");
  });

  it("become ClusterInfoImports and LabelIdentities, with our identity's rights", async () => {
    const info = { kind: "ClusterInfo", clusterinfo: { clusterID: "west", gatewayInfos: [{ gatewayIP: "10.1.1.1" }] } };
    const label = { kind: "LabelIdentity", labelIdentity: { label: "ns:&pod:a=b", id: 7 } };

    const writes = [await east.reconcile("west-clusterinfo", info), await east.reconcile("aaaa", label)];
    east.newWindow();
    writes.push(await east.reconcile("west-clusterinfo", info), await east.reconcile("aaaa", label));

    assert.deepEqual(writes, [1, 1, 0, 0]);
    assert.deepEqual([east.state("west-clusterinfo"), east.state("aaaa")], ["Applied", "Applied"]);
  });

  it("leave nothing behind when the member leaves, and nothing of a user's goes with them", async () => {
    const body = { metadata: { name: "antrea-mc-users" }, spec: { ports: [{ port: 9 }] } };
    await east.admin.request("POST", "/api/v1/namespaces/shop/services", body);
    east.records.clear();

    const cleaned = await east.cleanOut();

    assert.deepEqual([cleaned.unseen, cleaned.released, cleaned.denied], [[], [], []]);
    assert.ok(cleaned.deleted >= 4);
    const services = await east.admin.request("GET", "/api/v1/namespaces/shop/services");
    assert.deepEqual(
      (services.body.items ?? []).map(({ metadata }) => metadata.name),
      ["antrea-mc-users"],
    );
    const policies = await east.admin.request("GET", "/apis/crd.antrea.io/v1beta1/clusternetworkpolicies");
    assert.deepEqual(policies.body.items ?? [], []);
  });

  it("are made of a member's exports by the leader, and gone with the last of them", async () => {
    const name = "west-shop-web-service";
    const exported = {
      apiVersion: "multicluster.crd.antrea.io/v1alpha1",
      kind: "ResourceExport",
      metadata: { name, finalizers: ["resourceexport.antrea.io/finalizer"] },
      spec: {
        clusterID: "west",
        kind: "Service",
        namespace: "shop",
        name: "web",
        service: { serviceSpec: { ports: [{ port: 80 }] } },
      },
    };
    const area = "antrea-multicluster";
    const imported = async () => await east.leader.request("GET", `${paths.imports(area)}/shop-web-service`);
    await east.leader.request("POST", paths.exports(area), exported);
    await holds("merged", async () => (await imported()).code === 200);
    const told = async (): Promise<boolean> => {
      const status = (await east.leader.request("GET", `${paths.exports(area)}/${name}`)).body["status"];
      return (status as { conditions?: { type: string }[] } | undefined)?.conditions?.[0]?.type === "Succeeded";
    };
    await holds("told", told);

    await east.leader.request("DELETE", `${paths.exports(area)}/${name}`);
    await holds("gone", async () => (await imported()).code === 404);
    await holds(
      "let go",
      async () => (await east.leader.request("GET", `${paths.exports(area)}/${name}`)).code === 404,
    );
  });
});
