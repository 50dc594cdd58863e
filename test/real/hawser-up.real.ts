import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { stringify } from "yaml";
import { ApiClient } from "../../infra/local/api-client/api-client.ts";
import { paths } from "../../infra/local/leader/resources.ts";
import type { MembershipSummary } from "../../infra/local/world/events.ts";
import { readManifests } from "../../infra/local/world/manifests.ts";
import { HawserProcess } from "../support/hawser-process.ts";
import { type AntreaClusters, AREA, furnishAntreaClusters } from "./antrea-clusters.ts";

const MEMBER_NAMESPACE = "kube-system";

describe("hawser up on real API servers", { timeout: 240_000 }, () => {
  const folder = mkdtempSync(join(tmpdir(), "hawser-real-up-"));
  let clusters: AntreaClusters;
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };

  before(async () => {
    clusters = await furnishAntreaClusters(readManifests("infra/local/manifests"));
    // The command has a leader of its own.
    await clusters.leader.stop();
  });
  after(async () => {
    await clusters.end();
    rmSync(folder, { recursive: true, force: true });
  });

  it("joins two members, misses no beat, brings what one exports to both, and shows it on both sides", async () => {
    write("north.kubeconfig", clusters.leaderCluster.adminKubeconfig());
    for (const { cluster, kubeconfig } of clusters.members) write(`${cluster}.kubeconfig`, kubeconfig);
    const config = write(
      "world.yaml",
      stringify({
        leader: { kubeconfig: "north.kubeconfig", simulatedController: true },
        members: ["east", "west"].map((cluster) => ({ cluster, kubeconfig: `${cluster}.kubeconfig` })),
      }),
    );

    const up = new HawserProcess(["up", "--config", config, "--for", "30s", "--json", "--data", join(folder, "data")]);
    const { code, stderr } = await up.finished;

    assert.equal(code, 0, stderr);
    const summary = up.lines.at(-1) as unknown as { memberships: MembershipSummary[] };
    assert.deepEqual(
      summary.memberships.map((m) => [m.cluster, m.connected, m.missed, m.beats >= 2]),
      [
        ["east", true, 0, true],
        ["west", true, 0, true],
      ],
    );
    for (const { conditions } of summary.memberships) {
      assert.deepEqual(
        (conditions as { type: string; status: string }[]).map((c) => `${c.type}=${c.status}`),
        ["Ready=True", "IsLeader=True", "ImportsWatched=True"],
      );
    }
    const announce = await clusters.leaderCluster.admin.request(
      "GET",
      `${paths.announces(AREA)}/member-announce-from-east`,
    );
    assert.deepEqual(announce.body.metadata.finalizers, ["memberclusterannounce.finalizer.antrea.io/east"]);
    for (const member of [clusters.east, clusters.west]) {
      const service = await member.admin.request("GET", "/api/v1/namespaces/shop/services/antrea-mc-web");
      assert.equal(service.body.metadata.annotations?.["multicluster.antrea.io/imported-service"], "true");
      const { body } = await member.admin.request("GET", `${paths.clusterSets(MEMBER_NAMESPACE)}/test-clusterset`);
      const status = body["status"] as { readyClusters: number; conditions: { type: string; status: string }[] };
      assert.equal(status.readyClusters, 1);
      assert.deepEqual(
        status.conditions.map((c) => `${c.type}=${c.status}`),
        ["Ready=True"],
      );
    }
  });

  it("has in a member the rights of infra/kubernetes and no others", async () => {
    const hawser = new ApiClient(clusters.members.find((m) => m.cluster === "east")?.kubeconfig ?? "");
    const secrets = `/api/v1/namespaces/${MEMBER_NAMESPACE}/secrets`;
    const codes = await Promise.all(
      [
        `${secrets}/member-east-token`,
        `${secrets}/hawser-token`,
        secrets,
        paths.clusterSets(MEMBER_NAMESPACE),
        paths.clusterSets("default"),
        "/api/v1/namespaces/kube-system",
        "/api/v1/namespaces/default",
        "/api/v1/nodes",
      ].map(async (path) => (await hawser.request("GET", path)).code),
    );
    await hawser.close();

    assert.deepEqual(codes, [200, 403, 403, 200, 403, 200, 403, 403]);
  });

  it("has in the leader the rights that Antrea gives its members and no others", async () => {
    const namespace = AREA;
    const kubeconfig = await clusters.leaderCluster.kubeconfigFor({
      serviceAccount: { namespace, name: "member-east" },
    });
    const member = new ApiClient(kubeconfig);
    const own = `${paths.announces(AREA)}/member-announce-from-east`;
    const codes = await Promise.all([
      member.request("GET", own),
      member.request("GET", paths.announces(AREA)),
      member.request("GET", paths.clusterSets(AREA)),
      member.request("GET", paths.serviceAccounts(AREA)),
      member.request("GET", `/api/v1/namespaces/${AREA}/secrets/member-east-token`),
      member.request("POST", paths.announces("default"), {}),
    ]);
    await member.close();

    assert.deepEqual(
      codes.map((answer) => answer.code),
      [200, 200, 403, 403, 403, 403],
    );
  });
});
