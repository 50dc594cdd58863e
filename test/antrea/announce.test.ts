import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { isStale } from "../../infra/local/leader/stale.ts";
import { type BeatObservation, sendBeat } from "../../lib/antrea/announce.ts";
import type { ClusterSetSpec } from "../../lib/antrea/cluster-set.ts";
import { leaderFault } from "../../lib/antrea/fault.ts";
import type { LeaderCluster } from "../../lib/antrea/ports.ts";
import { announceRef } from "../../lib/antrea/resources.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { parseServerUrl } from "../../lib/kube/server-url.ts";
import { settleIo, until } from "../support/until.ts";
import { type AntreaWorld, startAntreaWorld } from "./antrea-world.ts";
import { COMMON_AREA } from "./role-harness.ts";

const CALL = { timeoutMs: 5_000 };

describe("a beat, against a leader over HTTPS", { timeout: 60_000 }, () => {
  let world: AntreaWorld;
  let east: LeaderCluster;
  let count = 0;
  before(async () => {
    world = await startAntreaWorld("east");
    east = world.leaderAs("member-east");
  });
  after(async () => await world.end());
  beforeEach(async () => {
    const admin = await world.leaderAsAdmin();
    await alter({ finalizers: [] });
    await admin.delete(announceRef(COMMON_AREA, "east"), {}, CALL);
    await until(() => announce("east") === undefined);
    await settleIo();
  });
  /** Changes the announce's metadata as the API server itself: the leader's webhook lets no administrator do that. */
  const alter = async (metadata: Record<string, unknown>): Promise<void> => {
    const there = announce("east");
    if (there === undefined) return;
    await world.leaderCluster.engine.apply({ ...there, metadata: { ...there.metadata, ...metadata } });
  };

  const announce = (id: string) =>
    world.leaderCluster.engine.readOne(
      "multicluster.crd.antrea.io",
      "memberclusterannounces",
      COMMON_AREA,
      `member-announce-from-${id}`,
    );
  const touch = (): string => new Date(Date.now() + (count += 1) * 1_000).toISOString();
  const send = async (more: Partial<ClusterSetSpec> = {}, as = east, mayCreate = true): Promise<BeatObservation> =>
    await sendBeat(as, world.spec("east", more), touch, {
      clock: systemClock,
      timeoutMs: 5_000,
      mayCreate: async () => mayCreate,
    });
  /** The refusal of a beat that must be refused. */
  const refused = async (more: Partial<ClusterSetSpec>, as = east) => {
    const seen = await send(more, as);
    assert.ok(seen.kind === "failed", `the beat was ${seen.kind}`);
    return { ...leaderFault(seen.error), found: seen.found };
  };
  const account = async (
    name: string,
    annotations: Record<string, string>,
    namespace = COMMON_AREA,
  ): Promise<LeaderCluster> => {
    const subjects = [{ kind: "ServiceAccount", name, namespace }];
    const metadata = { name, namespace };
    await world.leaderCluster.engine.apply({
      apiVersion: "v1",
      kind: "ServiceAccount",
      metadata: { ...metadata, annotations },
    });
    await world.leaderCluster.engine.apply({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "RoleBinding",
      metadata: { name, namespace: COMMON_AREA },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "antrea-mc-member-cluster-role" },
      subjects,
    });
    return world.leaderAs(name, namespace);
  };

  it("creates the announce with the three IDs and its time where there is none", async () => {
    const seen = await send();

    assert.deepEqual(seen, { kind: "ok", found: false, mismatches: [], terminating: false });
    const made = announce("east");
    assert.deepEqual(
      [made?.["clusterID"], made?.["clusterSetID"], made?.["leaderClusterID"]],
      ["east", "set", "north"],
    );
    assert.ok(made !== undefined && !isStale(JSON.parse(JSON.stringify(made)), Date.now()));
  });

  it("is one PATCH where there is one, and keeps finalizers and annotations of others", async () => {
    await send();
    await until(() => announce("east")?.metadata.finalizers?.length === 1);
    await alter({ annotations: { ...announce("east")?.metadata.annotations, by: "admin" } });
    const before = announce("east");
    const isOurs = ({ user }: { readonly user: string | undefined }): boolean =>
      user?.endsWith(":member-east") === true;
    const seenBefore = world.leaderCluster.requestLog.entries(isOurs).length;

    const seen = await send();

    assert.deepEqual(seen, { kind: "ok", found: true, mismatches: [], terminating: false });
    const now = announce("east");
    assert.deepEqual(now?.metadata.finalizers, ["memberclusterannounce.finalizer.antrea.io/east"]);
    assert.equal(now?.metadata.annotations?.["by"], "admin");
    assert.notEqual(now?.metadata.annotations?.["touch-ts"], before?.metadata.annotations?.["touch-ts"]);
    assert.equal(now?.metadata.generation, before?.metadata.generation);
    assert.deepEqual(
      world.leaderCluster.requestLog
        .entries(isOurs)
        .slice(seenBefore)
        .map(({ verb }) => verb),
      ["patch"],
    );
  });

  it("is not failed by somebody who creates the announce at the same moment", async () => {
    const both = await Promise.all([send(), send(), send(), send()]);

    assert.deepEqual(
      both.map(({ kind }) => kind),
      ["ok", "ok", "ok", "ok"],
    );
    assert.equal(both.filter((seen) => seen.kind === "ok" && !seen.found).length, 1);
  });

  it("is sent again once after a conflict, and failed by a second one", async () => {
    await send();
    const conflict = { kind: "status", code: 409, reason: "Conflict", message: "try again" } as const;
    const match = { verbs: ["patch"], resource: "memberclusterannounces" };
    world.leaderCluster.faults.add({ match, action: conflict, times: 1 });
    assert.equal((await send()).kind, "ok");

    const fault = world.leaderCluster.faults.add({ match, action: conflict });
    const seen = await send();
    fault.remove();

    assert.ok(seen.kind === "failed");
    assert.deepEqual([seen.error.kind, seen.found], ["conflict", true]);
    assert.equal(fault.hits, 2);
  });

  it("makes no announce where that is not allowed", async () => {
    assert.deepEqual(await send({}, east, false), { kind: "withheld" });
    assert.equal(announce("east"), undefined);
  });

  it("counts on an announce that is being deleted, and says so", async () => {
    await send();
    const admin = await world.leaderAsAdmin();
    await alter({ finalizers: ["example.com/keep"] });
    await admin.delete(announceRef(COMMON_AREA, "east"), {}, CALL);

    const seen = await send();

    assert.deepEqual(seen, { kind: "ok", found: true, mismatches: [], terminating: true });
  });

  it("reports IDs other than its own", async () => {
    await send();
    const admin = await world.leaderAsAdmin();
    await world.leader.stopWebhook();
    await world.leaderCluster.engine.apply({ ...announce("east"), clusterSetID: "other" });
    await world.leader.startWebhook();

    const seen = await send();

    assert.deepEqual(seen.kind === "ok" && seen.mismatches, [{ field: "clusterSetID", wanted: "set", found: "other" }]);
    await admin.close();
  });

  it("ends within its time limit when the leader hangs", async () => {
    // Connected before: what takes its time is the answer.
    await send();
    const fault = world.leaderCluster.faults.add({ match: { verbs: ["patch"] }, action: { kind: "hang" } });
    const seen = await sendBeat(east, world.spec("east"), touch, {
      clock: systemClock,
      timeoutMs: 600,
      mayCreate: async () => true,
    });
    fault.remove();

    assert.ok(seen.kind === "failed");
    assert.equal(leaderFault(seen.error).cause, "TimedOut");
  });

  it("gets through in the end when two of its requests are lost in silence", async () => {
    await send();
    const match = { verbs: ["patch"] };
    const fault = world.leaderCluster.faults.add({ match, action: { kind: "hang" }, times: 2 });
    const options = { clock: systemClock, timeoutMs: 600, mayCreate: async () => true };
    const stamps: string[] = [];
    const stamp = (): string => stamps[stamps.push(touch()) - 1] ?? "";
    const seen = await sendBeat(east, world.spec("east"), stamp, options);
    fault.remove();

    assert.equal(seen.kind, "ok");
    assert.equal(new Set(stamps).size, 3, "each try is news to the leader");
    assert.equal(announce("east")?.metadata.annotations?.["touch-ts"], stamps.at(-1));
  });

  it("gives a leader that was found slow its whole time for one answer", async () => {
    await send();
    const sent = (): number => world.leaderCluster.requestLog.entries(({ verb }) => verb === "patch").length;
    const fault = world.leaderCluster.faults.add({ match: { verbs: ["patch"] }, action: { kind: "hang" } });
    const before = sent();
    const options = { clock: systemClock, timeoutMs: 300, patient: true, mayCreate: async () => true };
    const seen = await sendBeat(east, world.spec("east"), touch, options);
    fault.remove();

    assert.equal(seen.kind, "failed");
    assert.ok(sent() - before <= 1);
  });

  it("tells a leader whose controller is down from one that cannot be reached", async () => {
    await send();
    await world.leader.stopWebhook();
    const fault = await refused({});
    await world.leader.startWebhook();

    assert.equal(fault.cause, "LeaderWebhookUnavailable");
    assert.match(fault.message, /failed calling webhook/);
    assert.equal(fault.found, true);
  });

  it("asks for nothing outside of the common area", () => {
    const asked = world.leaderCluster.requestLog.entries(({ user }) => user?.endsWith(":member-east") === true);

    assert.ok(asked.length > 0);
    for (const { namespace, resource } of asked) {
      assert.deepEqual([namespace, resource], [COMMON_AREA, "memberclusterannounces"]);
    }
  });

  it("shows 4,096 bytes at most of a huge answer, and nothing of the token in it", async () => {
    const token = world.leaderCluster.tokenFor(COMMON_AREA, "member-east");
    const connection = { credential: { kind: "token", token }, ca: world.leaderCluster.caPem } as const;
    const server = parseServerUrl(world.leaderCluster.url);
    assert.ok(server.ok);
    const client = world.connector.connectLeader("leader of east", { ...connection, server: server.value });
    const body = `${"x".repeat(200)} ${token} ${"€".repeat(16_000)}`;
    const action = { kind: "status", code: 500, body, headers: { "content-type": "text/html" } } as const;
    const fault = world.leaderCluster.faults.add({ match: { verbs: ["patch"] }, action });

    const { message } = await refused({}, client);
    fault.remove();

    assert.ok(Buffer.byteLength(message) <= 4_096);
    assert.ok(!message.includes(token));
    assert.match(message, /500/);
    assert.ok(message.isWellFormed());
  });

  it("says that the common area is missing", async () => {
    await world.leaderCluster.engine.apply({
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRoleBinding",
      metadata: { name: "east-everywhere" },
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "ClusterRole", name: "cluster-admin" },
      subjects: [{ kind: "ServiceAccount", name: "member-east", namespace: COMMON_AREA }],
    });
    const fault = await refused({ commonArea: "nowhere" });
    const admin = await world.leaderAsAdmin();
    const type = { group: "rbac.authorization.k8s.io", version: "v1", resource: "clusterrolebindings" };
    await admin.delete({ type, name: "east-everywhere" }, {}, CALL);

    assert.equal(fault.cause, "CommonAreaNotFound");
  });

  it("says that rights are missing", async () => {
    assert.equal((await refused({ commonArea: "kube-public" })).cause, "PermissionDenied");
  });

  describe("refused by the leader, with the leader's words", () => {
    it("for another ClusterSet", async () => {
      const fault = await refused({ clusterSetID: "other" });
      assert.equal(fault.cause, "DeniedByLeaderWebhook");
      assert.match(fault.message, /Unknown ClusterSet ID/);
    });

    it("for a leader that has no ClusterSet (any more), until it has one again", async () => {
      const admin = await world.leaderAsAdmin();
      const type = { group: "multicluster.crd.antrea.io", version: "v1alpha2", resource: "clustersets" };
      const ref = { type, namespace: COMMON_AREA, name: "set" };
      const set = await admin.get(ref, CALL);
      assert.ok(set.ok);
      const deleted = await admin.delete(ref, {}, CALL);
      assert.ok(deleted.ok, deleted.ok ? "" : deleted.error.message);

      const fault = await refused({});
      const { spec } = set.value.object;
      const metadata = { name: "set", namespace: COMMON_AREA };
      const again = { apiVersion: `${type.group}/${type.version}`, kind: "ClusterSet", metadata, spec };
      assert.ok((await admin.create(type, COMMON_AREA, again, CALL)).ok);

      assert.equal(fault.cause, "DeniedByLeaderWebhook");
      assert.match(fault.message, /no ClusterSet found in Namespace antrea-multicluster/);
      assert.equal((await send()).kind, "ok");
    });

    it("for another leader", async () => {
      const fault = await refused({ leaderClusterID: "south" });
      assert.equal(fault.cause, "DeniedByLeaderWebhook");
      assert.match(fault.message, /Leader cluster ID .* does not match/);
    });

    it("for a ServiceAccount that is not bound to the ID, or to another one", async () => {
      const bare = await refused({}, await account("bare", {}));
      const other = await refused({}, await account("other", { "multicluster.antrea.io/cluster-id": "elsewhere" }));

      for (const fault of [bare, other]) {
        assert.equal(fault.cause, "DeniedByLeaderWebhook");
        assert.match(fault.message, /multicluster\.antrea\.io\/cluster-id/);
      }
    });

    it("at every beat, once the annotation has gone", async () => {
      await send();
      await account("member-east", {});
      const fault = await refused({});
      await account("member-east", { "multicluster.antrea.io/cluster-id": "east" });

      assert.deepEqual([fault.cause, fault.found], ["DeniedByLeaderWebhook", true]);
      assert.equal((await send()).kind, "ok");
    });

    it("for an ID that forms a prefix pair with another, whichever is longer", async () => {
      for (const id of ["east-1", "eas"]) {
        const name = `member-${id}`;
        const annotations = { "multicluster.antrea.io/cluster-id": id };
        const client = await account(name, annotations);
        if (id === "eas") await account("member-eas-2", { "multicluster.antrea.io/cluster-id": "eas-2" });

        const fault = await refused({ clusterID: id }, client);

        assert.equal(fault.cause, "DeniedByLeaderWebhook");
        assert.match(fault.message, /conflicts with an existing member's ClusterID/);
      }
      const admin = await world.leaderAsAdmin();
      const type = { group: "", version: "v1", resource: "serviceaccounts" };
      for (const name of ["member-east-1", "member-eas", "member-eas-2"]) {
        await admin.delete({ type, namespace: COMMON_AREA, name }, {}, CALL);
      }
    });

    it("for a ServiceAccount of another Namespace", async () => {
      const client = await account("stranger", { "multicluster.antrea.io/cluster-id": "east" }, "kube-public");

      const fault = await refused({}, client);

      assert.equal(fault.cause, "DeniedByLeaderWebhook");
      assert.match(fault.message, /is not in Namespace/);
    });

    it("for anyone but a ServiceAccount", async () => {
      const fault = await refused({}, await world.leaderAsAdmin());

      assert.match(fault.message, /Username must be in the form/);
      assert.equal(fault.cause, "DeniedByLeaderWebhook");
    });

    it("for a token whose ServiceAccount was deleted", async () => {
      const client = await account("gone", { "multicluster.antrea.io/cluster-id": "gone" });
      const admin = await world.leaderAsAdmin();
      const type = { group: "", version: "v1", resource: "serviceaccounts" };
      await admin.delete({ type, namespace: COMMON_AREA, name: "gone" }, {}, CALL);

      assert.equal((await refused({ clusterID: "gone" }, client)).cause, "CredentialRefused");
    });
  });

  it("keeps the member connected by the leader's own rule, which counts 30 to 40 s of silence as an end", async () => {
    const connected = (): boolean | undefined => world.leader.members().find((m) => m.clusterId === "east")?.connected;
    await send();
    await until(() => connected() === true);
    await until(() => announce("east")?.metadata.finalizers?.length === 1);
    await settleIo();

    await world.clock.advance(30_000);
    assert.equal(connected(), true);
    await world.clock.advance(11_000);
    assert.equal(connected(), false);

    await send();
    await settleIo();
    await world.clock.advance(10_000);
    assert.equal(connected(), true);
  });
});
