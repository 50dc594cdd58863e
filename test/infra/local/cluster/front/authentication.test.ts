import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { test } from "node:test";
import { CONFIG_MAPS, call, connect, startCluster } from "./cluster-under-test.ts";

const WHO = "/apis/authentication.k8s.io/v1/selfsubjectreviews";
const WHO_BODY = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };

function userIn(json: Record<string, unknown>): Record<string, unknown> {
  return (json["status"] as { userInfo: Record<string, unknown> }).userInfo;
}

test("a token of the table stands for its user and groups until it is taken out", async (t) => {
  const { cluster } = await startCluster(t);
  const client = connect(t, cluster);
  cluster.authenticator.setToken({ token: "s3", username: "jane", groups: ["dev"] });

  const known = await call(client, "POST", WHO, { token: "s3", body: WHO_BODY });
  cluster.authenticator.removeToken("s3");
  const refused = await call(client, "POST", WHO, { token: "s3", body: WHO_BODY });

  assert.deepEqual(userIn(known.json), { username: "jane", groups: ["dev", "system:authenticated"] });
  assert.equal(refused.status, 401);
  assert.deepEqual([refused.json["reason"], refused.json["message"]], ["Unauthorized", "Unauthorized"]);
});

test("a client certificate stands for its CN and O, until it is over", async (t) => {
  const { cluster, clock } = await startCluster(t);
  const certificate = await cluster.authority.issueClient({ user: "jane", groups: ["dev", "ops"] });
  const client = connect(t, cluster, { certificate });

  const known = await call(client, "POST", WHO, { token: null, body: WHO_BODY });
  clock.setWall(new Date("2028-01-01T00:00:00Z"));
  const over = await call(client, "POST", WHO, { token: null, body: WHO_BODY });

  assert.partialDeepStrictEqual(userIn(known.json), {
    username: "jane",
    groups: ["dev", "ops", "system:authenticated"],
  });
  assert.equal(over.status, 401);
});

test("a certificate that was over when it was made, or of another cluster, is refused", async (t) => {
  const { cluster } = await startCluster(t);
  const { cluster: other } = await startCluster(t);
  const expired = await cluster.authority.issueClient({ user: "jane" }, { notAfter: new Date("2025-12-31T00:00:00Z") });
  const foreign = await other.authority.issueClient({ user: "jane", groups: ["system:masters"] });

  for (const certificate of [expired, foreign]) {
    const answer = await call(connect(t, cluster, { certificate }), "GET", "/version", { token: null });
    assert.equal(answer.status, 401);
  }
});

test("without a credential one is anonymous, and sees only what everybody may", async (t) => {
  const { cluster } = await startCluster(t);
  const ask = (path: string): ReturnType<typeof call> => call(connect(t, cluster), "GET", path, { token: null });

  assert.equal((await ask("/version")).status, 200);
  assert.equal((await ask("/readyz")).status, 200);
  assert.equal((await ask("/apis")).status, 403);
  const { status, json } = await ask(CONFIG_MAPS);
  assert.equal(status, 403);
  assert.equal(
    json["message"],
    'configmaps is forbidden: User "system:anonymous" cannot list resource "configmaps" in API group "" in the namespace "default"',
  );
});

test("anonymous requests are refused where they are switched off", async (t) => {
  const { cluster } = await startCluster(t, { anonymous: false });

  assert.equal((await call(connect(t, cluster), "GET", "/version", { token: null })).status, 401);
});

test("a 401 ends the whole HTTP/2 connection, after the streams that run", async (t) => {
  const { cluster } = await startCluster(t);
  const session = connectHttp2(cluster.url, { ca: cluster.caPem });
  t.after(() => session.destroy());
  const goaway = once(session, "goaway");
  const closed = once(session, "close");

  const stream = session.request({ ":path": "/version", authorization: "Bearer wrong" });
  const [headers] = (await once(stream, "response")) as [Record<string, unknown>];
  stream.resume();
  const [code] = (await goaway) as [number];
  await closed;

  assert.equal(headers[":status"], 401);
  assert.equal(code, 0);
});

test("a 401 leaves an HTTP/1.1 connection open", async (t) => {
  const { cluster } = await startCluster(t);
  const client = connect(t, cluster, { allowH2: false });

  assert.equal((await call(client, "GET", "/version", { token: "wrong" })).status, 401);
  assert.equal((await call(client, "GET", "/version")).status, 200);
  assert.equal(cluster.server.connectionCounts.accepted, 1);
});

test("a TokenReview tells whom a token stands for", async (t) => {
  const { cluster } = await startCluster(t);
  const client = connect(t, cluster);
  const review = async (token: string): Promise<unknown> => {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token } };
    return (await call(client, "POST", "/apis/authentication.k8s.io/v1/tokenreviews", { body })).json["status"];
  };
  await cluster.engine.apply({
    apiVersion: "v1",
    kind: "ServiceAccount",
    metadata: { name: "a", namespace: "default" },
  });

  const good = (await review(cluster.tokenFor("default", "a"))) as { user: { username: string } };

  assert.equal(good.user.username, "system:serviceaccount:default:a");
  assert.deepEqual(await review("junk"), { user: {}, error: "invalid bearer token" });
});

test("access reviews answer for oneself and for others", async (t) => {
  const { cluster } = await startCluster(t);
  const client = connect(t, cluster);
  cluster.authenticator.setToken({ token: "jane", username: "jane" });
  const attributes = { resourceAttributes: { verb: "get", resource: "configmaps", namespace: "default" } };
  const ask = async (kind: string, spec: object, token: string): Promise<unknown> => {
    const path = `/apis/authorization.k8s.io/v1/${kind.toLowerCase()}s`;
    const body = { apiVersion: "authorization.k8s.io/v1", kind, spec };
    return (await call(client, "POST", path, { token, body })).json["status"];
  };

  assert.deepEqual(await ask("SelfSubjectAccessReview", attributes, "admin-token"), { allowed: true });
  assert.deepEqual(await ask("SelfSubjectAccessReview", attributes, "jane"), { allowed: false });
  assert.deepEqual(await ask("SubjectAccessReview", { user: "jane", ...attributes }, "admin-token"), {
    allowed: false,
  });
  assert.equal(await ask("SubjectAccessReview", { user: "admin", ...attributes }, "jane"), "Failure");
});
