import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { parse, stringify } from "yaml";
import { ApiClient } from "../../infra/local/api-client/api-client.ts";
import { kubeconfigYaml } from "../../infra/local/cluster/kubeconfig.ts";
import type { MembershipSummary } from "../../infra/local/world/events.ts";
import type { LocalWorldState } from "../../infra/local/world/state-file.ts";
import type { FleetView, MembershipView } from "../../lib/status/fleet.ts";
import { type Finished, HawserProcess, hawser } from "../support/hawser-process.ts";

const GROUP = "/apis/multicluster.crd.antrea.io";

/** A member in one file, in a form of the user's own. */
function manifest(id: string, namespace: string, stringData: Record<string, string>): string {
  const documents = [
    { apiVersion: "v1", kind: "Secret", metadata: { name: "hub-credentials", namespace }, stringData },
    {
      apiVersion: "multicluster.crd.antrea.io/v1alpha2",
      kind: "ClusterSet",
      metadata: { name: "fleet", namespace },
      spec: {
        clusterID: id,
        namespace: "common",
        leaders: [{ clusterID: "hub", secret: "hub-credentials", server: "https://hub.example:6443" }],
      },
    },
  ];
  return documents.map((document) => stringify(document)).join("---\n");
}

describe("a world of the user's own manifests, one member of which is misconfigured", { timeout: 90_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "hawser-own-manifests-"));
  const data = join(folder, "data");
  const outputs: string[] = [];
  let up: HawserProcess;
  let state: LocalWorldState;
  before(async () => {
    const manifests = join(folder, "manifests");
    mkdirSync(manifests);
    writeFileSync(join(manifests, "berlin.yaml"), manifest("de-1", "multicluster", { "ca.crt": "", token: "" }));
    writeFileSync(join(manifests, "lyon.yml"), manifest("fr-1", "kube-public", { "ca.crt": "", token: "" }));
    writeFileSync(join(manifests, "turin.yaml"), manifest("it-1", "multicluster", { token: "" }));
    up = new HawserProcess(["up", "--manifests", manifests, "--json", "--data", data]);
    await up.until((line) => line["event"] === "condition" && line["type"] === "IsLeader", 3);
    // Each member's second beat, or what is wrong with it, is known by now.
    await up.until((line) => line["event"] === "beat" && line["cluster"] === "lyon", 2);
    state = JSON.parse(readFileSync(join(data, "local.json"), "utf8")) as LocalWorldState;
  });
  after(() => {
    up.child.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  });

  const run = async (...args: string[]): Promise<Finished> => {
    const finished = await hawser(...args, "--data", data);
    outputs.push(finished.stdout, finished.stderr);
    return finished;
  };
  const kubeconfigOf = (cluster: string): string => readFileSync(join(data, "kubeconfigs", `${cluster}.yaml`), "utf8");

  it("joins those which are right, whatever their files, Namespaces and Secrets are called", async () => {
    const joined = await up.until((line) => line["event"] === "joined", 2);
    const [refused] = await up.until((line) => line["event"] === "notJoined");

    assert.deepEqual(new Set(joined.map((line) => line["cluster"])), new Set(["berlin", "lyon"]));
    assert.equal(refused?.["cluster"], "turin");
    assert.match(String(refused?.["problem"]), /ca\.crt data not found in Secret hub-credentials/);
  });

  it("shows the misconfigured one with cause and remedy, exit code 3, and the others connected", async () => {
    const json = await run("status", "--json");
    const table = await run("status");

    assert.deepEqual([json.code, table.code], [3, 3]);
    const { memberships } = JSON.parse(json.stdout) as FleetView;
    const states = memberships.map((m) => [m.cluster, m.state, m.cause]);
    assert.deepEqual(states, [
      ["berlin", "Connected", undefined],
      ["lyon", "Connected", undefined],
      ["turin", "Disconnected", "ConfigurationInvalid"],
    ]);
    const turin = memberships.find((m) => m.cluster === "turin") as MembershipView;
    const ready = turin.conditions.find((c) => c.type === "Ready");
    assert.deepEqual([ready?.status, ready?.cause], ["False", "ConfigurationInvalid"]);
    for (const text of [ready?.message ?? "", table.stdout]) {
      assert.match(text, /turin/);
      assert.match(text, /Secret multicluster\/hub-credentials/);
      assert.match(text, /ca\.crt data not found in Secret hub-credentials/);
      assert.match(text, /kubectl -n multicluster create secret generic hub-credentials/);
    }
    assert.match(table.stdout, /turin +antrea +Disconnected \(ConfigurationInvalid\)/);
  });

  it("is watched line by line until Ctrl-C, which is no failure", async () => {
    const watch = new HawserProcess(["status", "--watch", "--json", "--data", data]);
    const [first, second] = await watch.until(() => true, 2);
    watch.child.kill("SIGINT");

    const { code, stdout, stderr } = await watch.finished;

    outputs.push(stdout, stderr);
    assert.equal(code, 0, stderr);
    assert.equal((first as unknown as FleetView).memberships.length, 3);
    const apart = Date.parse(String(second?.["at"])) - Date.parse(String(first?.["at"]));
    assert.ok(apart > 500 && apart < 10_000, `${apart} ms between two lines`);
  });

  it("keeps to itself what is wrong with kubeconfigs that a join names", async () => {
    const canary = "canary-5d1f0c9e";
    const { clusters } = parse(kubeconfigOf("berlin")) as { clusters: { cluster: Record<string, string> }[] };
    const server = clusters[0]?.cluster["server"] ?? "";
    const caPem = Buffer.from(clusters[0]?.cluster["certificate-authority-data"] ?? "", "base64").toString("utf8");
    const base = { cluster: "c", server, caPem, user: "u" };
    const kubeconfigs = {
      refused: kubeconfigYaml({ ...base, credential: { token: canary } }),
      unusable: kubeconfigYaml({ ...base, credential: { token: `${canary}\u0001` } }),
      "no-key": kubeconfigYaml({ ...base, credential: { certificate: { cert: canary, key: canary } } }),
      "no-yaml": `users:\n  - user: {token: ${canary}\n  name: u\n`,
    };
    const documents = Object.entries(kubeconfigs).map(([cluster, text]) => {
      writeFileSync(join(folder, `${cluster}.kubeconfig`), text);
      const access = { kubeconfig: { file: `${cluster}.kubeconfig` } };
      return stringify({ cluster, protocol: "antrea", access, antrea: { namespace: "kube-system" } });
    });
    writeFileSync(join(folder, "members.yaml"), documents.join("---\n"));

    const { code, stdout, stderr } = await run("join", "-f", join(folder, "members.yaml"));

    assert.equal(code, 1);
    for (const cluster of Object.keys(kubeconfigs)) assert.match(stdout, new RegExp(`^${cluster}: not joined$`, "m"));
    assert.match(stdout, /failed \(access\.kubeconfig\.file: the kubeconfig is not valid YAML/);
    const encoded = Buffer.from(canary).toString("base64").slice(0, 16);
    for (const text of [stdout, stderr, readFileSync(join(data, "functions.log"), "utf8")]) {
      assert.ok(!text.includes(canary) && !text.includes(encoded));
    }
  });

  it("lets no credential out: not into outputs, logs, table or any object's status", async () => {
    const secrets: string[] = [];
    const objects: string[] = [];
    for (const [cluster, id, namespace] of [
      ["berlin", "de-1", "multicluster"],
      ["lyon", "fr-1", "kube-public"],
    ] as const) {
      const kubeconfig = kubeconfigOf(cluster);
      const { users } = parse(kubeconfig) as { users: { user: { token: string } }[] };
      secrets.push(users[0]?.user.token ?? "");
      const member = new ApiClient(kubeconfig);
      const secret = await member.request("GET", `/api/v1/namespaces/${namespace}/secrets/hub-credentials`);
      const { token = "", "ca.crt": ca = "" } = secret.body["data"] as Record<string, string>;
      const plain = (base64: string): string => Buffer.from(base64, "base64").toString("utf8");
      secrets.push(plain(token));
      const set = await member.request("GET", `${GROUP}/v1alpha2/namespaces/${namespace}/clustersets/fleet`);
      const spec = set.body["spec"] as { leaders: { server: string }[] };
      const leader = new ApiClient(
        kubeconfigYaml({
          cluster: "hub",
          server: spec.leaders[0]?.server ?? "",
          caPem: plain(ca),
          user: id,
          credential: { token: plain(token) },
        }),
      );
      const path = `${GROUP}/v1alpha1/namespaces/common/memberclusterannounces/member-announce-from-${id}`;
      const announce = await leader.request("GET", path);
      assert.deepEqual([secret.code, set.code, announce.code], [200, 200, 200]);
      objects.push(JSON.stringify(set.body), JSON.stringify(announce.body));
      await member.close();
      await leader.close();
    }
    const table = await items(state);
    up.child.kill("SIGINT");
    const { code, stdout, stderr } = await up.finished;

    assert.equal(code, 0, stderr);
    const written = readdirSync(data)
      .filter((name) => name !== "kubeconfigs")
      .map((name) => readFileSync(join(data, name), "utf8"));
    assert.ok(table.length >= 10, `${table.length} items in the table`);
    const all = [...outputs, stdout, stderr, ...written, ...objects, ...table].join("\n");
    assert.ok(all.includes("baton taken"), "the functions' log was read");
    assert.ok(!/-----BEGIN|certificate-authority-data/.test(all), "a key, a certificate or a kubeconfig was written");
    assert.deepEqual(new Set(secrets).size, 4);
    for (const secret of secrets) {
      const signature = secret.split(".").at(-1) ?? "";
      assert.ok(signature.length > 40);
      const encoded = Buffer.from(secret).toString("base64").slice(-40, -4);
      assert.ok(!all.includes(signature) && !all.includes(encoded), "a token was written somewhere");
    }
  });

  it("tells at the end who was connected by the leader's own rule", () => {
    const summary = up.lines.at(-1) as unknown as { memberships: MembershipSummary[] };

    assert.deepEqual(
      summary.memberships.map((m) => [m.cluster, m.connected, m.beats > 0]),
      [
        ["berlin", true, true],
        ["lyon", true, true],
        ["turin", false, false],
      ],
    );
  });
});

/** Every item of the world's table, as JSON. */
async function items(state: LocalWorldState): Promise<string[]> {
  const client = new DynamoDBClient({
    region: state.region,
    endpoint: state.endpoints.dynamodb,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  try {
    const { Items = [] } = await client.send(new ScanCommand({ TableName: state.table }));
    return Items.map((item) => JSON.stringify(item));
  } finally {
    client.destroy();
  }
}
