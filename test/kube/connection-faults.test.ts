import assert from "node:assert/strict";
import { once } from "node:events";
import net from "node:net";
import { type TestContext, test } from "node:test";
import { createCertificateAuthority } from "../../infra/local/cluster/certificates.ts";
import { deadline, systemClock } from "../../lib/base/clock.ts";
import { causeOf } from "../../lib/kube/cause.ts";
import type { KubeError } from "../../lib/kube/errors.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { startSilentServer, testAuthority, unusedPort } from "../support/tls-server.ts";
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
} from "./client-fixture.ts";

/** The error of one merge patch to a server. */
async function errorAt(
  t: TestContext,
  server: { readonly url: string; readonly ca?: string },
  timeoutMs = 2000,
): Promise<KubeError> {
  const connections = connectionsFor(t);
  const client = clientOf(connections, connectionTo(server));
  const result = await client.mergePatch(ANNOUNCE, {}, { timeoutMs });
  await connections.close();
  assert.ok(!result.ok);
  return result.error;
}

test("tells a refused connection", async (t) => {
  const error = await errorAt(t, { url: `https://127.0.0.1:${await unusedPort()}` });

  assert.ok(error.kind === "network" && error.code === "ECONNREFUSED");
  assert.equal(error.retry, "backoff");
  assert.equal(causeOf(error), "APIServerUnreachable");
  assert.match(error.message, /connection refused .*Check the server URL/);
});

test("tells an unknown host", async (t) => {
  const error = await errorAt(t, { url: "https://no-such-host.invalid:6443" });

  assert.ok(error.kind === "network" && /ENOTFOUND|EAI_AGAIN/.test(error.code));
});

const DAY_MS = 86_400_000;

test("tells why a server's certificate is not accepted", async (t) => {
  const authority = await testAuthority();
  const stranger = await createCertificateAuthority("stranger", systemClock);
  const namesake = await createCertificateAuthority("test-ca", systemClock);
  const expired = { notAfter: new Date(Date.now() - DAY_MS) };
  const early = { notBefore: new Date(Date.now() + DAY_MS), notAfter: new Date(Date.now() + 9 * DAY_MS) };
  const cases = [
    { certificate: await stranger.issueServer(["127.0.0.1"]), why: /unknown authority/ },
    { certificate: await namesake.issueServer(["127.0.0.1"]), why: /unknown authority/ },
    { certificate: await authority.issueServer(["10.0.0.1", "other.example"]), why: /another host name/ },
    { certificate: await authority.issueServer(["127.0.0.1"], expired), why: /expired/ },
    { certificate: await authority.issueServer(["127.0.0.1"], early), why: /not yet valid/ },
  ];
  for (const { certificate, why } of cases) {
    const server = await serverFor(t, (_request, reply) => reply.send(200, announce()), { authority, certificate });

    const error = await errorAt(t, server);

    assert.ok(error.kind === "tls", error.message);
    assert.match(error.why, why);
    assert.equal(causeOf(error), "TLSVerificationFailed");
    assert.equal(server.received.length, 0);
  }
});

test("verifies against the public roots when there is no CA", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.send(200, announce()));

  const error = await errorAt(t, { url: server.url });

  assert.ok(error.kind === "tls" && /unknown authority|self-signed/.test(error.why));
});

test("verifies for the tls-server-name instead of the host", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.send(200, announce()), { names: ["api.internal"] });
  const connections = connectionsFor(t);
  const client = clientOf(connections, connectionTo(server, { serverName: "api.internal" }));

  assert.ok((await client.get(ANNOUNCE, CALL)).ok);
});

test("tells a server that does not speak TLS", async (t) => {
  const server = net.createServer((socket) =>
    socket.on("error", () => undefined).end("HTTP/1.1 400 Bad Request\r\n\r\n"),
  );
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as net.AddressInfo;

  const error = await errorAt(t, { url: `https://127.0.0.1:${port}` });

  assert.ok(error.kind === "tls" && /does not speak TLS/.test(error.why), error.message);
  server.close();
});

test("gives up connecting after three seconds, whatever the call's own time, and leaves no socket", async (t) => {
  const server = await startSilentServer();
  t.after(() => server.close());
  const clock = new FakeClock();
  const connections = connectionsFor(t, { clock });
  const client = clientOf(connections, connectionTo(server));

  const calls = Promise.all([1, 2, 3].map(() => client.mergePatch(ANNOUNCE, {}, { timeoutMs: 60_000 })));
  await until(() => server.accepted() > 0);
  await clock.advance(3000);
  const results = await calls;

  for (const result of results) {
    assert.ok(!result.ok && result.error.kind === "timeout" && result.error.phase === "connect");
    assert.equal(causeOf(result.error), "APIServerUnreachable");
  }
  assert.equal(server.accepted(), 1);
  assert.equal(clock.sleeping, 0);
  await until(() => server.open() === 0);
});

