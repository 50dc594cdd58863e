import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { stringify } from "yaml";
import type { RealCluster } from "../../infra/local/control-plane/real-cluster.ts";
import { paths } from "../../infra/local/leader/resources.ts";
import { systemClock } from "../../lib/base/clock.ts";
import type { LeaveAnswer } from "../../lib/runtime/leave-answer.ts";
import type { FleetView, MembershipView } from "../../lib/status/fleet.ts";
import { HawserProcess, hawser } from "../support/hawser-process.ts";
import { memberManifests } from "../support/member-manifests.ts";
import { type AntreaClusters, AREA, furnishAntreaClusters } from "./antrea-clusters.ts";
import { changeSecret } from "./members-under-test.ts";

const LOOK_MS = 1_000;
const MARKER = { "multicluster.antrea.io/imported-service": "true" };

describe("members that are changed, paused and left, on real API servers", { timeout: 480_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "hawser-real-lifecycle-"));
  const data = join(folder, "data");
  let clusters: AntreaClusters;
  let up: HawserProcess;
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const ask = async (...args: string[]) => await hawser(...args, "--data", data);
  const shown = async (cluster: string): Promise<MembershipView | undefined> => {
    const fleet = JSON.parse((await ask("status", "--json")).stdout) as FleetView;
    return fleet.memberships.find((membership) => membership.cluster === cluster);
  };
  const announce = async (cluster: string) =>
    await clusters.leaderCluster.admin.request("GET", `${paths.announces(AREA)}/member-announce-from-${cluster}`);

  before(async () => {
    const members = ["east", "west"].map((cluster) => memberManifests(cluster, AREA));
    clusters = await furnishAntreaClusters({ leader: [], members });
    // The command has a leader of its own.
    await clusters.leader.stop();
    write("north.kubeconfig", clusters.leaderCluster.adminKubeconfig());
    for (const { cluster, kubeconfig } of clusters.members) write(`${cluster}.kubeconfig`, kubeconfig);
    const config = write(
      "world.yaml",
      stringify({
        leader: { kubeconfig: "north.kubeconfig", simulatedController: true },
        members: ["east", "west"].map((cluster) => ({ cluster, kubeconfig: `${cluster}.kubeconfig` })),
      }),
    );
    up = new HawserProcess(["up", "--config", config, "--json", "--data", data]);
    const leads = (line: Record<string, unknown>): boolean => line["type"] === "IsLeader" && line["status"] === "True";
    await up.until(leads, 2);
  });
  after(async () => {
    up.child.kill("SIGINT");
    await up.finished;
    await clusters.end();
    rmSync(folder, { recursive: true, force: true });
  });

  it("are found to be well by the doctor", async () => {
    const { code, stdout } = await ask("doctor", "east");
    assert.equal(code, 0, stdout);
  });

  it("go on with the token before while another one is refused, say so, and take one that is not", async () => {
    const touched = await touchOf(await announce("west"));
    await changeSecret(clusters.west, { token: "nobody's" });
    const named = await eventually("the refusal", async () => {
      const found = (await shown("west"))?.conditions.find(({ type }) => type === "ConfigurationInForce");
      return found?.status === "False" ? found : undefined;
    });
    assert.equal(named.cause, "CredentialRefused");
    const view = await shown("west");
    assert.equal(view?.conditions.find(({ type }) => type === "Ready")?.status, "True");
    assert.ok((await touchOf(await announce("west"))) > touched);

    await changeSecret(clusters.west, { token: await clusters.leaderCluster.tokenFor(AREA, "member-west") });
    await eventually("the other token in force", async () =>
      (await shown("west"))?.conditions.some((c) => c.type === "ConfigurationInForce" && c.status === "True")
        ? true
        : undefined,
    );
  });

  it("send nothing while they are paused, and beat again when they are resumed", async () => {
    assert.equal((await ask("pause", "west")).code, 0);
    // In force within 20 seconds.
    await another("east", 2);
    const quiet = await touchOf(await announce("west"));
    await another("east", 2);
    assert.equal(await touchOf(await announce("west")), quiet);

    assert.equal((await ask("resume", "west")).code, 0);
    await another("west", 1);
    assert.ok((await touchOf(await announce("west"))) > quiet);
  });

  it("leave nothing in leader and member when they are left but what is not Hawser's to take", async () => {
    await expose(clusters.west, "antrea-mc-web", MARKER);
    await expose(clusters.west, "web", {});

    const left = await ask("leave", "west", "--json");

    const answer = JSON.parse(left.stdout) as LeaveAnswer;
    assert.ok(answer.ok, left.stdout);
    assert.deepEqual([left.code, answer.orphans], [0, []]);
    assert.equal((await announce("west")).code, 404);
    assert.equal((await announce("east")).code, 200);
    assert.deepEqual(await codes(clusters.west, ["antrea-mc-web", "web"]), [404, 200]);
    const set = await clusters.west.admin.request("GET", `${paths.clusterSets("kube-system")}/set`);
    assert.equal((set.body["status"] as { readyClusters?: number }).readyClusters, 0);
    assert.equal(await shown("west"), undefined);
    assert.equal((await shown("east"))?.state, "Connected");
  });

  it("are left by deletion of their ClusterSet, and wait for the next one", async () => {
    const deleted = await clusters.east.admin.request("DELETE", `${paths.clusterSets("kube-system")}/set`);
    assert.equal(deleted.code, 200, deleted.body.message);

    const gone = async () => ((await announce("east")).code === 404 ? true : undefined);
    await eventually("the announce to be gone", gone);
    const waits = async () => ((await shown("east"))?.cause === "ClusterSetMissing" ? true : undefined);
    await eventually("the membership to wait", waits);
  });

  async function another(cluster: string, count: number): Promise<void> {
    const isBeat = (line: Record<string, unknown>): boolean => line["event"] === "beat" && line["cluster"] === cluster;
    await up.until(isBeat, up.lines.filter(isBeat).length + count);
  }
});

/** Each look is a command that reads what people read: seconds, not milliseconds. */
async function eventually<T>(what: string, ask: () => Promise<T | undefined>): Promise<T> {
  for (let looks = 0; looks < 180; looks += 1) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    await systemClock.sleep(LOOK_MS);
  }
  throw new Error(`${what} did not come`);
}

async function touchOf({ code, body }: Awaited<ReturnType<RealCluster["admin"]["request"]>>): Promise<string> {
  assert.equal(code, 200, body.message);
  return body.metadata.annotations?.["touch-ts"] ?? "";
}

async function expose(cluster: RealCluster, name: string, annotations: Record<string, string>): Promise<void> {
  const { code, body } = await cluster.admin.request("POST", "/api/v1/namespaces/default/services", {
    apiVersion: "v1",
    kind: "Service",
    metadata: { name, annotations },
    spec: { ports: [{ port: 80 }] },
  });
  assert.equal(code, 201, body.message);
}

async function codes(cluster: RealCluster, names: readonly string[]): Promise<readonly number[]> {
  const answers = names.map(async (name) => {
    return (await cluster.admin.request("GET", `/api/v1/namespaces/default/services/${name}`)).code;
  });
  return await Promise.all(answers);
}
