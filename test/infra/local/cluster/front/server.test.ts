import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as connectHttp2 } from "node:http2";
import { createServer } from "node:net";
import { test } from "node:test";
import { CONFIG_MAPS, call, configMap, connect, startCluster } from "./cluster-under-test.ts";

for (const allowH2 of [false, true]) {
  const protocol = allowH2 ? "HTTP/2" : "HTTP/1.1";

  test(`an object is written and read over ${protocol}`, async (t) => {
    const { cluster } = await startCluster(t);
    const client = connect(t, cluster, { allowH2 });

    const created = await call(client, "POST", CONFIG_MAPS, { body: configMap("a", { k: "v" }) });
    const patched = await call(client, "PATCH", `${CONFIG_MAPS}/a`, {
      body: { data: { k: "w" } },
      headers: { "content-type": "application/merge-patch+json" },
    });

    assert.equal(created.status, 201);
    assert.equal(patched.status, 200);
    assert.deepEqual((await call(client, "GET", `${CONFIG_MAPS}/a`)).json["data"], { k: "w" });
    assert.deepEqual(
      cluster.requestLog.entries().map((e) => [e.verb, e.resource, e.name, e.user, e.status, e.protocol, e.connection]),
      [
        ["create", "configmaps", undefined, "admin", 201, protocol, 1],
        ["patch", "configmaps", "a", "admin", 200, protocol, 1],
        ["get", "configmaps", "a", "admin", 200, protocol, 1],
      ],
    );
  });

  test(`events of a watch come as lines over ${protocol}, until the client goes`, async (t) => {
    const { cluster } = await startCluster(t);
    const client = connect(t, cluster, { allowH2 });
    const writer = connect(t, cluster, { allowH2 });
    const over = cluster.requestLog.next((e) => e.verb === "watch");

    const response = await client.request({
      method: "GET",
      path: `${CONFIG_MAPS}?watch=1&resourceVersion=0`,
      headers: { authorization: "Bearer admin-token" },
    });
    await call(writer, "POST", CONFIG_MAPS, { body: configMap("seen") });
    let text = "";
    for await (const chunk of response.body) {
      text += String(chunk);
      if (text.includes('"seen"')) break;
    }

    const last = JSON.parse(text.trimEnd().split("\n").at(-1) ?? "") as { type: string };
    assert.equal(last.type, "ADDED");
    assert.equal((await over).status, 200);
    assert.equal(cluster.watches().length, 0);
  });
}

test("an answer carries the cluster's own time and the caller's audit id", async (t) => {
  const { cluster, clock } = await startCluster(t);
  clock.setWall(new Date("2026-01-01T00:05:00Z"));

  const { headers } = await call(connect(t, cluster), "GET", "/version", { headers: { "audit-id": "mine" } });

  assert.equal(headers["date"], "Thu, 01 Jan 2026 00:05:00 GMT");
  assert.equal(headers["audit-id"], "mine");
});

test("bodies that cannot be read are refused in Kubernetes' words", async (t) => {
  const { cluster } = await startCluster(t);
  const client = connect(t, cluster);
  const post = (body: string, type = "application/json"): ReturnType<typeof call> =>
    call(client, "POST", CONFIG_MAPS, { body, headers: { "content-type": type } });

  const bad = await post("{bad");
  const large = await post(JSON.stringify(configMap("a", { k: "x".repeat(3 * 1024 * 1024) })));
  const foreign = await post("x", "application/vnd.kubernetes.protobuf");

  assert.deepEqual([bad.status, bad.json["reason"]], [400, "BadRequest"]);
  assert.deepEqual([large.status, large.json["reason"]], [413, "RequestEntityTooLarge"]);
  assert.deepEqual([foreign.status, foreign.json["reason"]], [415, "UnsupportedMediaType"]);
});

test("a body may be YAML", async (t) => {
  const { cluster } = await startCluster(t);

  const created = await call(connect(t, cluster), "POST", CONFIG_MAPS, {
    body: "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: y}\ndata: {k: v}\n",
    headers: { "content-type": "application/yaml" },
  });

  assert.equal(created.status, 201);
  assert.deepEqual(created.json["data"], { k: "v" });
});

test("unknown paths get the answers of a real API server, impossible methods a 405", async (t) => {
  const { cluster } = await startCluster(t);
  const client = connect(t, cluster);

  for (const path of ["/nowhere", "/apis/nobody.io/v1/things"]) {
    const answer = await call(client, "GET", path);
    assert.deepEqual([answer.status, answer.text], [404, "404 page not found\n"], path);
  }
  const unknown = await call(client, "GET", "/api/v1/things");
  assert.deepEqual([unknown.status, unknown.json["reason"]], [404, "NotFound"]);
  assert.equal((await call(client, "PUT", CONFIG_MAPS, { body: {} })).status, 405);
  assert.equal((await call(client, "GET", CONFIG_MAPS, { headers: { accept: "text/html" } })).status, 406);
});

