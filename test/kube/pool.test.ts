import assert from "node:assert/strict";
import { test } from "node:test";
import type { KubeClient } from "../../lib/kube/client.ts";
import type { Connections } from "../../lib/kube/pool.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { startTcpRelay } from "../support/tcp-relay.ts";
import { type Reply, unusedPort } from "../support/tls-server.ts";
import { settleIo, until } from "../support/until.ts";
import {
  ANNOUNCE,
  announce,
  CALL,
  clientOf,
  clientTo,
  connectionsFor,
  connectionTo,
  serverFor,
  status,
  token,
} from "./client-fixture.ts";

test("shares one HTTP/2 connection between members of a hub that differ by token", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.send(200, announce()));
  const connections = connectionsFor(t);
  const clients = ["a", "b", "c"].map((name) => member(connections, server, `token-${name}`));

  const results = await Promise.all(clients.map((client) => client.mergePatch(ANNOUNCE, {}, CALL)));

  assert.ok(results.every((result) => result.ok));
  assert.equal(server.connections(), 1);
  assert.equal(new Set(server.received.map((r) => r.headers.authorization)).size, 3);
});

test("shares nothing between purposes, server names, authorities and client certificates", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.send(200, announce()), {
    names: ["127.0.0.1", "api.internal"],
  });
  const certificates = [];
  for (const user of ["x", "y"]) {
    const pair = await server.authority.issueClient({ user });
    certificates.push({ kind: "certificate", certificate: pair.cert, key: pair.key } as const);
  }
  const connections = connectionsFor(t);
  const plain = connectionTo(server);
  const clients = [
    clientOf(connections, plain, "a", "beat"),
    clientOf(connections, plain, "a", "watch"),
    clientOf(connections, plain, "a", "member"),
    clientOf(connections, { ...plain, serverName: "api.internal" }),
    clientOf(connections, { ...plain, ca: `${server.ca}\n` }),
    ...certificates.map((credential) => clientOf(connections, { ...plain, credential })),
  ];

  for (const client of clients) assert.ok((await client.get(ANNOUNCE, CALL)).ok);

  assert.equal(server.connections(), clients.length);
});

test("puts at most 80 requests at a time on one HTTP/2 connection", async (t) => {
  const waiting: Reply[] = [];
  const server = await serverFor(t, (_request, reply) => void waiting.push(reply));
  const connections = connectionsFor(t);
  const client = member(connections, server);

  const calls = Array.from({ length: 200 }, () => client.mergePatch(ANNOUNCE, {}, CALL));
  await until(() => waiting.length === 200);

  const perConnection = new Map<number, number>();
  for (const { connection } of server.received) perConnection.set(connection, (perConnection.get(connection) ?? 0) + 1);
  assert.equal(perConnection.size, 3);
  assert.ok(Math.max(...perConnection.values()) <= 80);
  for (const reply of waiting) reply.send(200, announce());
  assert.ok((await Promise.all(calls)).every((result) => result.ok));
});

test("a refused credential on a shared connection takes nobody else's request with it", async (t) => {
  // What an API server does: the 401 closes the whole connection, with the other members' requests on it.
  const held: Reply[] = [];
  let holding = true;
  const server = await serverFor(t, (request, reply) => {
    if (request.headers.authorization === "Bearer revoked") {
      reply.send(401, status(401, "Unauthorized", "Unauthorized"));
      reply.goAway();
    } else if (holding) {
      held.push(reply);
    } else {
      reply.send(200, announce());
    }
  });
  const connections = connectionsFor(t);
  const good = member(connections, server, "good");
  const bad = member(connections, server, "revoked");

  const patch = good.mergePatch(ANNOUNCE, {}, CALL);
  await until(() => held.length === 1);
  holding = false;
  const refused = await bad.mergePatch(ANNOUNCE, {}, CALL);
  const beaten = await patch;

  assert.equal(refused.ok ? "ok" : refused.error.kind, "unauthorized");
  assert.ok(beaten.ok, beaten.ok ? "" : beaten.error.message);
});

