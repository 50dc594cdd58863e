import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { SimulatedCluster } from "../../infra/local/cluster/simulated-cluster.ts";
import { cleanMember } from "../../lib/antrea/leave-member.ts";
import type { ImportRecord } from "../../lib/state/imports.ts";
import { type LeaveWorld, startLeaveWorld } from "./leave-world.ts";
import { membershipOf, NAMESPACE, never, type WireStatus } from "./role-harness.ts";

const MARK = "multicluster.antrea.io/imported-service";
/** What a cleaning says that found nothing. */
const NOTHING = { deleted: 0, unseen: [], released: [], denied: [] };
const POLICY_MARK = "multicluster.antrea.io/imported-acnp";

describe("cleaning a member that leaves, over HTTPS", { timeout: 60_000 }, () => {
  let world: LeaveWorld;
  let east: SimulatedCluster;
  before(async () => {
    world = await startLeaveWorld("east");
    const found = world.memberClusters.get("east");
    assert.ok(found !== undefined);
    east = found;
    await east.applyManifests("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n");
  });
  after(() => world.end());

  const clean = async () => await cleanMember(world.deps, membershipOf("east"), never);

  async function make(kind: string, name: string, annotations: Record<string, string> = {}): Promise<void> {
    const apiVersion =
      kind === "ServiceImport"
        ? "multicluster.x-k8s.io/v1alpha1"
        : kind === "ClusterNetworkPolicy"
          ? "crd.antrea.io/v1beta1"
          : "v1";
    const place = kind === "ClusterNetworkPolicy" ? {} : { namespace: "shop" };
    const spec = kind === "Service" ? { spec: { ports: [{ port: 80 }] } } : {};
    await east.engine.apply({ apiVersion, kind, metadata: { name, ...place, annotations }, ...spec });
  }

  function names(group: string, resource: string): readonly (string | undefined)[] {
    return east.engine
      .readAll(group, resource)
      .map(({ metadata }) => metadata.name)
      .filter((name) => name?.startsWith("antrea-mc-") === true || ["web", "mine"].includes(name ?? ""))
      .toSorted();
  }

  it("deletes what carries the importer's marker, whatever its value, and nothing of a user's or neighbour's", async () => {
    await make("Service", "antrea-mc-web", { [MARK]: "true" });
    await make("Service", "antrea-mc-odd", { [MARK]: "" });
    await make("Service", "antrea-mc-mine");
    await make("Endpoints", "antrea-mc-web", { [MARK]: "true" });
    await make("Endpoints", "antrea-mc-mine", { other: "true" });
    await make("ServiceImport", "web");
    await make("ServiceImport", "mine");
    await make("ServiceImport", "antrea-mc-ours", { [MARK]: "true" });
    await make("ClusterNetworkPolicy", "antrea-mc-policy", { [POLICY_MARK]: "true" });
    await make("ClusterNetworkPolicy", "antrea-mc-mine", { [MARK]: "true" });

    const cleaned = await clean();

    assert.deepEqual(cleaned, { ok: true, value: { ...NOTHING, deleted: 6 } });
    assert.deepEqual(names("", "services"), ["antrea-mc-mine"]);
    assert.deepEqual(names("", "endpoints"), ["antrea-mc-mine"]);
    assert.deepEqual(names("multicluster.x-k8s.io", "serviceimports"), ["mine"]);
    assert.deepEqual(names("crd.antrea.io", "clusternetworkpolicies"), ["antrea-mc-mine"]);
    assert.deepEqual(await clean(), { ok: true, value: NOTHING });
  });

  it("does not delete what a user took over between our look and our delete", async () => {
    await make("Service", "antrea-mc-taken", { [MARK]: "true" });
    await make("Service", "antrea-mc-left", { [MARK]: "true" });
    const { connector } = world.deps;
    const deps = {
      ...world.deps,
      connector: {
        ...connector,
        connectMember: async (...args: Parameters<typeof connector.connectMember>) => {
          const connected = await connector.connectMember(...args);
          if (!connected.ok) return connected;
          const client = connected.value;
          const list: typeof client.list = async (type, ...rest) => {
            const listed = await client.list(type, ...rest);
            if (type.resource === "services") await make("Service", "antrea-mc-taken");
            return listed;
          };
          return {
            ok: true as const,
            value: {
              cluster: client.cluster,
              list,
              get: client.get.bind(client),
              create: client.create.bind(client),
              update: client.update.bind(client),
              delete: client.delete.bind(client),
              mergePatchStatus: client.mergePatchStatus.bind(client),
              close: client.close.bind(client),
            },
          };
        },
      },
    };

    const cleaned = await cleanMember(deps, membershipOf("east"), never);

    assert.deepEqual(cleaned, {
      ok: true,
      value: { ...NOTHING, deleted: 1, released: ["Service shop/antrea-mc-taken"] },
    });
    assert.deepEqual(names("", "services"), ["antrea-mc-mine", "antrea-mc-taken"]);
  });

  it("passes over a kind that our identity may not list, and one that the member does not serve", async () => {
    await make("Service", "antrea-mc-web", { [MARK]: "true" });
    const refused = [403, 404].map((code, i) =>
      east.faults.add({
        match: { verbs: ["list"], resource: i === 0 ? "services" : "serviceimports" },
        action: { kind: "status", code, reason: code === 403 ? "Forbidden" : "NotFound", message: "no" },
      }),
    );

    const cleaned = await clean();
    for (const fault of refused) fault.remove();

    assert.deepEqual(cleaned, { ok: true, value: { ...NOTHING, unseen: ["services"] } });
    await clean();
  });

  it("removes what the table names although it is unmarked, names what its user took over, and forgets both", async () => {
    await make("ServiceImport", "web");
    await make("Service", "antrea-mc-web");
    const uidOf = (group: string, resource: string, name: string): string =>
      String(east.engine.readOne(group, resource, "shop", name)?.metadata.uid);
    const record: ImportRecord = {
      name: "shop-web-service",
      kind: "ServiceImport",
      target: { namespace: "shop", name: "web" },
      objects: [
        {
          apiVersion: "v1",
          kind: "Service",
          namespace: "shop",
          name: "antrea-mc-web",
          uid: uidOf("", "services", "antrea-mc-web"),
        },
        {
          apiVersion: "multicluster.x-k8s.io/v1alpha1",
          kind: "ServiceImport",
          namespace: "shop",
          name: "web",
          uid: uidOf("multicluster.x-k8s.io", "serviceimports", "web"),
        },
      ],
      state: "Applied",
      since: 0,
      attempts: 0,
      assignment: 1,
      fence: 7,
    };
    const source = { server: "https://north:6443", namespace: "area", clusterID: "north" };
    const cursor = { ...source, resourceVersion: "7", listedAt: 0, assignment: 1, fence: 7 };
    assert.ok((await world.state.writeImport("east", record, undefined, never)).ok);
    assert.ok((await world.state.writeCursor("east", "resourceimports", cursor, never)).ok);

    const cleaned = await clean();

    assert.deepEqual(cleaned, {
      ok: true,
      value: { ...NOTHING, deleted: 1, released: ["Service shop/antrea-mc-web"] },
    });
    assert.deepEqual(names("multicluster.x-k8s.io", "serviceimports"), ["mine"]);
    assert.ok(names("", "services").includes("antrea-mc-web"));
    assert.deepEqual(await world.state.readImport("east", record.name, never), { ok: true, value: undefined });
    assert.deepEqual(await world.state.readCursor("east", "resourceimports", source, never), {
      ok: true,
      value: undefined,
    });
  });

  it("names what our identity may not delete, and takes the rest out", async () => {
    await make("Service", "antrea-mc-held", { [MARK]: "true" });
    await make("ServiceImport", "antrea-mc-gone", { [MARK]: "true" });
    const refused = east.faults.add({
      match: { verbs: ["delete"], resource: "services" },
      action: { kind: "status", code: 403, reason: "Forbidden", message: "no" },
    });

    const cleaned = await clean();
    refused.remove();

    assert.deepEqual(cleaned, { ok: true, value: { ...NOTHING, deleted: 1, denied: ["Service shop/antrea-mc-held"] } });
    await clean();
  });

  it("leaves a member whose ClusterSets it may not read: it has never written their status", async () => {
    const refused = east.faults.add({
      match: { verbs: ["list"], resource: "clustersets" },
      action: { kind: "status", code: 403, reason: "Forbidden", message: "no" },
    });

    const cleaned = await clean();
    refused.remove();

    assert.deepEqual(cleaned, { ok: true, value: NOTHING });
  });

  it("shows in the ClusterSet that no leader is connected, for nobody keeps its status any more", async () => {
    const set = east.engine.readOne("multicluster.crd.antrea.io", "clustersets", NAMESPACE, "set");
    const ready = { type: "Ready", status: "True", lastTransitionTime: "2026-01-01T00:00:00Z" };
    await east.engine.apply({
      ...set,
      status: {
        totalClusters: 1,
        readyClusters: 1,
        clusterStatuses: [{ clusterID: "north", conditions: [ready] }],
        conditions: [ready],
      },
    });

    await clean();

    const left = east.engine.readOne("multicluster.crd.antrea.io", "clustersets", NAMESPACE, "set");
    const status = left?.["status"] as WireStatus;
    assert.deepEqual(status.clusterStatuses ?? [], []);
    assert.deepEqual(
      status.conditions?.map(({ status, message }) => [status, message]),
      [["False", "Disconnected from leader"]],
    );
  });

  it("fails with the cause when the member does not answer", async () => {
    const reset = east.faults.add({ action: { kind: "reset" } });

    const cleaned = await clean();
    reset.remove();

    assert.ok(!cleaned.ok);
    assert.equal(cleaned.error.cause, "APIServerUnreachable");
  });
});
