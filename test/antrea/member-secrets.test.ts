import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { until } from "../support/until.ts";
import { type AntreaWorld, startAntreaWorld } from "./antrea-world.ts";
import { NAMESPACE, type WireStatus } from "./role-harness.ts";
import { startWorkingRole, type WorkingRole } from "./working-role.ts";

const SECRET = "leader-token";
const base64 = (text: string): string => Buffer.from(text).toString("base64");

type Data = Readonly<Record<string, string>>;

/** What the Secret of a member holds instead of what it should, and what is said of it; by cluster. */
const CASES: Readonly<Record<string, readonly [spoil: (good: Data) => Data | undefined, words: RegExp]>> = {
  "without-ca": [({ token = "" }) => ({ token }), /ca\.crt data not found in Secret leader-token/],
  "empty-ca": [(good) => ({ ...good, "ca.crt": "" }), /ca\.crt data not found in Secret leader-token/],
  "bad-ca": [(good) => ({ ...good, "ca.crt": base64("hello") }), /ca\.crt of Secret leader-token is not PEM/],
  "without-token": [({ "ca.crt": ca = "" }) => ({ "ca.crt": ca }), /token not found in Secret leader-token/],
  "empty-token": [(good) => ({ ...good, token: "" }), /token not found in Secret leader-token/],
  "no-secret": [() => undefined, /Secret leader-token not found/],
};

describe("a member's Secret, over HTTPS", { timeout: 60_000 }, () => {
  let world: AntreaWorld;
  let role: WorkingRole;
  const bad = Object.keys(CASES);
  const good = new Map<string, Data>();
  const ready = (cluster: string) => role.store.condition(cluster, "Ready");
  const engine = (cluster: string) => {
    const found = world.memberClusters.get(cluster);
    assert.ok(found !== undefined);
    return found.engine;
  };
  const secretOf = (cluster: string) => engine(cluster).readOne("", "secrets", NAMESPACE, SECRET);
  const dataOf = (cluster: string): Data => (secretOf(cluster)?.["data"] ?? {}) as Data;
  const write = async (cluster: string, data: Data): Promise<void> => {
    const metadata = { name: SECRET, namespace: NAMESPACE };
    await engine(cluster).apply({ apiVersion: "v1", kind: "Secret", metadata, type: "Opaque", data });
  };
  const remove = async (cluster: string): Promise<void> => {
    const admin = await world.memberAsAdmin(cluster);
    const type = { group: "", version: "v1", resource: "secrets" };
    const deleted = await admin.delete({ type, namespace: NAMESPACE, name: SECRET }, {}, { timeoutMs: 5_000 });
    assert.ok(deleted.ok);
  };
  const asked = (cluster: string): number =>
    world.leaderCluster.requestLog.entries(({ user }) => user?.endsWith(`:member-${cluster}`) === true).length;
  const status = (cluster: string): WireStatus =>
    (engine(cluster).readOne("multicluster.crd.antrea.io", "clustersets", NAMESPACE, "set")?.["status"] ??
      {}) as WireStatus;

  before(async () => {
    world = await startAntreaWorld("newline", "good", ...bad);
    for (const [cluster, [spoil]] of Object.entries(CASES)) {
      good.set(cluster, dataOf(cluster));
      const spoiled = spoil(dataOf(cluster));
      if (spoiled === undefined) await remove(cluster);
      else await write(cluster, spoiled);
    }
    const { token = "", ...more } = dataOf("newline");
    await write("newline", { ...more, token: base64(`${Buffer.from(token, "base64").toString()}\n`) });
    role = await startWorkingRole(world, ["newline", "good", ...bad]);
  });
  after(async () => {
    await role.end();
    await world.end();
  });

  it("that cannot be used asks nothing of the leader, and is named with what is missing and how to make it right", async () => {
    await world.pass(10_000);
    await until(() => bad.every((cluster) => status(cluster).conditions?.[0]?.["status"] === "False"));

    for (const [cluster, [, words]] of Object.entries(CASES)) {
      const { status: shown, reason, cause, message = "" } = ready(cluster) ?? {};
      assert.deepEqual([shown, reason, cause], ["False", "Disconnected", "ConfigurationInvalid"], cluster);
      assert.match(message, words);
      assert.match(message, new RegExp(`${cluster}.*kube-system|kube-system.*${cluster}`));
      assert.match(message, /kubectl/);
      assert.doesNotMatch(message, /\n|\bat .*\.ts/, "no stack");
      assert.equal(status(cluster).clusterStatuses?.[0]?.conditions[0]?.["message"], message);
      assert.equal(asked(cluster), 0, cluster);
    }
  });

  it("whose token ends with a newline connects, and so does every other one", async () => {
    await until(() => ["newline", "good"].every((cluster) => ready(cluster)?.status === "True"));

    assert.ok(asked("newline") > 0);
  });

  it("that is mended connects within a minute, without any command", async () => {
    for (const [cluster, data] of good) await write(cluster, data);

    await world.pass(60_000);

    await until(() => bad.every((cluster) => ready(cluster)?.status === "True"));
    await until(() => bad.every((cluster) => status(cluster).readyClusters === 1));
    assert.deepEqual(role.bugs, []);
  });

  it("leaves no part of its token in the table, the history or any status", () => {
    const written = JSON.stringify([
      [...role.store.memberships],
      [...role.store.conditions],
      role.store.events,
      role.rounds,
      [...world.memberClusters.keys()].map(status),
    ]);

    for (const cluster of ["newline", "good", ...bad]) {
      const encoded = dataOf(cluster)["token"] ?? "";
      const token = Buffer.from(encoded, "base64").toString().trim();
      assert.ok(token.length > 40);
      for (const part of [token.slice(-20), encoded.slice(0, 24)]) assert.ok(!written.includes(part), cluster);
    }
  });
});
