import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { ApiClient } from "../../infra/local/api-client/api-client.ts";
import { eventually } from "../../infra/local/control-plane/apply.ts";
import { paths } from "../../infra/local/leader/resources.ts";
import { systemClock } from "../../lib/base/clock.ts";
import type { WireStatus } from "../antrea/role-harness.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { memberManifests } from "../support/member-manifests.ts";
import { type AntreaClusters, AREA, furnishAntreaClusters } from "./antrea-clusters.ts";

const HOUR_MS = 3_600_000;
const STEP_MS = 10_000;
const IDS = ["east", "west"] as const;

describe("the leader's view of its members, on a real API server and by a clock of its own", {
  timeout: 120_000,
}, () => {
  const clock = new FakeClock(new Date());
  const clients = new Map<string, ApiClient>();
  let clusters: AntreaClusters;

  before(async () => {
    const members = IDS.map((cluster) => memberManifests(cluster, AREA));
    clusters = await furnishAntreaClusters({ leader: [], members }, clock);
    for (const id of IDS) {
      const serviceAccount = { namespace: AREA, name: `member-${id}` };
      clients.set(id, new ApiClient(await clusters.leaderCluster.kubeconfigFor({ serviceAccount })));
    }
  });
  after(async () => {
    for (const client of clients.values()) await client.close();
    await clusters.end();
  });

  const path = (id: string): string => `${paths.announces(AREA)}/member-announce-from-${id}`;
  const stored = (id: string) => clusters.leaderCluster.admin.request("GET", path(id));
  const member = (id: string) => clusters.leader.members().find(({ clusterId }) => clusterId === id);
  const until = async (what: string, holds: () => boolean | Promise<boolean>): Promise<void> => {
    await eventually(systemClock, what, async () => ((await holds()) ? true : undefined));
  };
  /** One beat, taken note of by the leader; the first one makes the announce. */
  const beat = async (id: string): Promise<void> => {
    const annotations = { "touch-ts": clock.now().toISOString() };
    const client = clients.get(id);
    const patch = { metadata: { annotations } };
    const patched = await client?.request("PATCH", path(id), patch, "application/merge-patch+json");
    const made =
      patched?.code === 404
        ? await client?.request("POST", paths.announces(AREA), {
            apiVersion: "multicluster.crd.antrea.io/v1alpha1",
            kind: "MemberClusterAnnounce",
            metadata: { name: `member-announce-from-${id}`, annotations },
            clusterID: id,
            clusterSetID: "set",
            leaderClusterID: "north",
          })
        : patched;
    assert.ok(made !== undefined && made.code < 300, made?.body.message);
    await until(`${id} to be seen`, () => member(id)?.lastUpdate === clock.now().getTime());
  };
  const isConnected = (id: string): boolean | undefined => member(id)?.connected;

  it("calls a member disconnected 30 to 40 s after its last beat, and connected within 10 s of the next", async () => {
    for (const id of IDS) await beat(id);
    // The leader's own finalizers are signs of life, too: they come before time goes on.
    for (const id of IDS)
      await until("the finalizer", async () => (await stored(id)).body.metadata.finalizers?.length === 1);
    await clock.advance(1_000);
    await beat("west");
    await clock.advance(STEP_MS - 1_000);
    for (let beats = 0; beats < 2; beats += 1) {
      await beat("west");
      await clock.advance(STEP_MS);
    }
    await beat("west");
    assert.deepEqual(IDS.map(isConnected), [true, true]);

    await clock.advance(STEP_MS);

    assert.deepEqual(IDS.map(isConnected), [false, true]);
    assert.match(member("east")?.message ?? "", /^No MemberClusterAnnounce update after /);
    await beat("east");
    await clock.advance(STEP_MS);
    assert.deepEqual(IDS.map(isConnected), [true, true]);
  });

  it("shows it in its ClusterSet", async () => {
    const status = async (): Promise<WireStatus> =>
      ((await clusters.leaderCluster.admin.request("GET", `${paths.clusterSets(AREA)}/set`)).body["status"] ??
        {}) as WireStatus;
    let shown: WireStatus = {};
    for (let beats = 0; beats < 12 && shown.readyClusters !== 1; beats += 1) {
      await beat("west");
      await clock.advance(STEP_MS);
      // It writes every 30 s.
      if (beats % 3 === 2) shown = await status();
    }

    assert.deepEqual([shown.totalClusters, shown.readyClusters], [2, 1]);
    assert.deepEqual(
      [shown.conditions?.[0]?.["status"], shown.conditions?.[0]?.["reason"]],
      ["False", "NoReadyCluster"],
    );
    const east = shown.clusterStatuses?.find(({ clusterID }) => clusterID === "east")?.conditions[0];
    assert.deepEqual([east?.["status"], east?.["reason"]], ["False", "Disconnected"]);
  });

  it("sweeps a member that was silent for a day, and no other", async () => {
    for (const id of IDS) await beat(id);
    for (let hours = 0; hours < 36; hours += 12) {
      await clock.advance(12 * HOUR_MS);
      await beat("west");
      if (hours < 24) assert.equal((await stored("east")).code, 200, `after ${hours + 12} h`);
    }

    await until("east to be swept", async () => (await stored("east")).code === 404);
    assert.equal((await stored("west")).code, 200);
  });

  it("keeps its ClusterSet while there are announces, and lets nobody announce without one", async () => {
    const { admin } = clusters.leaderCluster;
    const set = `${paths.clusterSets(AREA)}/set`;
    const { metadata, ...content } = (await admin.request("GET", set)).body;

    const kept = await admin.request("DELETE", set);
    await admin.request("DELETE", path("west"));
    await until("west to be gone", async () => (await stored("west")).code === 404);
    const gone = await admin.request("DELETE", set);
    const late = await clients.get("west")?.request("POST", paths.announces(AREA), {
      apiVersion: "multicluster.crd.antrea.io/v1alpha1",
      kind: "MemberClusterAnnounce",
      metadata: { name: "member-announce-from-west" },
      clusterID: "west",
      clusterSetID: "set",
      leaderClusterID: "north",
    });

    assert.deepEqual([kept.code, gone.code, late?.code], [412, 200, 412]);
    assert.match(late?.body.message ?? "", new RegExp(`no ClusterSet found in Namespace ${AREA}`));
    const again = await admin.request("POST", paths.clusterSets(AREA), {
      ...content,
      metadata: { name: metadata.name },
    });
    assert.equal(again.code, 201, again.body.message);
  });
});
