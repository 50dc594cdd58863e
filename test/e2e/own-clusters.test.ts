import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { parse, stringify } from "yaml";
import { kubeconfigYaml } from "../../infra/local/cluster/kubeconfig.ts";
import { BeatLedger } from "../../infra/local/world/beats.ts";
import type { MembershipSummary } from "../../infra/local/world/events.ts";
import { ManifestError } from "../../infra/local/world/manifests.ts";
import { useRealClusters } from "../../infra/local/world/real.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { HawserProcess, hawser } from "../support/hawser-process.ts";
import { AREA, type StandaloneCluster, startLeaderCluster, startMemberCluster, tie } from "./standalone-cluster.ts";

const ANNOUNCES = `/apis/multicluster.crd.antrea.io/v1alpha1/namespaces/${AREA}/memberclusterannounces`;

/** The last part of each kubeconfig's private key or token. */
function secretsOf(...files: readonly string[]): string[] {
  return files.map((file) => {
    const { users } = parse(readFileSync(file, "utf8")) as { users: { user: Record<string, string> }[] };
    const { token, "client-key-data": key } = users[0]?.user ?? {};
    return (token?.split(".").at(-1) ?? key ?? "").slice(-100);
  });
}

describe("npm start on clusters that run already", { concurrency: true, timeout: 90_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "hawser-own-clusters-"));
  let files = 0;
  let [north, east, west]: StandaloneCluster[] = [];
  const started = (cluster: StandaloneCluster | undefined): StandaloneCluster => {
    assert.ok(cluster !== undefined);
    return cluster;
  };
  before(async () => {
    [north, east, west] = await Promise.all([
      startLeaderCluster(folder, ["east", "west"]),
      startMemberCluster(folder, "east"),
      startMemberCluster(folder, "west"),
    ]);
    for (const member of [east, west]) {
      await tie(started(member), started(north));
      await member?.kubeconfigFrom(join(folder, `${member.name}.kubeconfig`), "kube-system", "hawser-token");
    }
  });
  after(async () => {
    const codes = await Promise.all([north, east, west].map(async (cluster) => await cluster?.stop()));
    rmSync(folder, { recursive: true, force: true });
    assert.deepEqual(codes, [0, 0, 0]);
  });

  /** Writes a file; answers its path. */
  const write = (text: string): string => {
    const file = join(folder, `file-${(files += 1)}.yaml`);
    writeFileSync(file, text);
    return file;
  };
  const dataFolder = (): string => mkdtempSync(join(folder, "data-"));
  /** A configuration in which all is right, with the changes given. */
  const config = (change: { leader?: object; east?: object } = {}): string =>
    write(
      stringify({
        leader: { kubeconfig: "north.admin.yaml", simulatedController: true, ...change.leader },
        // Relative to the configuration file.
        members: [
          { cluster: "east", kubeconfig: "east.kubeconfig", ...change.east },
          { cluster: "west", kubeconfig: "west.kubeconfig" },
        ],
      }),
    );
  /** What the world says of a configuration that it cannot use. */
  const refused = async (file: string): Promise<string> => {
    const ledger = new BeatLedger(() => undefined);
    const starting = useRealClusters({ configFile: file, clock: systemClock, ledger, progress: () => undefined });
    const error: unknown = await starting.then(
      async (world) => await world.stop(),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof ManifestError, String(error));
    return error.message;
  };

  it("joins them with the rights of infra/kubernetes alone and misses no beat", async () => {
    const data = dataFolder();
    const up = new HawserProcess(["up", "--config", config(), "--for", "21s", "--json", "--data", data]);
    await up.until((line) => line["event"] === "beat", 3);
    const { body } = await started(north).admin.request("GET", `${ANNOUNCES}/member-announce-from-east`);

    const { code, stdout, stderr } = await up.finished;

    assert.equal(code, 0, stderr);
    const written = [stdout, stderr, readFileSync(join(data, "functions.log"), "utf8")].join("\n");
    for (const secret of secretsOf(join(folder, "north.admin.yaml"), join(folder, "east.kubeconfig"))) {
      assert.ok(secret.length > 40 && !written.includes(secret), "a credential was written");
    }
    const summary = up.lines.at(-1) as unknown as { memberships: MembershipSummary[] };
    assert.deepEqual(
      summary.memberships.map((m) => [m.cluster, m.connected, m.missed, m.beats >= 2]),
      [
        ["east", true, 0, true],
        ["west", true, 0, true],
      ],
    );
    // The simulated leader works there as itself, not as the administrator whom its own rules would refuse.
    assert.deepEqual(body.metadata.finalizers, ["memberclusterannounce.finalizer.antrea.io/east"]);
    const sets = await started(east).admin.request(
      "GET",
      "/apis/multicluster.crd.antrea.io/v1alpha2/namespaces/kube-system/clustersets",
    );
    const status = sets.body.items?.[0]?.["status"] as { conditions: { type: string; status: string }[] } | undefined;
    assert.deepEqual(
      status?.conditions.map((c) => `${c.type}=${c.status}`),
      ["Ready=True"],
    );
  });

  it("names a configuration file that is not there, no YAML, or of another form", async () => {
    const { code, stdout, stderr } = await hawser("up", "--config", join(folder, "none.yaml"), "--data", dataFolder());
    assert.equal(code, 1);
    assert.match(stderr, /^hawser: .*none\.yaml: cannot be read: ENOENT\. Name a file\n$/);
    assert.equal(stdout, "");
    assert.match(await refused(join(folder, "none.yaml")), /none\.yaml: cannot be read: ENOENT/);
    assert.match(await refused(write("leader: [")), /is not YAML/);
    assert.match(
      await refused(config({ east: { namespaze: "kube-system" } })),
      /members\.0\.namespaze: .*Expected never/,
    );
  });

  it("names a kubeconfig that cannot be read or used, and shows nothing of it", async () => {
    assert.match(
      await refused(config({ leader: { kubeconfig: "none" } })),
      /leader\.kubeconfig: .*none cannot be read \(ENOENT\)/,
    );
    const broken = write("users:\n  - user: {token: canary-7f3a\n  name: x\n");
    const told = await refused(config({ east: { kubeconfig: broken } }));
    assert.match(told, /members\[0\]\.kubeconfig: the kubeconfig is no kubeconfig/);
    assert.doesNotMatch(told, /canary/);
    assert.match(await refused(config({ east: { context: "other" } })), /has no context "other"/);
  });

  it("names a member without ClusterSet", async () => {
    const told = await refused(config({ east: { clusterSet: "others" } }));

    assert.match(
      told,
      /members\[0\]: cluster east has no ClusterSet "others" in Namespace kube-system\. Apply a ClusterSet/,
    );
  });

  it("names a server that cannot be reached", async () => {
    const dead = write(
      kubeconfigYaml({
        cluster: "dead",
        server: "https://127.0.0.1:1",
        caPem: started(east).admin.ca,
        user: "nobody",
        credential: { token: "canary-7f3a" },
      }),
    );

    const { code, stderr } = await hawser(
      "up",
      "--config",
      config({ east: { kubeconfig: dead } }),
      "--data",
      dataFolder(),
    );

    assert.equal(code, 1);
    assert.doesNotMatch(stderr, /\n\s+at /, "a user's mistake shows no stack");
    assert.match(stderr, /members\[0\]: the API server cannot be reached: .*ECONNREFUSED.*https:\/\/127\.0\.0\.1:1/);
    assert.doesNotMatch(stderr, /canary/);
  });

  it("names a kubeconfig without rights", async () => {
    const member = await started(north).kubeconfigFrom(join(folder, "as-member.yaml"), AREA, "member-east-token");

    const leader = await refused(config({ leader: { kubeconfig: member } }));
    const elsewhere = await refused(config({ east: { namespace: "default" } }));

    assert.match(leader, /leader: the API server answers 403: .*cannot list resource "memberclusterannounces"/);
    assert.match(elsewhere, /members\[0\]: the API server answers 403: .*cannot list resource "clustersets"/);
  });
});
