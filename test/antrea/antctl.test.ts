import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { KubeClient, KubeObject, ResourceType } from "../../lib/kube/client.ts";
import { until } from "../support/until.ts";
import { type AntreaWorld, startAntreaWorld } from "./antrea-world.ts";
import { COMMON_AREA, NAMESPACE, type WireStatus } from "./role-harness.ts";
import { startWorkingRole, type WorkingRole } from "./working-role.ts";

const CLUSTER_SETS: ResourceType = {
  group: "multicluster.crd.antrea.io",
  version: "v1alpha2",
  resource: "clustersets",
};
const SECRETS: ResourceType = { group: "", version: "v1", resource: "secrets" };
const CALL = { timeoutMs: 5_000 };
/** How long `antctl mc join` polls, once a second, before it takes back what it made (Antrea Multi-cluster). */
const ANTCTL_WAIT_MS = 60_000;

/** What `antctl mc join` and `antctl mc leave` do in a member. */
class Antctl {
  readonly #member: KubeClient;
  readonly #world: AntreaWorld;
  readonly #objects: readonly (readonly [ResourceType, KubeObject])[];

  constructor(world: AntreaWorld, member: KubeClient, secret: KubeObject, clusterSet: KubeObject) {
    this.#world = world;
    this.#member = member;
    this.#objects = [
      [SECRETS, secret],
      [CLUSTER_SETS, clusterSet],
    ];
  }

  /** Creates Secret and ClusterSet and polls; returns after how many seconds the leader's `Ready` was True, if it was in time. */
  async join(): Promise<number | undefined> {
    for (const [type, object] of this.#objects) {
      const created = await this.#member.create(type, NAMESPACE, object, CALL);
      assert.ok(created.ok, created.ok ? "" : created.error.message);
    }
    for (let passed = 0; passed < ANTCTL_WAIT_MS; passed += 1_000) {
      if ((await this.leaderReady()) === "True") return passed / 1_000;
      await this.#world.pass(1_000);
    }
    await this.leave();
    return undefined;
  }

  async leave(): Promise<void> {
    for (const [type, { metadata }] of this.#objects.toReversed()) {
      const ref = { type, namespace: NAMESPACE, name: metadata.name ?? "" };
      assert.ok((await this.#member.delete(ref, {}, CALL)).ok);
    }
  }

  async leaderReady(): Promise<string | undefined> {
    const { metadata } = this.#objects[1]?.[1] ?? { metadata: {} };
    const found = await this.#member.get({ type: CLUSTER_SETS, namespace: NAMESPACE, name: metadata.name ?? "" }, CALL);
    const status = (found.ok ? found.value.object["status"] : {}) as WireStatus | undefined;
    const leader = status?.clusterStatuses?.find(({ clusterID }) => clusterID === "north");
    return leader?.conditions.find(({ type }) => type === "Ready")?.["status"];
  }
}

describe("`antctl mc join` in members that Hawser waits for", { timeout: 60_000 }, () => {
  let world: AntreaWorld;
  let role: WorkingRole;
  const tools = new Map<string, Antctl>();
  const antctl = (cluster: string): Antctl => {
    const found = tools.get(cluster);
    assert.ok(found !== undefined);
    return found;
  };
  const announce = (id: string) =>
    world.leaderCluster.engine.readOne(
      CLUSTER_SETS.group,
      "memberclusterannounces",
      COMMON_AREA,
      `member-announce-from-${id}`,
    );

  before(async () => {
    world = await startAntreaWorld("east", "west");
    for (const cluster of ["east", "west"]) {
      const engine = world.memberClusters.get(cluster)?.engine;
      const fresh = (object: KubeObject | undefined): KubeObject => {
        assert.ok(object !== undefined);
        const { apiVersion, kind, data, type, spec } = object;
        const metadata = { name: object.metadata.name ?? "", namespace: NAMESPACE };
        return Object.fromEntries(
          Object.entries({ apiVersion, kind, metadata, data, type, spec }).filter(([, value]) => value !== undefined),
        ) as KubeObject;
      };
      const secret = fresh(engine?.readOne("", "secrets", NAMESPACE, "leader-token"));
      const set = fresh(engine?.readOne(CLUSTER_SETS.group, "clustersets", NAMESPACE, "set"));
      const tool = new Antctl(world, await world.memberAsAdmin(cluster), secret, set);
      await tool.leave();
      tools.set(cluster, tool);
    }
    role = await startWorkingRole(world, ["east", "west"]);
  });
  after(async () => {
    await role.end();
    await world.end();
  });

  it("finds them waiting, which is no failure", async () => {
    await world.pass(30_000);
    await until(() => role.store.condition("east", "Ready")?.cause === "ClusterSetMissing");

    assert.equal(role.store.condition("east", "Ready")?.status, "Unknown");
    assert.equal(role.store.memberships.get("east")?.phase, "joined");
  });

  it("succeeds within 30 of its 60 seconds", async () => {
    const seconds = await antctl("east").join();

    assert.ok(seconds !== undefined && seconds <= 30, `${seconds} s`);
    assert.equal(announce("east")?.["clusterID"], "east");
    assert.equal(role.store.condition("east", "Ready")?.status, "True");
  });

  it("that is rolled back, as the leader refuses the member, leaves no connection, and Hawser begins to leave", async () => {
    const metadata = { name: "member-west", namespace: COMMON_AREA, annotations: {} };
    await world.leaderCluster.engine.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata });

    assert.equal(await antctl("west").join(), undefined);

    assert.equal(role.store.condition("west", "Ready")?.cause, "DeniedByLeaderWebhook");
    await world.pass(70_000);
    await until(() => role.store.memberships.get("west")?.leaveReason === "ClusterSetDeleted");
    const beats = role.beats("west").length;
    await world.pass(30_000);
    assert.equal(role.beats("west").length, beats, "nothing is sent to the leader any more");
    assert.equal(announce("west"), undefined);
    assert.deepEqual(role.bugs, []);
  });
});
