import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type SimulatedCluster, startSimulatedCluster } from "../../infra/local/cluster/simulated-cluster.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { connectionFromKubeconfig } from "../../lib/kube/access/kubeconfig.ts";
import { connectionFromSecret } from "../../lib/kube/access/secret.ts";
import type { KubeClient, KubeObject, ObjectRef } from "../../lib/kube/client.ts";
import type { Connection } from "../../lib/kube/connection.ts";
import type { KubeErrorKind } from "../../lib/kube/errors.ts";
import { Connections } from "../../lib/kube/pool.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { CALL, clientOf, SECRETS } from "./client-fixture.ts";

const NAMESPACE = "antrea-mc";
const MANIFEST = `
apiVersion: v1
kind: Namespace
metadata: {name: ${NAMESPACE}}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: east, namespace: ${NAMESPACE}}
---
apiVersion: v1
kind: Secret
metadata: {name: east-token, namespace: ${NAMESPACE}, annotations: {kubernetes.io/service-account.name: east}}
type: kubernetes.io/service-account-token
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata: {name: east, namespace: ${NAMESPACE}}
rules: [{apiGroups: [""], resources: [secrets], resourceNames: [beat], verbs: [get, patch]}]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: east, namespace: ${NAMESPACE}}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: east}
subjects: [{kind: ServiceAccount, name: east, namespace: ${NAMESPACE}}]
`;

let cluster: SimulatedCluster;
let connections: Connections;
let admin: KubeClient;
let member: KubeClient;
let memberConnection: Connection;

before(async () => {
  cluster = await startSimulatedCluster({
    name: "leader",
    clock: systemClock,
    random: seededRandom(5),
    manifests: [MANIFEST],
  });
  connections = new Connections({ clock: systemClock, random: seededRandom(6), version: "9.9.9" });
  const access = await connectionFromKubeconfig(cluster.adminKubeconfig());
  assert.ok(access.ok, JSON.stringify(access));
  admin = clientOf(connections, access.value, "leader", "member");
  const secret = await admin.get(refTo("east-token"), CALL);
  assert.ok(secret.ok, JSON.stringify(secret));
  const source = { cluster: "east", namespace: NAMESPACE, name: "east-token" };
  const read = connectionFromSecret(secret.value.object, source, cluster.url);
  assert.ok(read.ok, JSON.stringify(read));
  memberConnection = read.value;
  member = clientOf(connections, memberConnection, "leader of east");
  assert.ok((await admin.create(SECRETS, NAMESPACE, secretNamed("beat"), CALL)).ok);
});

after(async () => {
  await connections.close();
  await cluster.stop();
});

function refTo(name: string): ObjectRef {
  return { type: SECRETS, namespace: NAMESPACE, name };
}

function secretNamed(name: string): KubeObject {
  return { apiVersion: "v1", kind: "Secret", metadata: { name, namespace: NAMESPACE } };
}

function kindOf(result: Awaited<ReturnType<KubeClient["get" | "delete"]>>): KubeErrorKind | "ok" {
  return result.ok ? "ok" : result.error.kind;
}

test("creates, reads, updates with the resourceVersion, patches and deletes by UID", async () => {
  const created = await admin.create(SECRETS, NAMESPACE, secretNamed("a"), CALL);
  assert.ok(created.ok);
  const again = await admin.create(SECRETS, NAMESPACE, secretNamed("a"), CALL);
  const patched = await admin.mergePatch(refTo("a"), { metadata: { labels: { x: "1" } } }, CALL);
  const stale = await admin.update(refTo("a"), created.value.object, CALL);
  const wrongUid = await admin.delete(refTo("a"), { uid: "another" }, CALL);
  const uid = created.value.object.metadata.uid ?? "";
  const deleted = await admin.delete(refTo("a"), { uid }, CALL);
  const gone = await admin.get(refTo("a"), CALL);

  assert.equal(kindOf(again), "alreadyExists");
  assert.ok(patched.ok && patched.value.object.metadata.labels?.["x"] === "1");
  assert.ok(Math.abs(patched.value.clockAheadMs ?? Number.NaN) < 2000);
  assert.equal(kindOf(stale), "conflict");
  assert.equal(kindOf(wrongUid), "conflict");
  assert.equal(kindOf(deleted), "ok");
  assert.equal(kindOf(gone), "notFound");
});

test("a dry run of a patch is answered as if, and changes nothing", async () => {
  const made = await admin.create(SECRETS, NAMESPACE, secretNamed("dry"), CALL);

  const patched = await admin.mergePatch(refTo("dry"), { metadata: { labels: { x: "1" } } }, { ...CALL, dryRun: true });
  const read = await admin.get(refTo("dry"), CALL);

  assert.ok(made.ok && patched.ok && read.ok);
  assert.deepEqual(patched.value.object.metadata.labels, { x: "1" });
  assert.deepEqual(read.value.object, made.value.object);
});

