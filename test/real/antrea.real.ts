import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { stringify } from "yaml";
import { eventually } from "../../infra/local/control-plane/apply.ts";
import type { RealCluster } from "../../infra/local/control-plane/real-cluster.ts";
import { CLUSTER_ID_ANNOTATION, paths } from "../../infra/local/leader/resources.ts";
import { announceRole } from "../../lib/antrea/announce-role.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { Connections } from "../../lib/kube/pool.ts";
import type { RoleWork } from "../../lib/relay/ports.ts";
import type { Condition } from "../../lib/state/condition.ts";
import { type CountedConnector, countedConnector } from "../antrea/counted-connector.ts";
import { MemoryStore } from "../antrea/memory-store.ts";
import { membershipOf, NAMESPACE, never, type WireStatus } from "../antrea/role-harness.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { type AntreaClusters, AREA, furnishAntreaClusters } from "./antrea-clusters.ts";

const MERGE_PATCH = "application/merge-patch+json";
const BEAT_MS = 10_000;

/** A member's Secret and ClusterSet; what names its leader is filled in when it is furnished. */
function memberManifests(cluster: string) {
  const clusterSet = {
    name: "set",
    namespace: NAMESPACE,
    clusterId: cluster,
    leaderId: "north",
    leaderNamespace: AREA,
    secret: "leader-token",
  };
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "leader-token", namespace: NAMESPACE },
    type: "Opaque",
    data: { "ca.crt": "", token: "" },
  };
  return { cluster, clusterSet, objects: [secret, clusterSetOf(cluster, "set")] };
}

function clusterSetOf(cluster: string, name: string) {
  return {
    apiVersion: "multicluster.crd.antrea.io/v1alpha2",
    kind: "ClusterSet",
    metadata: { name, namespace: NAMESPACE },
    spec: {
      clusterID: cluster,
      leaders: [{ clusterID: "north", server: "https://replaced", secret: "leader-token" }],
      namespace: AREA,
    },
  };
}

