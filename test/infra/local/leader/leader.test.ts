import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer } from "node:net";
import { describe, it } from "node:test";
import { startLeader } from "../../../../infra/local/leader/leader.ts";
import { paths } from "../../../../infra/local/leader/resources.ts";
import { until } from "../../../support/until.ts";
import { AREA, LeaderUnderTest } from "./leader-under-test.ts";

const FINALIZER = "memberclusterannounce.finalizer.antrea.io/east";

interface WireStatus {
  readonly totalClusters?: number;
  readonly readyClusters?: number;
  readonly conditions?: readonly Record<string, string>[];
  readonly clusterStatuses?: readonly { readonly clusterID: string; readonly conditions: Record<string, string>[] }[];
}

function exportOf(name: string, clusterID: string): Record<string, unknown> {
  return {
    apiVersion: "multicluster.crd.antrea.io/v1alpha1",
    kind: "ResourceExport",
    metadata: { name, namespace: AREA },
    spec: { clusterID },
  };
}

async function listens(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  return await new Promise((resolve) => {
    socket.once("connect", () => resolve(true)).once("error", () => resolve(false));
  }).then((answer) => (socket.destroy(), answer === true));
}

describe("the simulated leader, over HTTPS", { timeout: 60_000 }, () => {
  it("puts its finalizer on an announce at first sight and keeps what members wrote", async (t) => {
    const north = await LeaderUnderTest.prepare(t, "east");
    await north.start();

    const { code } = await north.announce("east");
    await until(() => north.stored("east")?.metadata.finalizers?.length === 1);
    await north.settle();

    assert.equal(code, 201);
    assert.deepEqual(north.stored("east")?.metadata.finalizers, [FINALIZER]);
    assert.notEqual(north.stored("east")?.metadata.annotations?.["touch-ts"], undefined);
    const [member] = north.leader.members();
    assert.deepEqual([member?.clusterId, member?.connected, member?.message], ["east", true, "Member Connected"]);
  });

  it("calls a member disconnected 30 to 40 s after its last announce, and connected within 10 s of the next", async (t) => {
    const north = await LeaderUnderTest.prepare(t, "east", "west");
    await north.start();
    await north.announce("east");
    await north.announce("west");
    await until(() => north.leader.members().length === 2 && north.stored("west")?.metadata.finalizers?.length === 1);
    await north.settle();
    const connected = (): unknown => north.leader.members().map((m) => [m.clusterId, m.connected]);

    for (let i = 0; i < 3; i += 1) {
      await north.pass(10_000);
      assert.equal((await north.touch("west")).code, 200);
      await north.settle();
    }
    assert.deepEqual(connected(), [
      ["east", true],
      ["west", true],
    ]);
    await north.pass(10_000);
    assert.deepEqual(connected(), [
      ["east", false],
      ["west", true],
    ]);
    const lost = north.leader.members()[0];
    assert.match(lost?.message ?? "", /^No MemberClusterAnnounce update after /);

    await north.touch("east");
    await north.settle();
    await north.pass(10_000);

    assert.deepEqual(connected(), [
      ["east", true],
      ["west", true],
    ]);
    assert.equal(lost?.message === north.leader.members()[0]?.message, false);
  });

  it("writes the ClusterSet's status every 30 s, from all members, and moves times only with a status", async (t) => {
    const north = await LeaderUnderTest.prepare(t, "east", "west");
    await north.start();
    await north.announce("east");
    await north.announce("west");
    await until(() => north.leader.members().length === 2);
    await north.settle();
    const status = (): WireStatus => (north.read("clustersets", "set")?.["status"] ?? {}) as WireStatus;
    const isWrite = (e: { readonly verb: string; readonly subresource: string | undefined }): boolean =>
      e.verb === "update" && e.subresource === "status";
    const began = north.clock.now().getTime();

    await north.pass(30_000);
    assert.equal(north.cluster.requestLog.entries(isWrite).length, 1);
    assert.deepEqual([status().totalClusters, status().readyClusters], [2, 2]);
    const [ready] = status().conditions ?? [];
    assert.deepEqual([ready?.["type"], ready?.["status"], ready?.["reason"]], ["Ready", "True", undefined]);

    for (let i = 0; i < 6; i += 1) {
      await north.touch("west");
      await north.settle();
      await north.pass(10_000);
    }

    assert.equal(north.cluster.requestLog.entries(isWrite).length, 3);
    assert.deepEqual([status().totalClusters, status().readyClusters], [2, 1]);
    const [lost] = status().conditions ?? [];
    assert.deepEqual([lost?.["status"], lost?.["reason"]], ["False", "NoReadyCluster"]);
    const east = status().clusterStatuses?.find((c) => c.clusterID === "east")?.conditions[0];
    assert.deepEqual([east?.["type"], east?.["status"], east?.["reason"]], ["Ready", "False", "Disconnected"]);
    assert.equal(Date.parse(east?.["lastTransitionTime"] ?? ""), Math.floor((began + 40_000) / 1_000) * 1_000);
    const west = status().clusterStatuses?.find((c) => c.clusterID === "west")?.conditions[0];
    assert.deepEqual(
      [west?.["status"], west?.["reason"], west?.["message"]],
      ["True", "Connected", "Member Connected"],
    );
    assert.ok(Date.parse(west?.["lastTransitionTime"] ?? "") <= began);
  });

  it("sweeps announces that nobody touched for a day, when it starts and every 12 h", async (t) => {
    const north = await LeaderUnderTest.prepare(t, "east");
    const old = (hours: number): string => new Date(north.clock.now().getTime() - hours * 3_600_000).toISOString();
    const touched: Record<string, string | undefined> = {
      fresh: old(11),
      fading: old(23),
      stale: old(25),
      garbled: "yesterday",
      untouched: undefined,
    };
    for (const [id, touch] of Object.entries(touched)) {
      const metadata = { name: `member-announce-from-${id}`, namespace: AREA };
      const annotations = touch === undefined ? {} : { "touch-ts": touch };
      await north.cluster.engine.apply(north.announceOf(id, { metadata: { ...metadata, annotations } }));
    }
    await north.cluster.engine.apply(exportOf("of-fading", "fading"));
    await north.cluster.engine.apply(exportOf("of-fresh", "fresh"));
    const there = (): string[] => Object.keys(touched).filter((id) => north.stored(id) !== undefined);

    await north.start();
    await until(() => there().length === 2);
    assert.deepEqual(there(), ["fresh", "fading"]);

    await north.pass(12 * 3_600_000 - 1_000, 12 * 3_600_000);
    assert.deepEqual(there(), ["fresh", "fading"]);
    await north.pass(1_000);
    await until(() => there().length === 1);
    assert.deepEqual(there(), ["fresh"]);
    assert.deepEqual(
      ["of-fading", "of-fresh"].filter((name) => north.read("resourceexports", name) !== undefined),
      ["of-fresh"],
    );
  });

  it("lets a departing member go when its exports are gone, and asks again until they are", async (t) => {
    const north = await LeaderUnderTest.prepare(t, "east", "west");
    await north.start();
    await north.announce("east");
    await until(() => north.stored("east")?.metadata.finalizers?.length === 1);
    // The field counts, not the name.
    for (const [name, id] of [
      ["east-a", "east"],
      ["west-b", "east"],
      ["east-c", "west"],
    ] as const) {
      await north.cluster.engine.apply(exportOf(name, id));
    }
    const exports = (): string[] =>
      ["east-a", "west-b", "east-c"].filter((name) => north.read("resourceexports", name) !== undefined);
    const refuse = { kind: "status", code: 500, message: "out of order" } as const;
    const byLeader = { user: "*:antrea-mc-controller" };
    north.cluster.faults.add({
      match: { ...byLeader, verbs: ["delete"], resource: "resourceexports", name: "west-b" },
      action: refuse,
      times: 1,
    });
    const noPut = north.cluster.faults.add({ match: { ...byLeader, verbs: ["update"] }, action: refuse, times: 1 });

    const path = `${paths.announces(AREA)}/member-announce-from-east`;
    const answer = await (await north.as("east")).request("DELETE", path);
    await until(() => exports().length === 2);
    await north.settle();

    assert.equal(answer.code, 200);
    assert.deepEqual(north.leader.members(), []);
    assert.deepEqual(exports(), ["west-b", "east-c"]);
    assert.deepEqual(north.stored("east")?.metadata.finalizers, [FINALIZER]);
    await north.pass(1_000);
    assert.deepEqual(exports(), ["east-c"]);
    assert.equal(noPut.hits, 1);
    assert.deepEqual(north.stored("east")?.metadata.finalizers, [FINALIZER]);
    await north.pass(1_000);
    assert.equal(north.stored("east"), undefined);
    assert.deepEqual(exports(), ["east-c"]);
    assert.equal((await north.announce("east")).code, 201);
  });

  it("fails every write of an announce while its webhook is down", async (t) => {
    const north = await LeaderUnderTest.prepare(t, "east");
    await north.start();
    await north.announce("east");
    await until(() => north.stored("east")?.metadata.finalizers?.length === 1);

    await north.leader.stopWebhook();
    const down = await north.touch("east");
    await north.leader.startWebhook();
    const up = await north.touch("east");

    assert.equal(down.code, 500);
    assert.match(down.body.message ?? "", /failed calling webhook "vmemberclusterannounce\.kb\.io"/);
    assert.equal(up.code, 200);
  });

  it("refuses an announce under another name and any change of its IDs, whoever asks", async (t) => {
    const north = await LeaderUnderTest.prepare(t, "east");
    await north.start();
    const name = "member-announce-from-west";
    const misnamed = await north.announce("east", { metadata: { name, namespace: AREA } });
    await north.announce("east");

    const changes = [];
    for (const field of ["clusterSetID", "leaderClusterID", "clusterID"]) {
      changes.push(await north.touch("east", { [field]: "other" }));
    }

    const denied = 'admission webhook "vmemberclusterannounce.kb.io" denied the request: ';
    assert.deepEqual(
      [misnamed.code, misnamed.body.message],
      [403, `${denied}MemberClusterAnnounce name must be "member-announce-from-east"`],
    );
    assert.deepEqual(
      changes.map(({ code, body }) => [code, body.message?.replace(denied, "").replace(/ is not permitted.*/, "")]),
      [
        [403, "ClusterSet ID or Leader Cluster ID cannot be changed"],
        [403, "ClusterSet ID or Leader Cluster ID cannot be changed"],
        // The identity is looked at first: east's ServiceAccount may not write for another.
        [403, 'ClusterID "other"'],
      ],
    );
    assert.equal(north.stored("east")?.["clusterID"], "east");
  });

  it("keeps its ClusterSet as long as there are announces", async (t) => {
    const north = await LeaderUnderTest.prepare(t, "east");
    await north.start();
    await north.announce("east");
    const admin = await north.as();

    const kept = await admin.request("DELETE", `${paths.clusterSets(AREA)}/set`);
    await admin.request("DELETE", `${paths.announces(AREA)}/member-announce-from-east`);
    await until(() => north.stored("east") === undefined);
    const gone = await admin.request("DELETE", `${paths.clusterSets(AREA)}/set`);
    const late = await north.announce("east");

    assert.equal(kept.code, 412);
    assert.match(kept.body.message ?? "", /there are MemberClusterAnnounces/);
    assert.equal(gone.code, 200);
    assert.equal(late.code, 412);
    assert.match(late.body.message ?? "", new RegExp(`no ClusterSet found in Namespace ${AREA}`));
  });

  it("works on although the API server did not answer its first questions", async (t) => {
    const north = await LeaderUnderTest.prepare(t, "east");
    const match = { verbs: ["list"], resource: "memberclusterannounces" };
    const fault = north.cluster.faults.add({ match, action: { kind: "reset" } });
    const starting = north.start();
    await until(() => fault.hits > 0);
    await north.settle();
    fault.remove();
    await north.pass(2_000, 1_000);
    await starting;

    await north.announce("east");

    await until(() => north.stored("east")?.metadata.finalizers?.length === 1);
  });

  it("leaves no server behind when it may not install its webhook", async (t) => {
    const north = await LeaderUnderTest.prepare(t, "east");
    const spare = createServer().listen(0, "127.0.0.1");
    await once(spare, "listening");
    const { port } = spare.address() as AddressInfo;
    spare.close();
    await once(spare, "close");

    const starting = startLeader({
      kubeconfig: await north.cluster.kubeconfigFor({ serviceAccount: { namespace: AREA, name: "member-east" } }),
      namespace: AREA,
      clock: north.clock,
      webhookTls: { ...(await north.cluster.authority.issueServer(["127.0.0.1"])), ca: north.cluster.caPem },
      webhookPort: port,
    });

    await assert.rejects(starting, /the leader's webhook configuration: 403/);
    assert.equal(await listens(port), false);
  });
});