test("a dry run of a create is answered as if, and makes nothing", async () => {
  const made = await admin.create(SECRETS, NAMESPACE, secretNamed("not-made"), { ...CALL, dryRun: true });
  const read = await admin.get(refTo("not-made"), CALL);

  assert.ok(made.ok);
  assert.equal(made.value.object.metadata.name, "not-made");
  assert.equal(kindOf(read), "notFound");
});

test("lists every page of a long list", async () => {
  const names = Array.from({ length: 620 }, (_, i) => `page-${String(i).padStart(3, "0")}`);
  for (const name of names) {
    await cluster.engine.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name, namespace: NAMESPACE, labels: { l: "y" } },
    });
  }

  const listed = await admin.list(SECRETS, NAMESPACE, { ...CALL, labelSelector: "l=y" });

  assert.ok(listed.ok, JSON.stringify(listed));
  assert.deepEqual(new Set(listed.value.items.map((item) => item.metadata.name)), new Set(names));
  assert.equal(listed.value.items.length, names.length);
  assert.match(listed.value.resourceVersion, /^\d+$/);
});

test("tells what RBAC refuses, an invalid object and an unknown resource", async () => {
  const forbidden = await member.get(refTo("east-token"), CALL);
  const invalid = await admin.create(SECRETS, NAMESPACE, secretNamed("No Such Name"), CALL);
  const unknown = await admin.list({ group: "nobody.example", version: "v1", resource: "things" }, undefined, CALL);

  assert.equal(kindOf(forbidden), "forbidden");
  assert.match(forbidden.ok ? "" : forbidden.error.message, /system:serviceaccount:antrea-mc:east/);
  assert.equal(kindOf(invalid), "invalid");
  assert.equal(unknown.ok ? "ok" : unknown.error.kind, "notFound");
});

test("reads the version and health", async () => {
  const version = await member.getText("/version", CALL);
  const health = await member.getText("/livez", CALL);

  assert.match(version.ok ? version.value.object : version.error.message, /gitVersion/);
  assert.equal(health.ok ? health.value.object : health.error.message, "ok");
});

test("a 401 of one member does not fail the beats of the others", async () => {
  const revoked = clientOf(
    connections,
    { ...memberConnection, credential: { kind: "token", token: "revoked" } },
    "leader of west",
  );
  const fault = cluster.faults.add({ match: { verbs: ["patch"] }, action: { kind: "latency", ms: 100 } });

  const beats = Array.from({ length: 20 }, () => member.mergePatch(refTo("beat"), {}, CALL));
  const refused = await revoked.mergePatch(refTo("beat"), {}, CALL);
  const results = await Promise.all(beats);

  assert.equal(kindOf(refused), "unauthorized");
  assert.deepEqual(new Set(results.map(kindOf)), new Set(["ok"]));
  fault.remove();
  await revoked.close();
});

for (const [name, action, kind] of [
  ["reset", { kind: "reset" }, "ok"],
  ["a truncated answer", { kind: "truncate", bytes: 20 }, "ok"],
  ["half an answer that claims to be whole", { kind: "truncate", bytes: 20, clean: true }, "unexpected"],
  ["a hang", { kind: "hang" }, "timeout"],
  ["a connection that dies without a word", { kind: "halfOpen" }, "timeout"],
] as const) {
  test(`comes through ${name}: ${kind}, and well with the next request`, async () => {
    const fault = cluster.faults.add({ match: { name: "beat", verbs: ["patch"] }, action, times: 1 });

    const hit = await member.mergePatch(refTo("beat"), {}, { timeoutMs: 500 });
    const next = await member.mergePatch(refTo("beat"), {}, CALL);

    assert.equal(kindOf(hit), kind);
    assert.equal(kindOf(next), "ok", next.ok ? "" : next.error.message);
    fault.remove();
  });
}

test("is back with the API server", async () => {
  await cluster.stopServing();
  const down = await member.mergePatch(refTo("beat"), {}, CALL);
  await cluster.resumeServing();
  const up = await member.mergePatch(refTo("beat"), {}, CALL);

  assert.equal(kindOf(down), "network");
  assert.equal(kindOf(up), "ok");
});

test("leaves no connection behind", async () => {
  await admin.close();
  await member.close();

  assert.equal(connections.stats.sockets, 0);
  await until(() => cluster.server.connectionCounts.open === 0);
});
