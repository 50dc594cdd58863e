import assert from "node:assert/strict";
import { test } from "node:test";
import type { SimulatedCluster } from "../../../../../infra/local/cluster/simulated-cluster.ts";
import { call, connect, startCluster } from "./cluster-under-test.ts";

const ACCOUNTS = "/api/v1/namespaces/common/serviceaccounts";
const SECRETS = "/api/v1/namespaces/common/secrets";
const ONBOARDING = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: east, namespace: common}
---
apiVersion: v1
kind: Secret
metadata:
  name: east-token
  namespace: common
  annotations: {kubernetes.io/service-account.name: east}
type: kubernetes.io/service-account-token
---
apiVersion: v1
kind: Namespace
metadata: {name: common}
`;

function tokenIn(cluster: SimulatedCluster): string {
  const data = cluster.engine.readOne("", "secrets", "common", "east-token")?.["data"] as Record<string, string>;
  return Buffer.from(data["token"] ?? "", "base64").toString();
}

/** Resolves when a watch has told that the condition holds. */
async function until(cluster: SimulatedCluster, resource: string, holds: () => boolean): Promise<void> {
  const ended = new AbortController();
  const reply = await cluster.engine.watch({
    verb: "watch",
    group: "",
    version: "v1",
    resource,
    query: new URLSearchParams({ watch: "1" }),
    user: { username: "test", groups: ["system:masters"] },
    signal: ended.signal,
  });
  assert.equal(reply.kind, "events");
  const events = reply.events[Symbol.asyncIterator]();
  while (!holds()) await events.next();
  ended.abort();
}

test("a token Secret gets token, CA and namespace, and the token speaks for its account", async (t) => {
  const { cluster } = await startCluster(t);
  await cluster.applyManifests(ONBOARDING);

  const secret = cluster.engine.readOne("", "secrets", "common", "east-token");
  const data = secret?.["data"] as Record<string, string>;
  const answer = await call(connect(t, cluster), "GET", SECRETS, { token: tokenIn(cluster) });

  assert.equal(Buffer.from(data["ca.crt"] ?? "", "base64").toString(), cluster.caPem);
  assert.equal(Buffer.from(data["namespace"] ?? "", "base64").toString(), "common");
  assert.equal(
    secret?.metadata.annotations?.["kubernetes.io/service-account.uid"],
    cluster.engine.readOne("", "serviceaccounts", "common", "east")?.metadata.uid,
  );
  assert.match(
    String(answer.json["message"]),
    /User "system:serviceaccount:common:east" cannot list resource "secrets"/,
  );
});

test("a token Secret that is written over the API is filled, too", async (t) => {
  const { cluster } = await startCluster(t);
  await cluster.applyManifests(ONBOARDING);
  const body = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "second", annotations: { "kubernetes.io/service-account.name": "east" } },
    type: "kubernetes.io/service-account-token",
  };

  await call(connect(t, cluster), "POST", SECRETS, { body });

  const filled = (): boolean => cluster.engine.readOne("", "secrets", "common", "second")?.["data"] !== undefined;
  await until(cluster, "secrets", filled);
});

test("a token ends with its Secret", async (t) => {
  const { cluster } = await startCluster(t);
  await cluster.applyManifests(ONBOARDING);
  const token = tokenIn(cluster);
  const client = connect(t, cluster);
  assert.equal((await call(client, "GET", "/api", { token })).status, 200);

  await call(client, "DELETE", `${SECRETS}/east-token`);

  assert.equal((await call(client, "GET", "/api", { token })).status, 401);
});

test("a token ends with its account, and its Secret goes, too; the same name again is another account", async (t) => {
  const { cluster } = await startCluster(t);
  await cluster.applyManifests(ONBOARDING);
  const token = tokenIn(cluster);
  const bound = cluster.tokenFor("common", "east");

  await call(connect(t, cluster), "DELETE", `${ACCOUNTS}/east`);
  await until(cluster, "secrets", () => cluster.engine.readOne("", "secrets", "common", "east-token") === undefined);
  await cluster.applyManifests(ONBOARDING);

  assert.equal((await call(connect(t, cluster), "GET", "/api", { token })).status, 401);
  assert.equal((await call(connect(t, cluster), "GET", "/api", { token: bound })).status, 401);
  assert.equal((await call(connect(t, cluster), "GET", "/api", { token: tokenIn(cluster) })).status, 200);
});

test("a requested token has an end and an audience", async (t) => {
  const { cluster, clock } = await startCluster(t);
  await cluster.applyManifests(ONBOARDING);
  const client = connect(t, cluster);
  const request = async (spec: object): ReturnType<typeof call> =>
    call(client, "POST", `${ACCOUNTS}/east/token`, {
      body: { apiVersion: "authentication.k8s.io/v1", kind: "TokenRequest", spec },
    });
  const tokenOf = (json: Record<string, unknown>): string => (json["status"] as { token: string }).token;

  const own = await request({ expirationSeconds: 600 });
  const foreign = await request({ audiences: ["vault"] });
  const short = await request({ expirationSeconds: 60 });

  assert.equal(own.status, 201);
  assert.equal((own.json["status"] as { expirationTimestamp: string }).expirationTimestamp, "2026-01-01T00:10:00Z");
  assert.equal((await call(client, "GET", "/api", { token: tokenOf(own.json) })).status, 200);
  assert.equal((await call(connect(t, cluster), "GET", "/api", { token: tokenOf(foreign.json) })).status, 401);
  assert.match(String(short.json["message"]), /may not specify a duration less than 10 minutes/);
  clock.setWall(new Date("2026-01-01T00:10:00Z"));
  assert.equal((await call(connect(t, cluster), "GET", "/api", { token: tokenOf(own.json) })).status, 401);
});

test("a token with a changed payload is refused", async (t) => {
  const { cluster } = await startCluster(t);
  await cluster.applyManifests(ONBOARDING);
  const [head, payload = "", signature] = cluster.tokenFor("common", "east").split(".");
  const claims = JSON.parse(Buffer.from(payload, "base64url").toString()) as Record<string, unknown>;
  const forged = Buffer.from(JSON.stringify({ ...claims, exp: 9_999_999_999 })).toString("base64url");

  const { status } = await call(connect(t, cluster), "GET", "/api", { token: `${head}.${forged}.${signature}` });

  assert.equal(status, 401);
});

test("every Namespace has a default account and the cluster's CA", async (t) => {
  const { cluster } = await startCluster(t);
  await cluster.applyManifests(ONBOARDING);

  for (const namespace of ["default", "kube-system", "common"]) {
    assert.ok(cluster.engine.readOne("", "serviceaccounts", namespace, "default"), namespace);
    const ca = cluster.engine.readOne("", "configmaps", namespace, "kube-root-ca.crt")?.["data"];
    assert.deepEqual(ca, { "ca.crt": cluster.caPem });
  }
});

test("a kubeconfig of an account works with nothing else", async (t) => {
  const { KubeConfig } = await import("@kubernetes/client-node");
  const { cluster } = await startCluster(t);
  await cluster.applyManifests(ONBOARDING);
  const config = new KubeConfig();

  config.loadFromString(await cluster.kubeconfigFor({ serviceAccount: { namespace: "common", name: "east" } }));

  assert.equal(config.getCurrentCluster()?.server, cluster.url);
  const token = config.getCurrentUser()?.token ?? "";
  assert.equal((await call(connect(t, cluster), "GET", "/api", { token })).status, 200);
});
