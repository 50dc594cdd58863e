import { deadline } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import { causeOf } from "../kube/cause.ts";
import type { CallOptions, KubeObject } from "../kube/client.ts";
import type { KubeError } from "../kube/errors.ts";
import type { Membership } from "../state/membership.ts";
import { type Fault, userFault } from "./fault.ts";
import { type KeptLeader, keptLeaderConnection, keptLeaderOf, serialiseKeptLeader } from "./kept-leader.ts";
import { readKeptLeader } from "./kept-leader-store.ts";
import type { LeaderToLeave, LeaveDependencies } from "./leave-ports.ts";
import { visitLeaving } from "./leave-visit.ts";
import { readMember } from "./member-reading.ts";
import { announceName } from "./names.ts";
import { announceRef } from "./resources.ts";

/** How often an announce that is replaced between our look and our delete is looked at again. */
const LOOKS = 3;

/** What came of leaving a leader. */
export type LeaderDeparture =
  /** `deleted`: by this call; `absent`: it was gone, or is going; `none`: none was ever made. */
  | { readonly kind: "left"; readonly announce: "deleted" | "absent" | "none" }
  /** The announce may still be there; `orphan` names it, and what becomes of it if nobody does anything. */
  | { readonly kind: "failed"; readonly fault: Fault; readonly orphan: string };

/**
 * Deletes the member's announce in the leader; what the member exported goes with it. With the credential that was kept,
 * and where that does not get through, with the one that the member has now, if it has one.
 */
export async function leaveLeader(
  deps: LeaveDependencies,
  membership: Membership,
  signal: AbortSignal,
): Promise<LeaderDeparture> {
  const place = { prefix: deps.parameterPrefix, cluster: membership.cluster };
  const kept = await readKeptLeader(deps.credentials, place, signal);
  const first = kept.ok && kept.value !== undefined ? await leaveBy(deps, membership, kept.value, signal) : undefined;
  if (first?.kind === "left") return first;
  const shown = await readShown(deps, membership, signal);
  const other = shown.ok && !isSame(shown.value, kept) ? shown.value : undefined;
  if (other !== undefined) {
    const second = await leaveBy(deps, membership, other, signal);
    return second.kind === "left" || first === undefined ? second : first;
  }
  if (first !== undefined) return first;
  const orphan = `the MemberClusterAnnounce of ${membership.cluster} in its leader${lastSeen(membership)}`;
  if (!kept.ok) return { kind: "failed", fault: kept.error, orphan };
  // Nothing is announced before what it takes to leave is kept, or the connection noted.
  if (membership.keptLeaderHash === undefined && !membership.connectedOnce) return { kind: "left", announce: "none" };
  const message =
    `the credential that was kept of the leader of ${membership.cluster} is gone, and the member has none: ` +
    "delete the announce in the leader by hand, then leave with --force";
  return { kind: "failed", fault: { cause: "CredentialRefused", message }, orphan };
}

/** What the member says of its leader now. */
async function readShown(
  deps: LeaveDependencies,
  membership: Membership,
  signal: AbortSignal,
): Promise<Result<KeptLeader | undefined, Fault>> {
  return await visitLeaving(deps, membership, signal, async (member, options) => {
    const reading = await readMember(member, membership.antrea, options);
    return ok(reading.kind === "configured" ? keptLeaderOf(reading.configuration) : undefined);
  });
}

function isSame(shown: KeptLeader | undefined, kept: Result<KeptLeader | undefined, Fault>): boolean {
  if (shown === undefined || !kept.ok || kept.value === undefined) return shown === undefined;
  return serialiseKeptLeader(shown) === serialiseKeptLeader(kept.value);
}

async function leaveBy(
  { clock, connector, timeoutMs }: LeaveDependencies,
  { cluster }: Membership,
  kept: KeptLeader,
  signal: AbortSignal,
): Promise<LeaderDeparture> {
  const name = `${kept.commonArea}/${announceName(kept.clusterID)}`;
  const orphan =
    `MemberClusterAnnounce ${name} in leader ${kept.leaderClusterID} (${kept.server}); ` +
    "the leader's controller deletes it with all exports 24 to 36 hours after the last beat";
  const connection = keptLeaderConnection(kept);
  if (!connection.ok) return { kind: "failed", fault: userFault(connection.error), orphan };
  using limit = deadline(clock, timeoutMs, signal);
  const leader = connector.connectLeader(`leader of ${cluster}`, connection.value);
  try {
    const deleted = await deleteAnnounce(leader, kept, { timeoutMs, signal: limit.signal });
    if (deleted.ok) return { kind: "left", announce: deleted.value };
    return { kind: "failed", fault: { cause: causeOf(deleted.error), message: deleted.error.message }, orphan };
  } finally {
    await leader.close();
  }
}

/**
 * Only an announce of this very member, and only the one that was seen: its name and our identity in the leader bind it
 * to the cluster ID, the UID to the object.
 * @param isMeant false: one of that name is not the one to delete
 */
export async function deleteAnnounce(
  leader: Pick<LeaderToLeave, "get" | "delete">,
  { commonArea, clusterID }: Pick<KeptLeader, "commonArea" | "clusterID">,
  options: CallOptions,
  isMeant: (announce: KubeObject) => boolean = () => true,
): Promise<Result<"deleted" | "absent", KubeError>> {
  const ref = announceRef(commonArea, clusterID);
  for (let looks = 1; ; looks += 1) {
    const found = await leader.get(ref, options);
    if (!found.ok) return found.error.kind === "notFound" ? ok("absent") : found;
    const { metadata } = found.value.object;
    // The leader's finalizer has its work to do; for us it is done.
    if (metadata.deletionTimestamp !== undefined) return ok("absent");
    if (found.value.object["clusterID"] !== clusterID || !isMeant(found.value.object)) return ok("absent");
    const deleted = await leader.delete(ref, metadata.uid === undefined ? {} : { uid: metadata.uid }, options);
    if (deleted.ok) return ok("deleted");
    if (deleted.error.kind === "notFound") return ok("absent");
    // Another one of that name since our look: look again.
    if (deleted.error.kind !== "conflict" || looks === LOOKS) return deleted;
  }
}

function lastSeen({ leader }: Membership): string {
  return leader === undefined ? "" : ` ${leader.clusterID} (${leader.server})`;
}
