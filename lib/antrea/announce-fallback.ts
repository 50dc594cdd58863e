import type { AnnounceDependencies } from "./announce-deps.ts";
import type { AnnouncedMembership, LeaderLink } from "./announced-membership.ts";
import type { ObservedClusterSet } from "./cluster-set-status.ts";
import { keptLeaderConnection } from "./kept-leader.ts";

/**
 * The connection that worked before this window: what a window keeps working must not end because the next one takes over.
 * Only where this window has had no connection yet, and asked of the credential store once: a kept credential that does
 * not work is none.
 * @param clusterSetUid of the ClusterSet that is there now
 * @returns undefined where there is none to go on with
 */
export async function keptLink(
  m: AnnouncedMembership,
  clusterSetUid: string,
  deps: AnnounceDependencies,
): Promise<LeaderLink | undefined> {
  const { membership } = m;
  const { signal } = m.controller;
  if (m.link !== undefined || m.waited || m.fellBack || membership.keptLeaderHash === undefined) return undefined;
  m.fellBack = true;
  const kept = await deps.readKeptLeader(membership.cluster, signal);
  const connection = kept === undefined ? undefined : keptLeaderConnection(kept);
  if (kept === undefined || connection?.ok !== true || signal.aborted) return undefined;
  const { server, commonArea, clusterID, leaderClusterID, clusterSetID } = kept;
  return {
    spec: { server, commonArea, clusterID, leaderClusterID, clusterSetID },
    client: deps.connector.connectLeader(`leader of ${membership.cluster}`, connection.value),
    hash: membership.keptLeaderHash,
    clusterSetUid,
    announced: true,
    touchTs: undefined,
    slow: false,
    toKeep: undefined,
  };
}

/** As {@link keptLink}, for a ClusterSet that cannot be used but still names the same leader. */
export async function sameLeaderKept(
  m: AnnouncedMembership,
  { uid, name, leaderClusterID }: ObservedClusterSet,
  deps: AnnounceDependencies,
): Promise<LeaderLink | undefined> {
  const link = await keptLink(m, uid, deps);
  if (link === undefined) return undefined;
  if (name === link.spec.clusterSetID && leaderClusterID === link.spec.leaderClusterID) return link;
  await link.client.close();
  return undefined;
}
