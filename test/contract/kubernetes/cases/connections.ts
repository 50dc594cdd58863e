import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { Agent, type RequestOptions, request } from "node:https";
import { test } from "node:test";
import { connect } from "node:tls";
import type { Area } from "../contract-cluster.ts";
import { SharedConnection } from "../http2.ts";
import { accountOf, grant, untilAllowed } from "../identity.ts";

const BAD = { authorization: "Bearer nonsense" };

/** What one connection carries, and what ends it. */
export function connectionCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const make = async (name: string) => await area().admin.must("POST", configMaps(), { metadata: { name } });
  const reader = async (t: Parameters<typeof accountOf>[0], name: string): Promise<Record<string, string>> => {
    const { token, client } = await accountOf(t, area(), name);
    await grant(area(), name, { account: name }, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["*"] }]);
    await untilAllowed(client, configMaps());
    return { authorization: `Bearer ${token}` };
  };
  const overHttp1 = async (options: RequestOptions & { readonly path: string }) => {
    const { server, ca } = area().admin;
    const path = server.pathname.replace(/\/+$/, "") + options.path;
    const sent = request({ host: server.hostname, port: server.port, ca, ...options, path });
    sent.end();
    const [answer] = (await once(sent, "response")) as [IncomingMessage];
    const text = (await answer.setEncoding("utf8").toArray()).join("");
    return { code: answer.statusCode, version: answer.httpVersion, headers: answer.headers, text };
  };

  test("HTTP/2: a watch beside other requests", async (t) => {
    const headers = await reader(t, "beside");
    const connection = new SharedConnection(t, area().admin);

    const watch = connection.get(`${configMaps()}?watch=true&resourceVersion=0`, headers);
    assert.equal(await watch.code, 200);
    const others = await Promise.all([1, 2, 3].map(() => connection.get(`${configMaps()}?limit=1`, headers).code));
    await make("beside-watch");

    assert.deepEqual(others, [200, 200, 200]);
    await watch.told("beside-watch");
  });

  test("HTTP/2: a 401 ends the connection for new requests, and lets a watch on it go on", async (t) => {
    const headers = await reader(t, "goes-on");
    const connection = new SharedConnection(t, area().admin);
    const watch = connection.get(`${configMaps()}?watch=true&resourceVersion=0`, headers);
    assert.equal(await watch.code, 200);

    const bad = await connection.get("/api/v1/namespaces", BAD).code;
    await connection.goneAway;
    await make("after-401");

    assert.equal(bad, 401);
    await watch.told("after-401");
    assert.equal(connection.open, false);
    watch.cancel();
  });

  test("HTTP/2: what was sent together with the request of the 401 is answered, or refused unread", async (t) => {
    const headers = await reader(t, "together");
    const connection = new SharedConnection(t, area().admin);
    await connection.ready();

    const [before, bad, after] = [headers, BAD, headers].map((own) => connection.get(`${configMaps()}?limit=1`, own));

    assert.deepEqual([await before?.code, await bad?.code], [200, 401]);
    assert.ok((await after?.code) === 200 || after?.refused === true);
  });

  test("HTTP/2: a client that leaves a watch keeps its connection", async (t) => {
    const headers = await reader(t, "leaves");
    const connection = new SharedConnection(t, area().admin);
    const watch = connection.get(`${configMaps()}?watch=true`, headers);
    assert.equal(await watch.code, 200);

    watch.cancel();

    assert.equal(await connection.get(`${configMaps()}?limit=1`, headers).code, 200);
    assert.equal(connection.open, true);
  });

  test("HTTP/2: a 403 ends nothing", async (t) => {
    const headers = await reader(t, "forbidden");
    const connection = new SharedConnection(t, area().admin);

    assert.equal(await connection.get("/api/v1/secrets", headers).code, 403);
    assert.equal(await connection.get(`${configMaps()}?limit=1`, headers).code, 200);
    assert.equal(connection.open, true);
  });

  test("HTTP/2: headers may be long", async (t) => {
    const headers = await reader(t, "long");
    const connection = new SharedConnection(t, area().admin);
    await connection.ready();
    const long = Object.fromEntries(Array.from({ length: 6 }, (_, i) => [`x-long-${i}`, "a".repeat(15_000)]));

    assert.equal(await connection.get("/version", { ...headers, ...long }).code, 200);
  });

  test("HTTP/1.1: a 401 leaves the connection as it is", async (t) => {
    const headers = await reader(t, "stays");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());

    const bad = await overHttp1({ agent, path: "/api", headers: BAD });
    const good = await overHttp1({ agent, path: "/api", headers });

    assert.deepEqual([bad.code, bad.version, good.code], [401, "1.1", 200]);
    assert.notEqual(bad.headers.connection, "close");
    assert.equal(bad.headers["www-authenticate"], undefined);
  });

  test("HTTP/1.1: a watch comes in chunks, and leaves the connection for the next request", async (t) => {
    const headers = await reader(t, "chunks");
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    t.after(() => agent.destroy());

    const watch = await overHttp1({ agent, path: `${configMaps()}?watch=true&timeoutSeconds=1`, headers });
    const next = await overHttp1({ agent, path: `${configMaps()}?limit=1`, headers });

    assert.deepEqual([watch.code, watch.headers["transfer-encoding"]], [200, "chunked"]);
    assert.match(watch.text, /^\{"type":"ADDED".*\}\n/);
    assert.equal(next.code, 200);
  });

  test("HTTP/1.1: headers may be long", async (t) => {
    const headers = await reader(t, "long-too");

    const answer = await overHttp1({ path: "/version", headers: { ...headers, "x-long": "a".repeat(300_000) } });

    assert.equal(answer.code, 200);
  });

  test("without ALPN, the server speaks HTTP/1.1", async (t) => {
    const { server, ca } = area().admin;
    const socket = connect({ host: server.hostname, port: Number(server.port), ca });
    t.after(() => socket.destroy());
    await once(socket, "secureConnect");

    socket.write("GET /livez HTTP/1.1\r\nHost: kubernetes\r\nConnection: close\r\n\r\n");

    const text = (await socket.setEncoding("utf8").toArray()).join("");
    assert.match(text, /^HTTP\/1\.1 (200|401|403) /);
  });
}
