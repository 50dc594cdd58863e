import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { stringify } from "yaml";
import { ContractClient } from "./contract-client.ts";
import { plainKubeconfig } from "./plain-kubeconfig.ts";

/** Writes a kubeconfig with one cluster, one user and a context for both. */
function fileWith(t: TestContext, user: object, cluster: object = {}, folder = folderOf(t)): string {
  const file = join(folder, "config");
  const content = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "here",
    contexts: [{ name: "here", context: { cluster: "c", user: "u" } }],
    clusters: [
      {
        name: "c",
        cluster: { server: "https://c:6443", "certificate-authority-data": btoa("an authority"), ...cluster },
      },
    ],
    users: [{ name: "u", user }],
  };
  writeFileSync(file, stringify(content));
  return file;
}

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "hawser-kubeconfig-"));
  t.after(() => rmSync(folder, { recursive: true }));
  return folder;
}

test("files that a kubeconfig names are read", async (t) => {
  const folder = folderOf(t);
  writeFileSync(join(folder, "ca.pem"), "an authority");
  const authority = { "certificate-authority-data": undefined, "certificate-authority": "ca.pem" };

  const { kubeconfig, server } = await plainKubeconfig(fileWith(t, { token: "t" }, authority, folder), undefined);

  const client = ContractClient.of(kubeconfig);
  t.after(() => client.close());
  assert.deepEqual([client.ca, server.href], ["an authority", "https://c:6443/"]);
});

test("a credential plugin is asked for its token", async (t) => {
  const credential = {
    apiVersion: "client.authentication.k8s.io/v1",
    kind: "ExecCredential",
    status: { token: "given" },
  };
  const args = ["-e", `console.log(${JSON.stringify(JSON.stringify(credential))})`];
  const exec = { apiVersion: credential.apiVersion, command: process.execPath, args, interactiveMode: "Never" };

  const { kubeconfig } = await plainKubeconfig(fileWith(t, { exec }), undefined);

  assert.match(kubeconfig, /"token":"given"/);
});

test("what cannot be used is told without its content", async (t) => {
  const broken = join(folderOf(t), "broken");
  writeFileSync(broken, "users: [{name: u, user: {token: a-secret");
  const cases = [
    [broken, undefined, /cannot be read as a kubeconfig/],
    ["no-such-file", undefined, /does not exist/],
    [fileWith(t, { token: "a-secret" }), "elsewhere", /has no context elsewhere/],
    [fileWith(t, { token: "a-secret" }, { "insecure-skip-tls-verify": true }), undefined, /does not verify the server/],
  ] as const;

  for (const [file, context, words] of cases) {
    await assert.rejects(plainKubeconfig(file, context), (error: Error) => {
      assert.match(error.message, words);
      assert.doesNotMatch(error.message, /a-secret/);
      return true;
    });
  }
});
