import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ApiClient } from "../../infra/local/api-client/api-client.ts";
import { announceRole } from "../../lib/antrea/announce-role.ts";
import type { Hold, RoleWork } from "../../lib/relay/ports.ts";
import type { Condition } from "../../lib/state/condition.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { type AntreaWorld, startAntreaWorld } from "./antrea-world.ts";
import { MemoryStore } from "./memory-store.ts";
import { COMMON_AREA, membershipOf, NAMESPACE, never, type WireStatus } from "./role-harness.ts";

const OTHER_SET = "other";
const GROUP = "multicluster.crd.antrea.io";
const ANNOTATION = "multicluster.antrea.io/cluster-id";

/** What is wrong with a member, how its leader words it, and how it comes about. */
interface Case {
  readonly wrong: string;
  readonly cause: string;
  readonly words: RegExp;
  readonly spoil: (world: AntreaWorld, id: string) => Promise<unknown>;
}

const DENIED = "DeniedByLeaderWebhook";
const CASES: Readonly<Record<string, Case>> = {
  amber: {
    wrong: "a ClusterSet of another name",
    cause: DENIED,
    words: /Unknown ClusterSet ID/,
    spoil: renameClusterSet,
  },
  beryl: {
    wrong: "another leader's ID",
    cause: DENIED,
    words: /Leader cluster ID in the MemberClusterAnnounce does not match/,
    spoil: (world, id) => changeClusterSet(world, id, (leader) => ({ leaders: [{ ...leader, clusterID: "south" }] })),
  },
  coral: {
    wrong: "a ServiceAccount that the leader does not know",
    cause: DENIED,
    words: /ServiceAccount "ghost" is not found/,
    spoil: (world, id) => useToken(world, id, `system:serviceaccount:${COMMON_AREA}:ghost`),
  },
  denim: {
    wrong: "a ServiceAccount without the annotation",
    cause: DENIED,
    words: /ClusterID "denim" is not permitted for ServiceAccount "member-denim"/,
    spoil: (world, id) => annotate(world, `member-${id}`, {}),
  },
  ebony: {
    wrong: "a ServiceAccount that is another member's",
    cause: DENIED,
    words: /ClusterID "ebony" is not permitted .*annotation to match/,
    spoil: (world, id) => annotate(world, `member-${id}`, { [ANNOTATION]: "elsewhere" }),
  },
  frost: {
    wrong: "an ID that begins another member's",
    cause: DENIED,
    words: /ClusterID "frost" conflicts with an existing member's ClusterID/,
    spoil: (world) => annotate(world, "longer", { [ANNOTATION]: "frost-1" }),
  },
  "grape-2": {
    wrong: "an ID that another member's begins",
    cause: DENIED,
    words: /ClusterID "grape-2" conflicts with an existing member's ClusterID/,
    spoil: (world) => annotate(world, "shorter", { [ANNOTATION]: "grape" }),
  },
  hazel: {
    wrong: "a ServiceAccount of another Namespace",
    cause: DENIED,
    words: /ServiceAccount "kube-public\/member-hazel" is not in Namespace "antrea-multicluster"/,
    spoil: (world, id) => useToken(world, id, "system:serviceaccount:kube-public:member-hazel"),
  },
  ivory: {
    wrong: "a user who is no ServiceAccount",
    cause: DENIED,
    words: /Username must be in the form/,
    spoil: (world, id) => useToken(world, id, "jane"),
  },
};

/** Changes a member's ClusterSet as somebody who edits it. */
async function changeClusterSet(
  world: AntreaWorld,
  id: string,
  change: (leader: Record<string, unknown>) => Record<string, unknown>,
): Promise<void> {
  const engine = world.memberClusters.get(id)?.engine;
  const set = engine?.readOne(GROUP, "clustersets", NAMESPACE, "set");
  assert.ok(engine !== undefined && set !== undefined);
  const spec = set["spec"] as { leaders: [Record<string, unknown>] };
  await engine.apply({ ...set, spec: { ...spec, ...change(spec.leaders[0]) } });
}

/** Replaces a member's ClusterSet by one of another name. */
async function renameClusterSet(world: AntreaWorld, id: string): Promise<void> {
  const cluster = world.memberClusters.get(id);
  const set = cluster?.engine.readOne(GROUP, "clustersets", NAMESPACE, "set");
  assert.ok(cluster !== undefined && set !== undefined);
  const admin = new ApiClient(cluster.adminKubeconfig());
  const path = `/apis/${GROUP}/v1alpha2/namespaces/${NAMESPACE}/clustersets`;
  const { code } = await admin.request("DELETE", `${path}/set`);
  assert.equal(code, 200);
  await admin.close();
  await cluster.engine.apply({ ...set, metadata: { name: OTHER_SET, namespace: NAMESPACE } });
}