test("health, version and discovery are answered", async (t) => {
  const { cluster } = await startCluster(t, { gitVersion: "v1.30.4" });
  const client = connect(t, cluster);

  for (const path of ["/livez", "/readyz", "/healthz", "/livez/ping"]) {
    assert.equal((await call(client, "GET", path)).text, "ok", path);
  }
  const verbose = await call(client, "GET", "/readyz?verbose");
  assert.match(verbose.text, /^\[\+\]ping ok\n[^]*readyz check passed\n$/);
  const { json } = await call(client, "GET", "/version");
  assert.deepEqual([json["major"], json["minor"], json["gitVersion"]], ["1", "30", "v1.30.4"]);
  assert.equal((await call(client, "GET", "/api/v1")).json["kind"], "APIResourceList");
  const reviews = (await call(client, "GET", "/apis/authorization.k8s.io/v1")).json["resources"];
  assert.ok(JSON.stringify(reviews).includes("selfsubjectaccessreviews"));
});

test("a request is over when its own timeout is", async (t) => {
  const { cluster, clock } = await startCluster(t);
  const client = connect(t, cluster);
  cluster.faults.add({ action: { kind: "latency", ms: 60_000 }, times: 1 });
  const received = cluster.requestLog.nextReceived(() => true);

  const answer = call(client, "GET", `${CONFIG_MAPS}?timeout=5s`);
  await received;
  await clock.advance(5000);

  const { status, json } = await answer;
  assert.equal(status, 504);
  assert.deepEqual(
    [json["reason"], json["message"]],
    ["Timeout", "Timeout: request did not complete within the allotted timeout"],
  );
  assert.equal((await call(client, "GET", `${CONFIG_MAPS}?timeout=soon`)).status, 400);
});

test("stopping frees the port and ends every connection; serving again finds the same port and data", async (t) => {
  const { cluster } = await startCluster(t);
  const port = Number(new URL(cluster.url).port);
  await call(connect(t, cluster), "POST", CONFIG_MAPS, { body: configMap("kept") });
  const session = connectHttp2(cluster.url, { ca: cluster.caPem });
  await once(session, "connect");
  const ended = once(session, "close");

  await cluster.stopServing();

  await ended;
  const other = createServer().listen(port, "127.0.0.1");
  await once(other, "listening");
  other.close();
  await once(other, "close");
  await assert.rejects(call(connect(t, cluster), "GET", "/version"), { code: "ECONNREFUSED" });
  await cluster.resumeServing();
  assert.equal(cluster.server.port, port);
  assert.equal((await call(connect(t, cluster), "GET", `${CONFIG_MAPS}/kept`)).status, 200);
});

test("a server that stops accepting serves the connections it has", async (t) => {
  const { cluster } = await startCluster(t);
  const client = connect(t, cluster);
  await call(client, "GET", "/version");

  cluster.server.stopAccepting();

  assert.equal((await call(client, "GET", "/version")).status, 200);
  await assert.rejects(call(connect(t, cluster), "GET", "/version"), { code: "ECONNREFUSED" });
});

test("another certificate is shown to new connections after it was replaced", async (t) => {
  const { cluster } = await startCluster(t);
  await call(connect(t, cluster), "GET", "/version");

  cluster.server.replaceCertificate(await cluster.authority.issueServer(["elsewhere.example"]));

  await assert.rejects(call(connect(t, cluster), "GET", "/version"), { code: "ERR_TLS_CERT_ALTNAME_INVALID" });
});

test("a watch waits for a client that does not read", async (t) => {
  const { cluster } = await startCluster(t);
  const client = connect(t, cluster);
  const response = await client.request({
    method: "GET",
    path: `${CONFIG_MAPS}?watch=1`,
    headers: { authorization: "Bearer admin-token" },
  });
  const big = "x".repeat(500_000);
  for (let i = 0; i < 20; i += 1) {
    await cluster.engine.apply({
      ...configMap(`big-${i}`, { big }),
      metadata: { name: `big-${i}`, namespace: "default" },
    });
  }

  const [watch] = cluster.watches();
  assert.ok((watch?.events ?? 0) < 20, `${watch?.events} of 20 events were pushed into a client that does not read`);
  const lines: string[] = [];
  let part = "";
  for await (const chunk of response.body) {
    const pieces = `${part}${String(chunk)}`.split("\n");
    part = pieces.pop() ?? "";
    lines.push(...pieces.filter((line) => line.includes('"big-')));
    if (lines.length === 20) break;
  }
  const names = lines.map(
    (line) => (JSON.parse(line) as { object: { metadata: { name: string } } }).object.metadata.name,
  );
  assert.deepEqual(
    names,
    Array.from({ length: 20 }, (_, i) => `big-${i}`),
  );
});