for (const http2 of [true, false]) {
  const version = http2 ? "2" : "1.1";

  test(`tells a hang before and within the answer apart (HTTP/${version})`, async (t) => {
    const server = await serverFor(
      t,
      (request, reply) => {
        if (request.method === "GET") reply.begin(200, { "content-type": "application/json" }, '{"metadata":');
      },
      { http2 },
    );
    const clock = new FakeClock();
    const { client } = clientTo(t, server, { clock });

    const patch = client.mergePatch(ANNOUNCE, {}, { timeoutMs: 4000 });
    await until(() => server.received.length === 1);
    const get = client.get(ANNOUNCE, { timeoutMs: 4000 });
    await until(() => server.received.length === 2);
    await settleIo();
    await clock.advance(4000);

    const errors = [await patch, await get].map((result) => (result.ok ? "ok" : result.error));
    assert.deepEqual(
      errors.map((error) => typeof error === "object" && error.kind === "timeout" && error.phase),
      ["answer", "body"],
    );
  });

  test(`ends a slow drip at the deadline (HTTP/${version})`, async (t) => {
    const server = await serverFor(t, (_request, reply) => reply.begin(200, {}, "{"), { http2 });
    const { client } = clientTo(t, server);

    const started = performance.now();
    const result = await client.get(ANNOUNCE, { timeoutMs: 200 });

    assert.ok(!result.ok && result.error.kind === "timeout" && result.error.phase === "body");
    assert.ok(performance.now() - started < 2000);
  });

  test(`repeats an idempotent request once at once after a reset (HTTP/${version})`, async (t) => {
    const server = await serverFor(
      t,
      (_request, reply) => (server.received.length === 1 ? reply.reset() : reply.send(200, announce())),
      { http2 },
    );
    const { client } = clientTo(t, server);

    const result = await client.mergePatch(ANNOUNCE, {}, CALL);

    assert.ok(result.ok);
    assert.equal(server.received.length, 2);
  });

  test(`does not repeat a create or an update that may have arrived (HTTP/${version})`, async (t) => {
    const server = await serverFor(t, (_request, reply) => reply.reset(), { http2 });
    const { client } = clientTo(t, server);

    const created = await client.create(ANNOUNCE.type, "antrea-mc", announce(), CALL);
    const updated = await client.update(ANNOUNCE, announce(), CALL);

    for (const result of [created, updated]) {
      assert.ok(!result.ok && result.error.kind === "network", result.ok ? "ok" : result.error.message);
      assert.equal(result.error.retry, "now");
    }
    assert.equal(server.received.length, 2);
  });

  test(`tells a truncated answer (HTTP/${version})`, async (t) => {
    const server = await serverFor(
      t,
      (_request, reply) => {
        reply.begin(200, { "content-type": "application/json", "content-length": "500" }, '{"metadata":{}');
        setImmediate(() => reply.reset());
      },
      { http2 },
    );
    const { client } = clientTo(t, server);

    const result = await client.create(ANNOUNCE.type, "antrea-mc", announce(), CALL);

    assert.ok(!result.ok && result.error.kind === "network", result.ok ? "ok" : result.error.message);
  });
}

test("gives up after three tries when the connection breaks each time", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.reset());
  const { client } = clientTo(t, server);

  const result = await client.mergePatch(ANNOUNCE, {}, CALL);

  assert.ok(!result.ok && result.error.kind === "network");
  assert.equal(server.received.length, 3);
});

test("repeats reads after 503, and leaves writes to their beat", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.send(503, status(503, "ServiceUnavailable", "soon")));
  const { client } = clientTo(t, server);

  await client.get(ANNOUNCE, CALL);
  assert.equal(server.received.length, 3);
  await client.mergePatch(ANNOUNCE, {}, CALL);
  assert.equal(server.received.length, 4);
});

test("ends a call when its signal fires, before and after it was sent", async (t) => {
  const server = await serverFor(t, () => undefined);
  const { client } = clientTo(t, server);
  const stop = new AbortController();

  const running = client.mergePatch(ANNOUNCE, {}, { ...CALL, signal: stop.signal });
  await until(() => server.received.length === 1);
  stop.abort();
  const [ended, late] = [await running, await client.mergePatch(ANNOUNCE, {}, { ...CALL, signal: stop.signal })];

  for (const result of [ended, late]) assert.ok(!result.ok && result.error.kind === "network");
  assert.equal(server.received.length, 1);
});

test("calls a time limit of the caller's a timeout, not the caller's wish", async (t) => {
  const clock = new FakeClock(new Date());
  const server = await serverFor(t, () => undefined);
  const { client } = clientTo(t, server);
  // As a visit of several calls has one: shorter than what is left to a single call.
  using visit = deadline(clock, 8000);
  const call = client.get(ANNOUNCE, { timeoutMs: 60_000, signal: visit.signal });
  await until(() => server.received.length === 1);
  await clock.advance(8000);

  for (const result of [await call, await client.get(ANNOUNCE, { timeoutMs: 60_000, signal: visit.signal })]) {
    assert.ok(!result.ok && result.error.kind === "timeout");
    assert.doesNotMatch(result.error.message, /ended by the caller/);
  }
  const { error } = (await call) as { readonly error: KubeError };
  assert.equal(causeOf(error), "TimedOut");
});

test("refuses an answer of more than 10 MB", async (t) => {
  const chunk = Buffer.alloc(1_000_000, 0x20).toString();
  const server = await serverFor(t, (_request, reply) => {
    reply.begin(200, { "content-type": "application/json" }, chunk);
    for (let i = 0; i < 11; i += 1) reply.part(chunk);
    reply.end();
  });
  const { client } = clientTo(t, server);

  const result = await client.get(ANNOUNCE, CALL);

  assert.ok(!result.ok && result.error.kind === "unexpected");
  assert.match(result.error.message, /too large/);
});

test("answers with an error when the client is closed", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.send(200, announce()));
  const { client, connections } = clientTo(t, server);
  await client.get(ANNOUNCE, CALL);

  await client.close();
  const result = await client.get(ANNOUNCE, CALL);

  assert.ok(!result.ok);
  assert.equal(connections.stats.sockets, 0);
  assert.equal(server.received.length, 1);
});
