import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import os from "node:os";
import path from "node:path";
import { before, test } from "node:test";
import { stringify } from "yaml";
import type { KeyPair } from "../../../infra/local/cluster/certificates.ts";
import { connectionFromFile } from "../../../lib/kube/access/file.ts";
import { connectionFromKubeconfig } from "../../../lib/kube/access/kubeconfig.ts";
import { testAuthority } from "../../support/tls-server.ts";

const TOKEN = "canary-token";
let ca: string;
let pair: KeyPair;
let otherPair: KeyPair;

before(async () => {
  const authority = await testAuthority();
  ca = authority.caPem;
  pair = await authority.issueClient({ user: "east" });
  otherPair = await authority.issueClient({ user: "west" });
});

/** A kubeconfig with a first context that nobody asks for, and a second that is current. */
function kubeconfig(cluster: Record<string, unknown> = {}, user: Record<string, unknown> = { token: TOKEN }): string {
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [
      { name: "other", cluster: { server: "http://plain", "insecure-skip-tls-verify": true } },
      { name: "one", cluster: { server: "https://east:6443/", "certificate-authority-data": base64(ca), ...cluster } },
    ],
    users: [
      { name: "someone", user: { exec: { command: "aws" }, "token-file": "/etc/passwd" } },
      { name: "me", user },
    ],
    contexts: [
      { name: "old", context: { cluster: "other", user: "someone" } },
      { name: "now", context: { cluster: "one", user: "me", namespace: "antrea" } },
      { name: "lost", context: { cluster: "gone", user: "me" } },
    ],
    "current-context": "now",
  });
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}

test("reads the current context: server, CA, token, Namespace, server name, proxy", async () => {
  const result = await connectionFromKubeconfig(
    kubeconfig({ "tls-server-name": "api.internal", "proxy-url": "http://u:p@proxy:3128" }),
  );

  assert.ok(result.ok, JSON.stringify(result));
  const { server, ...rest } = result.value;
  assert.equal(server.href, "https://east:6443");
  assert.deepEqual(rest, {
    ca,
    credential: { kind: "token", token: TOKEN },
    serverName: "api.internal",
    proxy: { origin: "http://proxy:3128", authorization: `Basic ${base64("u:p")}` },
    namespace: "antrea",
  });
});

test("reads a client certificate", async () => {
  const user = { "client-certificate-data": base64(pair.cert), "client-key-data": base64(pair.key) };

  const result = await connectionFromKubeconfig(kubeconfig({}, user));

  assert.ok(result.ok);
  assert.deepEqual(result.value.credential, { kind: "certificate", certificate: pair.cert, key: pair.key });
});

test("refuses what cannot be used, with the field's path and nothing of its content", async () => {
  const keys = { "client-certificate-data": base64(pair.cert), "client-key-data": base64(otherPair.key) };
  const cases: readonly (readonly [text: string, path: string, problem: RegExp])[] = [
    [kubeconfig({}, { exec: { command: "aws" } }), "users[1].user.exec", /plugin/],
    [kubeconfig({}, { "auth-provider": { name: "gcp" } }), "users[1].user.auth-provider", /provider/],
    [kubeconfig({}, { username: "u", password: "canary" }), "users[1].user.username", /basic/],
    [kubeconfig({}, { token: TOKEN, as: "admin" }), "users[1].user.as", /impersonation/],
    [kubeconfig({}, { tokenFile: "/canary" }), "users[1].user.tokenFile", /file/],
    [kubeconfig({}, { "client-certificate": "c", "client-key": "k" }), "users[1].user.client-certificate", /file/],
    [
      kubeconfig({ "certificate-authority-data": "", "certificate-authority": "ca" }),
      "clusters[1].cluster.certificate-authority",
      /file/,
    ],
    [
      kubeconfig({ "insecure-skip-tls-verify": true }),
      "clusters[1].cluster.insecure-skip-tls-verify",
      /always verified/,
    ],
    [
      kubeconfig({ "certificate-authority-data": base64("x") }),
      "clusters[1].cluster.certificate-authority-data",
      /not PEM/,
    ],
    [kubeconfig({ server: "http://h" }), "clusters[1].cluster.server", /plain http/],
    [kubeconfig({ server: "https://u:canary@h" }), "clusters[1].cluster.server", /password/],
    [kubeconfig({ server: 7 }), "clusters[1].cluster.server", /empty/],
    [kubeconfig({ "proxy-url": "socks5://u:canary@h" }), "clusters[1].cluster.proxy-url", /socks5/],
    [kubeconfig({}, keys), "users[1].user.client-certificate-data", /does not belong/],
    [kubeconfig({}, { "client-certificate-data": base64(pair.cert) }), "users[1].user.client-certificate-data", /key/],
    [kubeconfig({}, {}), "users[1].user", /no credential/],
    [kubeconfig({}, { token: "canary token" }), "users[1].user.token", /characters/],
    ["", "", /empty/],
    ["- canary", "", /no mapping/],
    ["a: [canary", "", /not valid YAML \(line \d\)/],
    ["clusters: []", "current-context", /no current context/],
  ];
  for (const [text, where, problem] of cases) {
    const result = await connectionFromKubeconfig(text);

    assert.ok(!result.ok, text);
    assert.equal(result.error.path, where);
    assert.match(result.error.problem, problem);
    assert.ok(result.error.remedy.length > 0);
    assert.doesNotMatch(JSON.stringify(result), /canary/);
  }
});