/** Writes another token into a member's Secret: that of a user whom the leader's API server knows and lets announce. */
async function useToken(world: AntreaWorld, id: string, username: string): Promise<void> {
  const token = `token-of-${id}`;
  world.leaderCluster.authenticator.setToken({ token, username, groups: [] });
  await world.leaderCluster.engine.apply({
    apiVersion: "rbac.authorization.k8s.io/v1",
    kind: "RoleBinding",
    metadata: { name: `user-of-${id}`, namespace: COMMON_AREA },
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "antrea-mc-member-cluster-role" },
    subjects: [{ apiGroup: "rbac.authorization.k8s.io", kind: "User", name: username }],
  });
  const engine = world.memberClusters.get(id)?.engine;
  const secret = engine?.readOne("", "secrets", NAMESPACE, "leader-token");
  assert.ok(engine !== undefined && secret !== undefined);
  const data = { ...(secret["data"] as object), token: Buffer.from(token).toString("base64") };
  await engine.apply({ ...secret, data });
}

async function annotate(world: AntreaWorld, name: string, annotations: Record<string, string>): Promise<void> {
  const metadata = { name, namespace: COMMON_AREA, annotations };
  await world.leaderCluster.engine.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata });
}

describe("members whom their leader refuses", { timeout: 60_000 }, () => {
  let world: AntreaWorld;
  let role: RoleWork;
  let working: Promise<void> | undefined;
  const store = new MemoryStore();
  const ended = new AbortController();
  const bugs: unknown[] = [];
  const failed = new Map<string, number>();
  const ids = Object.keys(CASES);

  before(async () => {
    world = await startAntreaWorld("good", ...ids);
    for (const [id, { spoil }] of Object.entries(CASES)) await spoil(world, id);
    role = announceRole("s", {
      clock: world.clock,
      random: seededRandom(1),
      store,
      connector: world.connector,
      telemetry: {
        beat: ({ cluster, outcome }) => {
          if (outcome === "failed") failed.set(cluster, (failed.get(cluster) ?? 0) + 1);
        },
        transition: () => undefined,
        bug: (error) => void bugs.push(error),
      },
      mayCreate: async () => true,
      keepLeader: async () => true,
      readKeptLeader: async () => undefined,
    });
    for (const id of ["good", ...ids]) store.add(membershipOf(id));
    await role.prepare(store.revision, never);
    const hold: Hold = {
      fence: 1,
      holder: "w",
      previousRoundAt: undefined,
      signal: ended.signal,
      mayWrite: () => true,
      predecessorStopped: () => true,
      mayRepeat: () => true,
      reportRound: () => undefined,
    };
    working = role.work(hold);
  });
  after(async () => {
    ended.abort();
    await working;
    await role.close();
    await world.end();
  });

  const ready = (id: string): Condition | undefined => store.condition(id, "Ready");
  const announce = (id: string) =>
    world.leaderCluster.engine.readOne(GROUP, "memberclusterannounces", COMMON_AREA, `member-announce-from-${id}`);
  const status = (id: string): WireStatus => {
    const set = world.memberClusters
      .get(id)
      ?.engine.readOne(GROUP, "clustersets", NAMESPACE, id === "amber" ? OTHER_SET : "set");
    return (set?.["status"] ?? {}) as WireStatus;
  };

  it("are not connected from the first beat on, and the leader's words are shown; the others are", async () => {
    await until(() => ready("good")?.status === "True" && ids.every((id) => ready(id)?.cause !== undefined));

    for (const [id, { wrong, cause, words }] of Object.entries(CASES)) {
      assert.deepEqual([ready(id)?.status, ready(id)?.cause], ["Unknown", cause], wrong);
      assert.match(ready(id)?.message ?? "", words, wrong);
      assert.match(ready(id)?.message ?? "", new RegExp(`member-announce-from-${id}|memberclusterannounces`));
      assert.equal(announce(id), undefined, wrong);
    }
  });

  it("go on beating, are Disconnected at the third beat, and show it in their ClusterSets", async () => {
    for (let beats = 2; beats <= 3; beats += 1) {
      await world.pass(10_000);
      await until(() => ids.every((id) => (failed.get(id) ?? 0) >= beats));
    }
    await until(() =>
      ids.every((id) => ready(id)?.status === "False" && status(id).conditions?.[0]?.["status"] === "False"),
    );

    for (const [id, { wrong, words }] of Object.entries(CASES)) {
      assert.deepEqual([ready(id)?.status, ready(id)?.reason], ["False", "Disconnected"], wrong);
      const [shown] = status(id).clusterStatuses?.[0]?.conditions ?? [];
      assert.deepEqual(
        [shown?.["type"], shown?.["status"], shown?.["reason"]],
        ["Ready", "False", "Disconnected"],
        wrong,
      );
      assert.match(shown?.["message"] ?? "", words, wrong);
      assert.equal(store.memberships.get(id)?.summary.state, "Disconnected");
    }
    assert.equal(ready("good")?.status, "True");
    assert.deepEqual(bugs, []);
  });

  it("connect with the first beat after the leader was told of them", async () => {
    for (const id of ["denim", "ebony"]) await annotate(world, `member-${id}`, { [ANNOTATION]: id });
    await annotate(world, "longer", {});
    await annotate(world, "shorter", {});
    const mended = ["denim", "ebony", "frost", "grape-2"];

    await world.pass(10_000);

    await until(() => mended.every((id) => ready(id)?.status === "True"));
    for (const id of mended) assert.equal(announce(id)?.["clusterID"], id);
    assert.equal(ready("ivory")?.status, "False");
  });
});