test("a membership answered 401 uses a connection of its own until its credential is accepted", async (t) => {
  let accepts = false;
  const server = await serverFor(t, (request, reply) => {
    if (request.headers.authorization === "Bearer good" || accepts) return reply.send(200, announce());
    reply.send(401, status(401, "Unauthorized", "Unauthorized"));
    reply.goAway();
  });
  const connections = connectionsFor(t);
  const good = member(connections, server, "good");
  const bad = member(connections, server, "revoked");
  await bad.mergePatch(ANNOUNCE, {}, CALL);

  await good.mergePatch(ANNOUNCE, {}, CALL);
  const shared = server.received.at(-1)?.connection;
  for (let i = 0; i < 3; i += 1) {
    await bad.mergePatch(ANNOUNCE, {}, CALL);
    assert.notEqual(server.received.at(-1)?.connection, shared);
    await good.mergePatch(ANNOUNCE, {}, CALL);
    assert.equal(server.received.at(-1)?.connection, shared);
  }
  accepts = true;
  await bad.mergePatch(ANNOUNCE, {}, CALL);
  assert.notEqual(server.received.at(-1)?.connection, shared);
  await bad.mergePatch(ANNOUNCE, {}, CALL);

  assert.equal(server.received.at(-1)?.connection, shared);
  await until(() => server.open() === 1);
});

for (const http2 of [true, false]) {
  test(`replaces a half-open connection after the first deadline (HTTP/${http2 ? "2" : "1.1"})`, async (t) => {
    const server = await serverFor(t, (_request, reply) => reply.send(200, announce()), { http2 });
    const relay = await startTcpRelay(server.port);
    t.after(() => relay.close());
    const clock = new FakeClock();
    const { client } = clientTo(t, { url: relay.url, ca: server.ca }, { clock });
    assert.ok((await client.mergePatch(ANNOUNCE, {}, CALL)).ok);
    relay.freeze();

    await clock.advance(10_000);
    const lost = client.mergePatch(ANNOUNCE, {}, CALL);
    await settleIo();
    await clock.advance(5000);
    const result = await lost;
    const next = await client.mergePatch(ANNOUNCE, {}, CALL);

    assert.ok(!result.ok && result.error.kind === "timeout" && result.error.phase === "answer");
    assert.ok(next.ok, next.ok ? "" : next.error.message);
    assert.equal(relay.accepted(), 2);
  });
}

test("keeps a connection on which one request is slow while others are answered", async (t) => {
  const server = await serverFor(t, (request, reply) => {
    if (request.method === "PATCH") reply.send(200, announce());
  });
  const clock = new FakeClock();
  const connections = connectionsFor(t, { clock });
  const client = member(connections, server);

  const slow = client.update(ANNOUNCE, announce(), CALL);
  await until(() => server.received.length === 1);
  await clock.advance(1000);
  assert.ok((await client.mergePatch(ANNOUNCE, {}, CALL)).ok);
  await clock.advance(4000);
  const result = await slow;
  assert.ok((await client.mergePatch(ANNOUNCE, {}, CALL)).ok);

  assert.ok(!result.ok && result.error.kind === "timeout");
  assert.equal(server.connections(), 1);
});

test("does not trust a connection that was idle for more than 30 s by either clock", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.send(200, announce()));
  const clock = new FakeClock();
  const connections = connectionsFor(t, { clock });
  const client = member(connections, server);
  await client.mergePatch(ANNOUNCE, {}, CALL);

  await clock.advance(29_000);
  await client.mergePatch(ANNOUNCE, {}, CALL);
  assert.equal(server.connections(), 1);
  // A frozen function: the monotonic clock stood still.
  clock.setWall(new Date(clock.now().getTime() + 31_000));
  await client.mergePatch(ANNOUNCE, {}, CALL);
  assert.equal(server.connections(), 2);
  await clock.advance(31_000);
  connections.refresh();
  await until(() => server.open() === 0);
  await client.mergePatch(ANNOUNCE, {}, CALL);

  assert.equal(server.connections(), 3);
});

