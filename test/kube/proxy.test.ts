import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { createCertificateAuthority } from "../../infra/local/cluster/certificates.ts";
import { systemClock } from "../../lib/base/clock.ts";
import type { KubeError } from "../../lib/kube/errors.ts";
import { type Proxy, type ProxySettings, parseProxyUrl, proxyFromSettings } from "../../lib/kube/proxy.ts";
import { parseServerUrl } from "../../lib/kube/server-url.ts";
import { type ConnectProxyOptions, startConnectProxy } from "../support/connect-proxy.ts";
import { unusedPort } from "../support/tls-server.ts";
import { until } from "../support/until.ts";
import { ANNOUNCE, announce, CALL, clientOf, connectionsFor, connectionTo, serverFor } from "./client-fixture.ts";

function proxyOf(url: string): Proxy {
  const proxy = parseProxyUrl(url);
  assert.ok(proxy.ok);
  return proxy.value;
}

/** Three requests through a proxy: the error of the last, and what the proxy and the server saw. */
async function through(t: TestContext, options: ConnectProxyOptions, settings: ProxySettings = {}, credentials = "") {
  const server = await serverFor(t, (_request, reply) => reply.send(200, announce()));
  const proxy = await startConnectProxy(options);
  t.after(() => proxy.close());
  const connections = connectionsFor(t, { proxy: settings });
  const url = proxy.url.replace("://", `://${credentials}`);
  const client = clientOf(connections, connectionTo(server, { proxy: proxyOf(url) }));
  let error: KubeError | undefined;
  for (let i = 0; i < 3; i += 1) {
    const result = await client.mergePatch(ANNOUNCE, {}, CALL);
    error = result.ok ? undefined : result.error;
  }
  await connections.close();
  await until(() => server.open() === 0);
  return { error, proxy, server };
}

test("goes through a proxy by CONNECT, once for a connection, with HTTP/2 inside", async (t) => {
  const { error, proxy, server } = await through(t, {}, {}, "user:p%40ss@");

  assert.equal(error, undefined);
  assert.deepEqual(proxy.tunnels, [`127.0.0.1:${server.port}`]);
  assert.deepEqual(proxy.authorizations, [`Basic ${Buffer.from("user:p@ss").toString("base64")}`]);
  assert.equal(server.received.length, 3);
  assert.equal(server.received[0]?.httpVersion, "2.0");
  assert.equal(server.received[0]?.headers["proxy-authorization"], undefined);
});

test("speaks TLS to a proxy that the proxy CA certifies", async (t) => {
  const authority = await createCertificateAuthority("proxy-ca", systemClock);
  const certificate = await authority.issueServer(["127.0.0.1"]);

  const { error } = await through(t, { certificate }, { proxyCa: authority.caPem });

  assert.equal(error, undefined);
});

test("refuses a proxy whose certificate is not certified by the proxy CA", async (t) => {
  const authority = await createCertificateAuthority("proxy-ca", systemClock);
  const stranger = await createCertificateAuthority("stranger", systemClock);
  const certificate = await stranger.issueServer(["127.0.0.1"]);

  const { error, proxy } = await through(t, { certificate }, { proxyCa: authority.caPem });

  assert.ok(error?.kind === "tls");
  assert.match(error.message, /the proxy https:\/\/127.0.0.1.*Give the CA of the proxy/);
  assert.equal(proxy.tunnels.length, 0);
});

test("tells what the proxy refused, without its password", async (t) => {
  for (const [refuseWith, remedy] of [
    [407, /user name and password/],
    [403, /Let the proxy allow/],
  ] as const) {
    const { error, server } = await through(t, { refuseWith }, {}, "user:proxy-password@");

    assert.ok(error?.kind === "network" && error.code === `PROXY_${refuseWith}`);
    assert.match(error.message, remedy);
    assert.doesNotMatch(error.message, /proxy-password/);
    assert.equal(server.received.length, 0);
  }
});

test("tells a proxy that hangs up or is not there, and does not try for ever", async (t) => {
  const { error, proxy } = await through(t, { hangUp: true });
  assert.ok(error?.kind === "network");
  assert.match(error.message, /the proxy http:\/\/127/);
  assert.equal(proxy.tunnels.length, 3);

  const server = await serverFor(t, (_request, reply) => reply.send(200, announce()));
  const connections = connectionsFor(t);
  const gone = proxyOf(`http://127.0.0.1:${await unusedPort()}`);
  const result = await clientOf(connections, connectionTo(server, { proxy: gone })).mergePatch(ANNOUNCE, {}, CALL);
  assert.ok(!result.ok && result.error.kind === "network" && result.error.code === "ECONNREFUSED");
  await connections.close();
});

const NO_PROXY: readonly (readonly [server: string, noProxy: string | undefined, proxied: boolean])[] = [
  ["https://api.example.com:6443", undefined, true],
  ["https://api.example.com:6443", "", true],
  ["https://api.example.com:6443", "*", false],
  ["https://api.example.com:6443", "example.com", false],
  ["https://api.example.com:6443", ".example.com", false],
  ["https://api.example.com:6443", "*.example.com", false],
  ["https://example.com", ".example.com", true],
  ["https://example.com", "example.com", false],
  ["https://badexample.com", "example.com", true],
  ["https://API.Example.com", "EXAMPLE.com", false],
  ["https://api.example.com:6443", "api.example.com:6443", false],
  ["https://api.example.com:6443", "api.example.com:443", true],
  ["https://10.1.2.3:6443", "10.0.0.0/8, other", false],
  ["https://10.1.2.3:6443", "10.1.2.3", false],
  ["https://10.1.2.3:6443", "10.1.2.4,192.168.0.0/16", true],
  ["https://10.1.2.3:6443", "10.0.0.0/99", true],
  ["https://[fd00::1]:6443", "fd00::/8", false],
  ["https://[fd00::1]:6443", "[fd00::1]:6443", false],
  ["https://127.0.0.1:6443", undefined, false],
  ["https://[::1]:6443", undefined, false],
  ["https://localhost:6443", undefined, false],
];

for (const [server, noProxy, proxied] of NO_PROXY) {
  test(`${proxied ? "proxies" : "does not proxy"} ${server} with NO_PROXY ${noProxy ?? "absent"}`, () => {
    const url = parseServerUrl(server);
    assert.ok(url.ok);

    const settings = { httpsProxy: "http://proxy:3128", ...(noProxy === undefined ? {} : { noProxy }) };

    assert.equal(proxyFromSettings(url.value, settings), proxied ? "http://proxy:3128" : undefined);
    assert.equal(proxyFromSettings(url.value, {}), undefined);
  });
}

test("refuses a proxy URL that is none, without repeating its password", () => {
  for (const text of ["socks5://u:s3cret@h:1", "http://", "http://u:s3cret@h:99999", "ftp://h"]) {
    const proxy = parseProxyUrl(text);

    assert.ok(!proxy.ok, text);
    assert.doesNotMatch(JSON.stringify(proxy), /s3cret/);
  }
  assert.deepEqual(parseProxyUrl("proxy:3128"), { ok: true, value: { origin: "http://proxy:3128" } });
});
