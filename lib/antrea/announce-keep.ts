import type { Hold } from "../relay/ports.ts";
import type { Membership } from "../state/membership.ts";
import type { AnnounceDependencies } from "./announce-deps.ts";
import type { AnnouncedMembership } from "./announced-membership.ts";
import { type KeptLeader, keptLeaderHash, keptLeaderOf } from "./kept-leader.ts";
import type { LeaderConfiguration } from "./member-reading.ts";

/** What is to be kept of a leader and is not kept yet, and the hash by which the table will know it. */
export interface LeaderToKeep {
  readonly kept: KeptLeader;
  readonly hash: string;
}

/** What a connection's leader leaves to be kept; undefined where that is kept already, or cannot be. */
export function leaderToKeep(membership: Membership, configuration: LeaderConfiguration): LeaderToKeep | undefined {
  const kept = keptLeaderOf(configuration);
  if (kept === undefined || membership.clusterUID === undefined) return undefined;
  const hash = keptLeaderHash(membership.clusterUID, kept);
  return hash === membership.keptLeaderHash ? undefined : { kept, hash };
}

/** True when the leader has taken a beat and is not kept yet: what does not work is nothing to leave with. */
export function leaderIsOwed(m: AnnouncedMembership): boolean {
  return m.link?.toKeep !== undefined && m.succeededMs !== undefined && m.failing === undefined;
}

/** Keeps the leader: first the secret, then its hash in the table, so that what the table names is there. */
export async function keepLeader(m: AnnouncedMembership, hold: Hold, deps: AnnounceDependencies): Promise<void> {
  const { link, membership } = m;
  const { signal } = m.controller;
  if (link?.toKeep === undefined || !hold.mayWrite()) return;
  const { kept, hash } = link.toKeep;
  if (!(await deps.keepLeader(membership.cluster, kept, signal)) || signal.aborted || !hold.mayWrite()) return;
  const noted = await deps.store.updateMembership(
    { cluster: membership.cluster, protocol: membership.protocol },
    { keptLeaderHash: hash, leader: { clusterID: kept.leaderClusterID, server: kept.server } },
    { assignment: membership.assignment },
    signal,
  );
  if (noted.ok && noted.value.kind !== "refused" && noted.value.kind !== "absent") link.toKeep = undefined;
}

/** The ClusterSet that was served is gone: that is how an Antrea member leaves, and what it left behind is to be taken away. */
export async function noteDeparture(
  m: AnnouncedMembership,
  hold: Hold,
  { store }: AnnounceDependencies,
): Promise<void> {
  const { membership } = m;
  if (!m.departureOwed || !hold.mayWrite()) return;
  const noted = await store.updateMembership(
    { cluster: membership.cluster, protocol: membership.protocol },
    { phase: "leaving", leaveReason: "ClusterSetDeleted" },
    { assignment: membership.assignment, phase: ["joining", "joined"] },
    m.controller.signal,
  );
  if (noted.ok) m.departureOwed = false;
}