test("closes what nobody has used for a minute", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.send(200, announce()));
  const other = await serverFor(t, (_request, reply) => reply.send(200, announce()));
  const clock = new FakeClock();
  const connections = connectionsFor(t, { clock });
  await member(connections, server).mergePatch(ANNOUNCE, {}, CALL);

  await clock.advance(60_000);
  await member(connections, other).mergePatch(ANNOUNCE, {}, CALL);

  await until(() => server.open() === 0);
  assert.equal(other.open(), 1);
});

test("closing a client ends only what nobody else uses", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.send(200, announce()));
  const connections = connectionsFor(t);
  const [one, two] = [member(connections, server, "a"), member(connections, server, "b")];
  await one.mergePatch(ANNOUNCE, {}, CALL);
  await two.mergePatch(ANNOUNCE, {}, CALL);

  await one.close();
  assert.ok((await two.mergePatch(ANNOUNCE, {}, CALL)).ok);
  assert.equal(server.connections(), 1);
  await two.close();

  await until(() => server.open() === 0);
  assert.deepEqual(connections.stats, { sockets: 0, opened: 1, lanes: 0 });
});

test("closing everything fails what is under way and leaves no socket", async (t) => {
  const server = await serverFor(t, () => undefined);
  const connections = connectionsFor(t);
  const client = member(connections, server);
  const calls = Array.from({ length: 100 }, () => client.mergePatch(ANNOUNCE, {}, CALL));
  await until(() => server.received.length === 100);

  await connections.close();
  const results = await Promise.all(calls);

  assert.ok(results.every((result) => !result.ok));
  assert.equal(connections.stats.sockets, 0);
  await until(() => server.open() === 0);
  assert.ok(!(await client.mergePatch(ANNOUNCE, {}, CALL)).ok);
  assert.equal(server.open(), 0);
});

test("tells everyone who waits for a dead hub at once, after one attempt", async (t) => {
  const url = `https://127.0.0.1:${await unusedPort()}`;
  const connections = connectionsFor(t);
  const clients = Array.from({ length: 300 }, (_, i) => clientOf(connections, connectionTo({ url }), `m${i}`));

  const results = await Promise.all(clients.map((client) => client.mergePatch(ANNOUNCE, {}, CALL)));

  for (const result of results) {
    assert.ok(!result.ok && result.error.kind === "network" && result.error.code === "ECONNREFUSED");
  }
});

test("opens no more sockets to members than allowed, and takes an idle one for the next member", async (t) => {
  const waiting: Reply[] = [];
  const servers = await Promise.all(
    [1, 2, 3].map(() => serverFor(t, (_request, reply) => void waiting.push(reply), { http2: false })),
  );
  const connections = connectionsFor(t, { limits: { beat: 1, watch: 1, member: 2 } });
  const clients = servers.map((server) => clientOf(connections, connectionTo(server), "east", "member"));

  const calls = clients.map((client) => client.get(ANNOUNCE, CALL));
  await until(() => waiting.length === 2);
  await settleIo();
  assert.equal(
    servers.reduce((sum, server) => sum + server.open(), 0),
    2,
  );
  waiting.shift()?.send(200, announce());
  await until(() => waiting.length === 2);
  for (const reply of waiting) reply.send(200, announce());

  assert.ok((await Promise.all(calls)).every((result) => result.ok));
  assert.ok(servers.reduce((sum, server) => sum + server.open(), 0) <= 2);
});

function member(
  connections: Connections,
  server: { readonly url: string; readonly ca: string },
  bearer = "good",
): KubeClient {
  return clientOf(connections, connectionTo(server, { credential: token(bearer) }));
}