test("refuses a field of another type than text, and throws for none", async () => {
  for (const field of [
    "server",
    "certificate-authority-data",
    "certificate-authority",
    "tls-server-name",
    "proxy-url",
  ]) {
    for (const value of [5, ["a"], { a: 1 }, true]) {
      const read = await connectionFromKubeconfig(kubeconfig({ [field]: value }));
      assert.deepEqual([read.ok, read.ok ? "" : read.error.path], [false, `clusters[1].cluster.${field}`]);
    }
  }
  for (const field of ["token", "tokenFile", "client-certificate-data", "client-key-data", "client-key"]) {
    for (const value of [5, ["a"], { a: 1 }]) {
      const read = await connectionFromKubeconfig(kubeconfig({}, { [field]: value }));
      assert.deepEqual([read.ok, read.ok ? "" : read.error.path], [false, `users[1].user.${field}`]);
    }
  }
});

test("warns of nothing in the log, as a warning would quote what it is about", async () => {
  const warnings: string[] = [];
  const listen = (warning: Error): void => void warnings.push(String(warning));
  process.on("warning", listen);

  await connectionFromKubeconfig(kubeconfig().replace("token: ", "token: !secret "));
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", listen);

  assert.deepEqual(warnings, []);
});

test("takes a named context, and names those there are when it is not there", async () => {
  const refused = await connectionFromKubeconfig(kubeconfig(), { context: "old" });
  const missing = await connectionFromKubeconfig(kubeconfig(), { context: "new" });
  const lost = await connectionFromKubeconfig(kubeconfig(), { context: "lost" });

  assert.equal(refused.ok ? "" : refused.error.path, "clusters[0].cluster.insecure-skip-tls-verify");
  assert.match(missing.ok ? "" : missing.error.remedy, /old, now/);
  assert.match(lost.ok ? "" : lost.error.problem, /no cluster named "gone"/);
});

test("reads the files that a kubeconfig file names, relative to it", async () => {
  const folder = await mkdtemp(path.join(os.tmpdir(), "kubeconfig-"));
  await writeFile(path.join(folder, "ca.pem"), ca);
  await writeFile(path.join(folder, "token"), `${TOKEN}\n`);
  const fields = { "certificate-authority-data": "", "certificate-authority": "ca.pem" };
  await writeFile(path.join(folder, "config"), kubeconfig(fields, { tokenFile: path.join(folder, "token") }));
  await writeFile(path.join(folder, "broken"), kubeconfig({}, { tokenFile: "nowhere" }));

  const read = await connectionFromFile(path.join(folder, "config"), "now");
  const broken = await connectionFromFile(path.join(folder, "broken"));
  const absent = await connectionFromFile(path.join(folder, "absent"));

  assert.ok(read.ok, JSON.stringify(read));
  assert.equal(read.value.ca, ca);
  assert.deepEqual(read.value.credential, { kind: "token", token: TOKEN });
  assert.equal(broken.ok ? "" : broken.error.path, "users[1].user.tokenFile");
  assert.match(absent.ok ? "" : absent.error.problem, /cannot be read/);
  await rm(folder, { recursive: true });
});

test("takes data before a file, as client-go does", async () => {
  const result = await connectionFromKubeconfig(kubeconfig({ "certificate-authority": "/no/such/file" }));

  assert.ok(result.ok);
  assert.equal(result.value.ca, ca);
});
