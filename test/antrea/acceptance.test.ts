import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { SimulatedCluster } from "../../infra/local/cluster/simulated-cluster.ts";
import { announceRole } from "../../lib/antrea/announce-role.ts";
import { announceFirst, type JoinDependencies, preflightAntrea } from "../../lib/antrea/join.ts";
import { systemClock } from "../../lib/base/clock.ts";
import type { Hold, RoleWork } from "../../lib/relay/ports.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { settleIo, until } from "../support/until.ts";
import { type AntreaWorld, startAntreaWorld } from "./antrea-world.ts";
import { MemoryStore } from "./memory-store.ts";
import { COMMON_AREA, membershipOf, NAMESPACE, never, type WireStatus } from "./role-harness.ts";

const GROUP = "multicluster.crd.antrea.io";

describe("members of an Antrea ClusterSet, over HTTPS", { timeout: 60_000 }, () => {
  let world: AntreaWorld;
  let join: JoinDependencies;
  const store = new MemoryStore();
  const bugs: unknown[] = [];
  let failures = 0;
  const ended = new AbortController();
  let role: RoleWork;
  let working: Promise<void> | undefined;

  before(async () => {
    world = await startAntreaWorld("east", "west");
    join = { clock: systemClock, connector: world.connector, timeoutMs: 5_000 };
    // A working role, driven by the world's clock.
    role = announceRole("s", {
      clock: world.clock,
      random: seededRandom(1),
      store,
      connector: world.connector,
      telemetry: {
        beat: ({ outcome }) => void (failures += Number(outcome === "failed")),
        transition: () => undefined,
        bug: (error) => void bugs.push(error),
      },
      mayCreate: async () => true,
      keepLeader: async () => true,
      readKeptLeader: async () => undefined,
    });
  });
  after(async () => {
    ended.abort();
    await working;
    await role.close();
    await world.end();
  });

  const member = (cluster: string): SimulatedCluster => {
    const found = world.memberClusters.get(cluster);
    assert.ok(found !== undefined);
    return found;
  };
  const announce = (cluster: string) =>
    world.leaderCluster.engine.readOne(GROUP, "memberclusterannounces", COMMON_AREA, `member-announce-from-${cluster}`);
  const clusterSet = (cluster: string) => member(cluster).engine.readOne(GROUP, "clustersets", NAMESPACE, "set");
  const status = (cluster: string): WireStatus => (clusterSet(cluster)?.["status"] ?? {}) as WireStatus;
  const secret = (cluster: string) => member(cluster).engine.readOne("", "secrets", NAMESPACE, "leader-token");
  const ready = (cluster: string): string | undefined => store.condition(cluster, "Ready")?.status;
  const asked = (user: string): number =>
    world.leaderCluster.requestLog.entries((entry) => entry.user?.endsWith(`:${user}`) === true).length;
  const overall = (cluster: string): string | undefined => status(cluster).conditions?.[0]?.["status"];

  it("tell a join who they are and where their leader is, before anything is written", async () => {
    const seen = await preflightAntrea(join, membershipOf("east"), never);

    assert.equal(
      seen.clusterUID,
      member("east").engine.readOne("", "namespaces", undefined, "kube-system")?.metadata.uid,
    );
    assert.equal(seen.reading.kind, "configured");
    assert.equal(announce("east"), undefined);
    assert.equal(asked("member-east"), 0);
  });

  it("are announced by their join, once created, then renewed", async () => {
    const { reading } = await preflightAntrea(join, membershipOf("east"), never);

    const first = await announceFirst(join, "east", reading, never);
    const second = await announceFirst(join, "east", reading, never);

    const ids = { clusterID: "east", clusterSetID: "set", leaderClusterID: "north" };
    assert.deepEqual(first, { kind: "announced", created: true, ids });
    assert.deepEqual(second, { kind: "announced", created: false, ids });
    await until(() => world.leader.members().length === 1);
  });

  it("may join before they have a ClusterSet, and are told what else is missing", async () => {
    const elsewhere = { ...membershipOf("east"), antrea: { namespace: "kube-system", clusterSet: "other" } };
    const waiting = await preflightAntrea(join, elsewhere, never);
    const nobody = await preflightAntrea(join, membershipOf("nobody"), never);

    assert.equal((await announceFirst(join, "east", waiting.reading, never)).kind, "waiting");
    assert.notEqual(waiting.clusterUID, undefined);
    assert.equal(nobody.clusterUID, undefined);
    assert.equal((await announceFirst(join, "nobody", nobody.reading, never)).kind, "misconfigured");
  });

  it("connect and show it on both sides; one without a CA asks nothing of the leader", async () => {
    const west = secret("west");
    assert.ok(west !== undefined);
    const { token } = west["data"] as Record<string, string>;
    await member("west").engine.apply({ ...west, data: { token } });
    for (const cluster of ["east", "west"]) store.add(membershipOf(cluster));
    const prepared = await role.prepare(store.revision, never);
    assert.equal(prepared.ok, true);
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

    await until(() => ready("east") === "True" && ready("west") === "False" && overall("east") === "True");
    const [leader] = status("east").clusterStatuses ?? [];
    assert.equal(leader?.clusterID, "north");
    assert.deepEqual(
      leader?.conditions.map(({ type, status, message, reason }) => [type, status, message, reason]),
      [
        ["Ready", "True", undefined, undefined],
        ["IsLeader", "True", "This leader cluster is the leader for local cluster", undefined],
      ],
    );
    assert.deepEqual([status("east").totalClusters, status("east").readyClusters], [1, 1]);
    const message = store.condition("west", "Ready")?.message ?? "";
    assert.match(message, /ca\.crt data not found in Secret leader-token/);
    assert.equal(asked("member-west"), 0);
    await until(() => overall("west") === "False");
    assert.equal(status("west").conditions?.[0]?.["message"], "Disconnected from leader");
    assert.deepEqual(bugs, []);
  });

  it("connect within a minute once the Secret is mended", async () => {
    const west = secret("west");
    assert.ok(west !== undefined);
    const { token } = west["data"] as Record<string, string>;
    const ca = Buffer.from(world.leaderCluster.caPem).toString("base64");
    await member("west").engine.apply({ ...west, data: { token, "ca.crt": ca } });

    await world.pass(20_000);

    await until(() => ready("west") === "True" && announce("west") !== undefined);
    await until(() => status("west").readyClusters === 1);
  });

  it("write nothing anew while nothing changes", async () => {
    await world.pass(10_000);
    await until(() => overall("west") === "True" && store.condition("west", "IsLeader")?.status === "True");
    await settleIo();
    const before = ["east", "west"].map((cluster) => clusterSet(cluster)?.metadata.resourceVersion);
    const writes = store.writes;

    await world.pass(120_000);

    assert.deepEqual(
      ["east", "west"].map((cluster) => clusterSet(cluster)?.metadata.resourceVersion),
      before,
    );
    assert.equal(store.writes, writes);
  });

  it("are disconnected after three beats without their leader, and recover with the first that arrives", async () => {
    const match = { verbs: ["patch"], resource: "memberclusterannounces", user: "*:member-*" };
    const fault = world.leaderCluster.faults.add({ match, action: { kind: "reset" } });
    const since = store.condition("east", "IsLeader")?.lastTransitionTime;
    for (let i = 1; i <= 3; i += 1) {
      assert.equal(ready("east"), "True");
      const before = failures;
      await world.pass(10_000);
      await until(() => failures === before + 2);
    }
    await until(() => ready("east") === "False" && overall("east") === "False");
    assert.equal(store.condition("east", "Ready")?.cause, "APIServerUnreachable");
    assert.equal(store.condition("east", "IsLeader")?.lastTransitionTime, since);
    assert.equal(store.memberships.get("east")?.summary.state, "Disconnected");

    fault.remove();
    await world.pass(10_000);

    await until(() => ready("east") === "True" && overall("east") === "True");
    assert.equal(store.memberships.get("east")?.summary.state, "Connected");
  });

  it("keep the canary out of everything that is stored", () => {
    const tokens = ["east", "west"].map((cluster) =>
      Buffer.from(
        (secret(cluster)?.["data"] as Record<string, string> | undefined)?.["token"] ?? "",
        "base64",
      ).toString(),
    );
    const stored = JSON.stringify([[...store.memberships], [...store.conditions], store.events, status("east")]);

    for (const token of tokens) {
      assert.ok(token.length > 20);
      assert.ok(!stored.includes(token));
    }
  });
});