describe("members of an Antrea ClusterSet, on real API servers", { timeout: 240_000 }, () => {
  const clock = new FakeClock(new Date());
  const random = seededRandom(1);
  const connections = new Connections({ clock: systemClock, random, version: "test" });
  const store = new MemoryStore();
  const bugs: unknown[] = [];
  const ended = new AbortController();
  let clusters: AntreaClusters;
  let pass: CountedConnector["pass"];
  let role: RoleWork;
  let working: Promise<void> | undefined;

  before(async () => {
    const members = [memberManifests("east"), memberManifests("west")];
    clusters = await furnishAntreaClusters({ leader: [], members });
    const kubeconfigs = new Map(clusters.members.map(({ cluster, kubeconfig }) => [cluster, kubeconfig]));
    const counted = countedConnector(kubeconfigs, connections, clock);
    pass = counted.pass;
    role = announceRole("s", {
      clock,
      random,
      store,
      connector: counted.connector,
      telemetry: {
        beat: () => undefined,
        transition: () => undefined,
        bug: (error) => void bugs.push(error),
      },
      mayCreate: async () => true,
      keepLeader: async () => true,
    });
    for (const cluster of ["east", "west"]) store.add(membershipOf(cluster));
    await role.prepare(store.revision, never);
    working = role.work({
      fence: 1,
      holder: "w",
      previousRoundAt: undefined,
      signal: ended.signal,
      predecessorStopped: () => true,
      mayWrite: () => true,
      mayRepeat: () => true,
      reportRound: () => undefined,
    });
  });
  after(async () => {
    ended.abort();
    await working;
    await role.close();
    await connections.close();
    await clusters.end();
  });

  const ready = (cluster: string): Condition | undefined => store.condition(cluster, "Ready");
  const announcePath = (cluster: string): string => `${paths.announces(AREA)}/member-announce-from-${cluster}`;
  const announce = (cluster: string) => clusters.leaderCluster.admin.request("GET", announcePath(cluster));
  const clusterSet = async (cluster: RealCluster) =>
    (await cluster.admin.request("GET", `${paths.clusterSets(NAMESPACE)}/set`)).body;
  const status = async (cluster: RealCluster): Promise<WireStatus> =>
    ((await clusterSet(cluster))["status"] ?? {}) as WireStatus;
  const change = async (cluster: RealCluster, path: string, patch: object): Promise<void> => {
    const { code, body } = await cluster.admin.request("PATCH", path, patch, MERGE_PATCH);
    assert.equal(code, 200, body.message);
  };
  /** Lets beats pass until it holds; two minutes of the role's time at most. */
  const beatsUntil = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
    for (let beat = 0; beat < 12; beat += 1) {
      if (await holds()) return;
      await pass(BEAT_MS);
    }
    assert.ok(await holds(), `${what}; east: ${show(ready("east"))}, west: ${show(ready("west"))}`);
  };
  const show = (condition: Condition | undefined): string =>
    `${condition?.status} ${condition?.cause ?? ""} ${condition?.message ?? ""}`;
  const annotate = async (account: string, id: string | null): Promise<void> =>
    await change(clusters.leaderCluster, `${paths.serviceAccounts(AREA)}/${account}`, {
      metadata: { annotations: { [CLUSTER_ID_ANNOTATION]: id } },
    });
  const useToken = async (cluster: RealCluster, token: string): Promise<void> =>
    await change(cluster, `/api/v1/namespaces/${NAMESPACE}/secrets/leader-token`, {
      data: { token: Buffer.from(token).toString("base64") },
    });

  it("are announced with their three IDs by the first beat, and connected by the second", async () => {
    await beatsUntil("connected", () => ready("east")?.status === "True" && ready("west")?.status === "True");

    const { body } = await announce("east");
    assert.deepEqual([body["clusterID"], body["clusterSetID"], body["leaderClusterID"]], ["east", "set", "north"]);
    await pass(BEAT_MS);
    assert.deepEqual([ready("east")?.reason, ready("east")?.message], ["", ""]);
    const isLeader = store.condition("east", "IsLeader");
    assert.deepEqual(
      [isLeader?.status, isLeader?.reason, isLeader?.message],
      ["True", "", "This leader cluster is the leader for local cluster"],
    );
    assert.equal((await announce("east")).body.metadata.generation, 1, "a beat changes nothing but metadata");
    assert.deepEqual(bugs, []);
  });

  it("show it in their ClusterSets, as the API server gives them", async () => {
    await beatsUntil("status", async () => (await status(clusters.east)).readyClusters === 1);

    const set = await clusterSet(clusters.east);
    const { conditions, clusterStatuses, totalClusters, observedGeneration } = set["status"] as WireStatus & {
      observedGeneration: number;
    };
    assert.deepEqual([totalClusters, observedGeneration], [1, set.metadata.generation]);
    assert.deepEqual(
      conditions?.map(({ type, status }) => `${String(type)}=${String(status)}`),
      ["Ready=True"],
    );
    assert.deepEqual(
      clusterStatuses?.map(({ clusterID, conditions }) => [
        clusterID,
        conditions.map(({ type, status }) => `${String(type)}=${String(status)}`),
      ]),
      [["north", ["Ready=True", "IsLeader=True"]]],
    );
  });

  it("are seen by their leader, which keeps their announces by its finalizer", async () => {
    await beatsUntil("seen", () => clusters.leader.members().filter((member) => member.connected).length === 2);

    const { body } = await announce("west");
    assert.deepEqual(body.metadata.finalizers, ["memberclusterannounce.finalizer.antrea.io/west"]);
  });

  /**
   * Spoils west, deletes its announce, looks at the refusal, mends it, and waits for west to be connected again.
   * What is spoilt in the member is in force when its next reading shows: only then is the announce deleted, which would
   * be made again by the old rules before.
   */
  const refused = async (
    words: RegExp,
    spoil: () => Promise<unknown>,
    mend: () => Promise<unknown>,
    where: "leader" | "member" = "leader",
  ): Promise<void> => {
    await spoil();
    if (where === "member") await beatsUntil("in force", () => ready("west")?.cause !== undefined);
    const { code, body } = await clusters.leaderCluster.admin.request("DELETE", announcePath("west"));
    assert.equal(code, 200, body.message);
    // The leader lets it go first.
    await eventually(systemClock, "the announce to be gone", async () =>
      (await announce("west")).code === 404 ? true : undefined,
    );
    await beatsUntil(
      String(words),
      () => ready("west")?.cause === "DeniedByLeaderWebhook" && words.test(ready("west")?.message ?? ""),
    );
    assert.equal((await announce("west")).code, 404, "not made again");
    assert.equal(ready("east")?.status, "True");
    await mend();
    await beatsUntil("mended", () => ready("west")?.status === "True");
    assert.equal((await announce("west")).code, 200);
  };

  it("are refused with a ServiceAccount that has no annotation, or another member's", async () => {
    await refused(
      /ClusterID "west" is not permitted for ServiceAccount "member-west"/,
      () => annotate("member-west", null),
      () => annotate("member-west", "west"),
    );
    await refused(
      /ClusterID "west" is not permitted for ServiceAccount "member-west"/,
      () => annotate("member-west", "other"),
      () => annotate("member-west", "west"),
    );
  });

  it("are refused with an ID that begins another member's", async () => {
    const longer = { name: "longer", namespace: AREA, annotations: { [CLUSTER_ID_ANNOTATION]: "west-1" } };
    await refused(
      /ClusterID "west" conflicts with an existing member's ClusterID/,
      () =>
        clusters.leaderCluster.applyManifests(
          stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: longer }),
        ),
      () => annotate("longer", null),
    );
  });

  it("are refused with another leader's ID", async () => {
    const leader = async (clusterID: string): Promise<void> => {
      const set = await clusterSet(clusters.west);
      const { leaders } = set["spec"] as { leaders: object[] };
      await change(clusters.west, `${paths.clusterSets(NAMESPACE)}/set`, {
        spec: { leaders: [{ ...leaders[0], clusterID }] },
      });
    };
    await refused(
      /Leader cluster ID in the MemberClusterAnnounce does not match/,
      () => leader("south"),
      () => leader("north"),
      "member",
    );
  });

  it("are refused with a ServiceAccount of another Namespace", async () => {
    const account = { name: "member-west", namespace: "kube-public" };
    await clusters.leaderCluster.applyManifests(
      [
        { apiVersion: "v1", kind: "ServiceAccount", metadata: account },
        {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "RoleBinding",
          metadata: { name: "from-elsewhere", namespace: AREA },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "antrea-mc-member-cluster-role" },
          subjects: [{ kind: "ServiceAccount", ...account }],
        },
      ]
        .map((object) => stringify(object))
        .join("---\n"),
    );
    const tokenOf = (namespace: string): Promise<string> => clusters.leaderCluster.tokenFor(namespace, "member-west");
    await refused(
      /ServiceAccount "kube-public\/member-west" is not in Namespace "antrea-multicluster"/,
      async () => await useToken(clusters.west, await tokenOf("kube-public")),
      async () => await useToken(clusters.west, await tokenOf(AREA)),
      "member",
    );
  });

  it("are disconnected by a revoked token, and recover with a new one", async () => {
    const { admin } = clusters.leaderCluster;
    const secret = { name: "member-east-token", namespace: AREA };
    const { code } = await admin.request("DELETE", `/api/v1/namespaces/${AREA}/secrets/${secret.name}`);
    assert.equal(code, 200);

    // The API server believes a token for ten seconds more.
    const limit = performance.now() + 30_000;
    while (ready("east")?.status !== "False" && performance.now() < limit) await pass(BEAT_MS);

    assert.deepEqual([ready("east")?.status, ready("east")?.cause], ["False", "CredentialRefused"]);
    await beatsUntil("shown", async () => (await status(clusters.east)).conditions?.[0]?.["status"] === "False");
    assert.equal(ready("west")?.status, "True", "another member's token is another connection");

    const annotations = { "kubernetes.io/service-account.name": "member-east" };
    await clusters.leaderCluster.applyManifests(
      stringify({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { ...secret, annotations },
        type: "kubernetes.io/service-account-token",
      }),
    );
    await useToken(clusters.east, await clusters.leaderCluster.tokenFor(AREA, "member-east"));
    await beatsUntil("recovered", () => ready("east")?.status === "True");
  });

  it("tell a leader's webhook that is away from an API server that is", async () => {
    await clusters.leader.stopWebhook();
    await beatsUntil("disconnected", () => ready("east")?.status === "False" && ready("west")?.status === "False");
    assert.deepEqual([ready("east")?.cause, ready("west")?.cause], Array(2).fill("LeaderWebhookUnavailable"));

    await clusters.leader.startWebhook();
    await beatsUntil("connected", () => ready("east")?.status === "True" && ready("west")?.status === "True");
    assert.deepEqual(bugs, []);
  });
});
