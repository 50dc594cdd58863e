import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline/promises";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import { KubeConfig } from "@kubernetes/client-node";
import { Client } from "undici";

const MAIN = join(import.meta.dirname, "../../../../../infra/local/cluster/main.ts");

function run(t: TestContext, args: readonly string[]): ChildProcess {
  const child = spawn(process.execPath, [MAIN, ...args], { stdio: ["ignore", "pipe", "pipe"] });
  t.after(() => child.kill("SIGKILL"));
  return child;
}

async function folder(t: TestContext): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), "hawser-cluster-"));
  t.after(() => rm(path, { recursive: true }));
  return path;
}

test("a cluster of its own process is ready with one line, serves its manifests and ends on SIGTERM", async (t) => {
  const path = await folder(t);
  const kubeconfig = join(path, "admin.yaml");
  await writeFile(join(path, "1.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: given}\n");
  const child = run(t, ["--name", "east", "--kubeconfig", kubeconfig, "--manifest", join(path, "1.yaml")]);
  assert.ok(child.stdout);

  const [line] = (await once(createInterface(child.stdout), "line")) as [string];
  const ready = JSON.parse(line) as { event: string; cluster: string; server: string };
  const config = new KubeConfig();
  config.loadFromString(await readFile(kubeconfig, "utf8"));
  const pem = (base64: string | undefined): string => Buffer.from(base64 ?? "", "base64").toString();
  const user = config.getCurrentUser();
  const client = new Client(ready.server, {
    connect: {
      ca: pem(config.getCurrentCluster()?.caData),
      cert: pem(user?.certData),
      key: pem(user?.keyData),
    },
  });
  t.after(() => client.destroy());
  const answer = await client.request({ method: "GET", path: "/api/v1/namespaces/given" });
  await answer.body.dump();
  child.kill("SIGTERM");
  const [code] = (await once(child, "exit")) as [number];

  assert.deepEqual([ready.event, ready.cluster], ["ready", "east"]);
  assert.equal(config.getCurrentCluster()?.server, ready.server);
  assert.equal((await stat(kubeconfig)).mode & 0o777, 0o600);
  assert.equal(answer.statusCode, 200);
  assert.equal(code, 0);
});

test("a wrong argument is told with the help, exit code 2", async (t) => {
  const child = run(t, ["--kubeconfig", "x", "--port", "many"]);
  assert.ok(child.stderr);
  const said = text(child.stderr);

  const [code] = (await once(child, "exit")) as [number];

  assert.equal(code, 2);
  assert.match(await said, /^--port many is no port\n\nA simulated Kubernetes API server/);
});
