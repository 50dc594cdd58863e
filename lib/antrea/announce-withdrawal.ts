import { deadline } from "../base/clock.ts";
import type { KubeObject } from "../kube/client.ts";
import type { Hold } from "../relay/ports.ts";
import { mismatchesOf } from "./announce.ts";
import type { AnnounceDependencies, AnnounceTiming } from "./announce-deps.ts";
import type { AnnouncedMembership } from "./announced-membership.ts";
import { leaderFault } from "./fault.ts";
import { deleteAnnounce } from "./leave.ts";
import { announceName } from "./names.ts";

/** Between two tries to take an announce back, in milliseconds. */
const TRY_AGAIN_MS = 60_000;

/** True when the announce of an earlier identity is to be taken back now. */
export function withdrawalIsDue({ replaced }: AnnouncedMembership, nowMs: number): boolean {
  return replaced !== undefined && nowMs >= replaced.dueMs;
}

/**
 * A ClusterSet was replaced by one of another name, cluster ID, leader or common area: the announce under the old identity
 * is deleted with the credential that made it, as the in-cluster agent does, so that the old leader does not count a member
 * that is none any more. What fails is said once and tried again for as long as the window works; after that the leader's
 * own sweep deletes the announce, 24 to 36 hours after its last beat.
 */
export async function withdraw(
  m: AnnouncedMembership,
  hold: Hold,
  { clock, store, telemetry }: AnnounceDependencies,
  { beatTimeoutMs: timeoutMs }: AnnounceTiming,
): Promise<void> {
  const { replaced } = m;
  if (replaced === undefined || !hold.mayWrite()) return;
  const { client, spec } = replaced.link;
  using limit = deadline(clock, timeoutMs, m.controller.signal);
  // At the same leader the announce of the present identity has the same name: only the former one is taken back.
  const isFormer = (announce: KubeObject): boolean => mismatchesOf(announce, spec).length === 0;
  const deleted = await deleteAnnounce(client, spec, { timeoutMs, signal: limit.signal }, isFormer);
  if (m.replaced !== replaced || m.controller.signal.aborted) return;
  const { cluster, protocol } = m.membership;
  const what = `MemberClusterAnnounce ${spec.commonArea}/${announceName(spec.clusterID)} in leader ${spec.leaderClusterID}`;
  const at = clock.now().getTime();
  if (deleted.ok) {
    m.replaced = undefined;
    await client.close();
    if (deleted.value === "absent" || !hold.mayWrite()) return;
    telemetry.transition("announce of a former identity deleted", { cluster });
    const message = `${what} deleted: the ClusterSet was replaced by one of another identity`;
    await store.writeEvent(cluster, { at, protocol, kind: "AnnounceWithdrawn", message }, m.controller.signal);
    return;
  }
  m.replaced = { ...replaced, dueMs: clock.monotonicMs() + TRY_AGAIN_MS, told: true };
  if (replaced.told || !hold.mayWrite()) return;
  const fault = leaderFault(deleted.error);
  const message = `${what} stays behind until its leader's sweep, 24 to 36 hours after the last beat: ${fault.message}`;
  telemetry.transition("announce of a former identity not deleted", { cluster, cause: fault.cause });
  await store.writeEvent(
    cluster,
    { at, protocol, kind: "AnnounceLeftBehind", cause: fault.cause, message },
    m.controller.signal,
  );
}
