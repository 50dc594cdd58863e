import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  announceObject,
  announceRef,
  CLUSTER_SETS,
  clusterSetRef,
  MEMBER_CLUSTER_ANNOUNCES,
} from "../../lib/antrea/resources.ts";
import type { KubeObject } from "../../lib/kube/client.ts";
import { type AntreaWorld, startAntreaWorld } from "./antrea-world.ts";
import { MemoryCluster } from "./memory-cluster.ts";
import { COMMON_AREA, NAMESPACE } from "./role-harness.ts";

const CALL = { timeoutMs: 5_000 };
const IDS = { clusterID: "east", clusterSetID: "set", leaderClusterID: "north" };
const SPEC = { clusterID: "east", leaders: [{ clusterID: "north" }], namespace: COMMON_AREA };

/** A client of an API server, as lib/antrea uses one. */
type Client = ReturnType<MemoryCluster["client"]>;

/** What an API server does, as far as lib/antrea counts on it; the one in memory must do the same. */
function contract(name: string, make: () => { readonly leader: Client; readonly member: Client }): void {
  describe(`an API server, ${name}`, () => {
    const announce = announceRef(COMMON_AREA, "east");
    const touch = (at: string): object => ({ metadata: { annotations: { "touch-ts": at } } });
    const object = (): KubeObject => announceObject(IDS, COMMON_AREA, { "touch-ts": "1" });
    const must = <T>(result: { readonly ok: true; readonly value: T } | { readonly ok: false }): T => {
      assert.ok(result.ok);
      return result.value;
    };

    it("answers notFound to a patch of what is not there", async () => {
      const answer = await make().leader.mergePatch(announce, touch("0"), CALL);

      assert.equal(!answer.ok && answer.error.kind, "notFound");
    });

    it("creates once, and says alreadyExists afterwards", async () => {
      const { leader } = make();

      const made = must(await leader.create(MEMBER_CLUSTER_ANNOUNCES, COMMON_AREA, object(), CALL));
      const again = await leader.create(MEMBER_CLUSTER_ANNOUNCES, COMMON_AREA, object(), CALL);

      assert.notEqual(made.object.metadata.uid, undefined);
      assert.equal(!again.ok && again.error.kind, "alreadyExists");
    });

    it("raises the resourceVersion with a patch that changes, and only with that", async () => {
      const { leader } = make();

      const one = must(await leader.mergePatch(announce, touch("2"), CALL)).object;
      const same = must(await leader.mergePatch(announce, touch("2"), CALL)).object;
      const other = must(await leader.mergePatch(announce, touch("3"), CALL)).object;

      assert.equal(same.metadata.resourceVersion, one.metadata.resourceVersion);
      assert.notEqual(other.metadata.resourceVersion, one.metadata.resourceVersion);
      assert.equal(other["clusterSetID"], "set");
    });

    it("patches a status alone, under the resourceVersion that the patch names", async () => {
      const { member } = make();
      const ref = clusterSetRef(NAMESPACE, "set");
      const before = must(await member.get(ref, CALL)).object;
      const { resourceVersion } = before.metadata;
      const patch = (totalClusters: number): object => ({
        metadata: { resourceVersion },
        spec: { clusterID: "changed" },
        status: { totalClusters },
      });

      const first = must(await member.mergePatchStatus(ref, patch(1), CALL)).object;
      const second = await member.mergePatchStatus(ref, patch(2), CALL);

      assert.equal((first["status"] as { totalClusters?: number }).totalClusters, 1);
      assert.deepEqual(first["spec"], before["spec"]);
      assert.equal(first.metadata.generation, before.metadata.generation);
      assert.equal(!second.ok && second.error.kind, "conflict");
    });

    it("lists what a Namespace holds", async () => {
      const { member } = make();

      const here = must(await member.list(CLUSTER_SETS, NAMESPACE, CALL));

      assert.deepEqual(
        here.items.map(({ metadata }) => metadata.name),
        ["set"],
      );
    });
  });
}

const memory = { leader: new MemoryCluster(), member: new MemoryCluster() };
memory.member.put(clusterSetRef(NAMESPACE, "set"), { metadata: {}, spec: SPEC });
contract("in memory", () => ({ leader: memory.leader.client("leader"), member: memory.member.client("east") }));

describe("held to the simulated one", { timeout: 60_000 }, () => {
  let world: AntreaWorld;
  let member: Client;
  before(async () => {
    world = await startAntreaWorld("east");
    const cluster = world.memberClusters.get("east");
    await cluster?.engine.apply({
      ...cluster.engine.readOne("multicluster.crd.antrea.io", "clustersets", NAMESPACE, "set"),
      spec: SPEC,
    });
    const connected = await world.connector.connectMember(
      { cluster: "east", access: { kubeconfig: { file: "" } } },
      AbortSignal.timeout(5_000),
    );
    assert.ok(connected.ok);
    member = connected.value as Client;
  });
  after(async () => await world.end());

  contract("simulated", () => ({ leader: world.leaderAs("member-east") as Client, member }));
});
