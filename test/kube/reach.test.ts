import assert from "node:assert/strict";
import { test } from "node:test";
import { systemClock } from "../../lib/base/clock.ts";
import { type Proxy, parseProxyUrl } from "../../lib/kube/proxy.ts";
import { endpointOf, lookUp, openTcp, shakeHands } from "../../lib/kube/reach.ts";
import { startConnectProxy } from "../support/connect-proxy.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { startSilentServer, unusedPort } from "../support/tls-server.ts";
import { until } from "../support/until.ts";
import { connectionTo, serverFor } from "./client-fixture.ts";

const LIMITS = { clock: systemClock, timeoutMs: 5_000, signal: new AbortController().signal };
const DIRECT = { proxy: undefined, proxyCa: undefined };

function proxyOf(url: string): Proxy {
  const proxy = parseProxyUrl(url);
  assert.ok(proxy.ok);
  return proxy.value;
}

test("a way begins at the server, or at the proxy before it", async (t) => {
  const connection = connectionTo(await serverFor(t, () => undefined));

  const { port } = connection.server;
  assert.deepEqual(endpointOf(connection, undefined), { host: "127.0.0.1", port, isProxy: false });
  assert.deepEqual(endpointOf(connection, proxyOf("http://[::1]:3128")), { host: "::1", port: 3128, isProxy: true });
  assert.deepEqual(endpointOf(connection, proxyOf("https://proxy")), { host: "proxy", port: 443, isProxy: true });
});

test("an address needs no name server, and a name that nobody has is unknown", async () => {
  const address = await lookUp("::1");
  const unknown = await lookUp("hub.invalid");

  assert.deepEqual(address, { ok: true, value: ["::1"] });
  assert.ok(!unknown.ok && unknown.error.kind === "network");
});

test("a TCP connection is opened, refused, or given up in time", async (t) => {
  const silent = await startSilentServer();
  t.after(() => silent.close());
  const at = (port: number) => ({ host: "127.0.0.1", port, isProxy: false });

  const opened = await openTcp(at(Number(new URL(silent.url).port)), LIMITS);
  const refused = await openTcp(at(await unusedPort()), LIMITS);
  const over = await openTcp(at(Number(new URL(silent.url).port)), { ...LIMITS, signal: AbortSignal.abort() });

  assert.equal(opened.ok, true);
  assert.ok(!refused.ok && refused.error.words === "connection refused");
  assert.ok(!over.ok && over.error.kind === "connectTimeout");
});

test("a handshake tells protocol and end of the certificate, also through a proxy, and leaves no connection behind", async (t) => {
  const server = await serverFor(t, () => undefined);
  const proxy = await startConnectProxy();
  t.after(() => proxy.close());
  const connection = connectionTo(server);

  const direct = await shakeHands(connection, DIRECT, LIMITS);
  const tunnelled = await shakeHands(connection, { proxy: proxyOf(proxy.url), proxyCa: undefined }, LIMITS);

  assert.ok(direct.ok && tunnelled.ok);
  assert.equal(direct.value.protocol, "TLSv1.3");
  assert.ok((direct.value.validUntil ?? 0) > systemClock.now().getTime());
  assert.deepEqual(proxy.tunnels, [`127.0.0.1:${connection.server.port}`]);
  await until(() => server.open() === 0);
});

test("a server that says nothing is given up when its time is over", async (t) => {
  const silent = await startSilentServer();
  t.after(() => silent.close());
  const clock = new FakeClock();
  const server = await serverFor(t, () => undefined);
  const connection = connectionTo(server);
  const { port } = new URL(silent.url);
  const elsewhere = { ...connection, server: { ...connection.server, port: Number(port) } };

  const shaking = shakeHands(elsewhere, DIRECT, { ...LIMITS, clock });
  await until(() => silent.accepted() === 1);
  await clock.advance(5_000);

  const shaken = await shaking;
  assert.ok(!shaken.ok && shaken.error.kind === "connectTimeout");
  assert.match(shaken.error.words, /no connection within 5000 ms/);
});
