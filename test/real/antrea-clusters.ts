import type { RealCluster } from "../../infra/local/control-plane/real-cluster.ts";
import { paths } from "../../infra/local/leader/resources.ts";
import { BeatLedger } from "../../infra/local/world/beats.ts";
import type { WorldManifests } from "../../infra/local/world/manifests.ts";
import { type FurnishedClusters, furnishRealClusters } from "../../infra/local/world/real-control-plane.ts";
import { type Clock, systemClock } from "../../lib/base/clock.ts";
import { type ClustersUnderTest, clustersUnderTest } from "./clusters-under-test.ts";

/** The common area. */
export const AREA = "antrea-multicluster";

/** A leader with Antrea's rules and two members, on real API servers. */
export interface AntreaClusters extends FurnishedClusters {
  readonly leaderCluster: RealCluster;
  readonly east: RealCluster;
  readonly west: RealCluster;
  /** Ends the controllers and deletes all that was written. */
  end(): Promise<void>;
}

/**
 * Furnishes the clusters under test.
 * @param clock by which the leader judges its members
 * @throws where Antrea's definitions are there already: it would be changed
 */
export async function furnishAntreaClusters(
  manifests: WorldManifests,
  clock: Clock = systemClock,
): Promise<AntreaClusters> {
  const clusters = clustersUnderTest();
  const [east, west] = clusters.members;
  await refuseAntrea([clusters.leader, east, west]);
  const ledger = new BeatLedger(() => undefined);
  const member = (name: string): RealCluster => (name === "east" ? east : west);
  const world = await furnishRealClusters({ leader: clusters.leader, member, manifests, clock, ledger });
  const end = async (): Promise<void> => {
    await world.stop();
    await removeAll(clusters);
  };
  return { ...world, leaderCluster: clusters.leader, east, west, end };
}

async function refuseAntrea(clusters: readonly RealCluster[]): Promise<void> {
  for (const { name, admin } of clusters) {
    const { code } = await admin.request("GET", "/apis/multicluster.crd.antrea.io");
    if (code !== 404) throw new Error(`${name} has Antrea's definitions: end-to-end tests want clusters without`);
  }
}

async function removeAll(clusters: ClustersUnderTest): Promise<void> {
  const { admin } = clusters.leader;
  await admin.request("DELETE", `${paths.webhooks}/antrea-mc-validating-webhook-configuration`);
  const announces = await admin.request("GET", paths.announces(AREA));
  for (const { metadata } of announces.body.items ?? []) {
    const path = `${paths.announces(AREA)}/${metadata.name}`;
    await admin.request("DELETE", path);
    // The leader that would let it go has ended.
    await admin.request("PATCH", path, { metadata: { finalizers: null } }, "application/merge-patch+json");
  }
  const exports = await admin.request("GET", paths.exports(AREA));
  for (const { metadata } of exports.body.items ?? []) {
    const path = `${paths.exports(AREA)}/${metadata.name}`;
    await admin.request("PATCH", path, { metadata: { finalizers: null } }, "application/merge-patch+json");
  }
  for (const cluster of [...clusters.members, clusters.leader]) await cluster.removeApplied();
  await clusters.close();
}
