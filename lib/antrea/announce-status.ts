import { failed, ok, type Result } from "../base/result.ts";
import type { CallOptions } from "../kube/client.ts";
import type { Hold } from "../relay/ports.ts";
import type { AnnounceDependencies, AnnounceTiming } from "./announce-deps.ts";
import { type AnnouncedMembership, standing } from "./announced-membership.ts";
import { type ClusterSetStatus, type ObservedClusterSet, planClusterSetStatus } from "./cluster-set-status.ts";
import { type Fault, memberFault } from "./fault.ts";
import { observeClusterSet } from "./member-reading.ts";
import type { MemberVisits } from "./member-visit.ts";
import type { MemberCluster } from "./ports.ts";
import { clusterSetRef } from "./resources.ts";

/** Conflicts, or answers that still differ, in a row before the ClusterSet is left alone for a while. */
const MAX_TRIES = 3;

/** True when the member's ClusterSet may have to be told something now. */
export function statusIsBehind(m: AnnouncedMembership, nowMs: number): boolean {
  return m.statusDirty && m.clusterSet !== undefined && m.published !== undefined && nowMs >= m.statusRetryMs;
}

/**
 * Makes the status of the member's ClusterSet agree with what is published: nothing is sent when it shows it already.
 * A merge patch under the resourceVersion that was seen, so that no other writer's conditions are lost; after a conflict
 * the ClusterSet is read and compared again. A refusal is tried again later and shown beside the connectivity.
 */
export async function keepStatus(
  m: AnnouncedMembership,
  hold: Hold,
  visits: MemberVisits,
  deps: AnnounceDependencies,
  timing: AnnounceTiming,
): Promise<void> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const plan = nextPlan(m, deps);
    if (plan === undefined) return;
    const visited = await visits.visit(m.membership, m.controller.signal, async (member, options) =>
      // The last look, just before sending: the visit may have waited for its turn.
      hold.mayWrite() ? await writeStatus(member, plan.observed, plan.wanted, options) : ok(plan.observed),
    );
    const seen = visited.ok ? visited.value : visited;
    m.statusFault = seen.ok ? undefined : standing(m.statusFault, seen.error, deps.clock.now().getTime());
    // Either refused or not sent at all.
    if (!seen.ok || seen.value === plan.observed) break;
    // A look may have brought a newer view in the meantime.
    // Which leader it tells of is the looks' to say: it may name one that is not in force.
    const { leaderClusterID } = plan.observed;
    if (m.clusterSet === plan.observed) m.clusterSet = { ...(seen.value ?? plan.observed), leaderClusterID };
    if (seen.value !== undefined) m.statusDirty = true;
  }
  m.statusDirty = true;
  m.statusRetryMs = deps.clock.monotonicMs() + timing.lookAgainMs;
}

interface Plan {
  readonly observed: ObservedClusterSet;
  readonly wanted: ClusterSetStatus;
}

function nextPlan(m: AnnouncedMembership, { clock }: AnnounceDependencies): Plan | undefined {
  const { clusterSet: observed, published } = m;
  if (!m.statusDirty || observed === undefined || published === undefined || m.controller.signal.aborted)
    return undefined;
  // Before the plan, so that what changes while it is carried out is not missed.
  m.statusDirty = false;
  const wanted = planClusterSetStatus(observed, published, clock.now().getTime());
  if (wanted === undefined) m.statusFault = undefined;
  return wanted === undefined ? undefined : { observed, wanted };
}

/** What the ClusterSet looks like afterwards, also after a conflict; undefined when it has gone. */
async function writeStatus(
  member: MemberCluster,
  observed: ObservedClusterSet,
  wanted: ClusterSetStatus,
  options: CallOptions,
): Promise<Result<ObservedClusterSet | undefined, Fault>> {
  const ref = clusterSetRef(observed.namespace, observed.name);
  const patch = { metadata: { resourceVersion: observed.resourceVersion }, status: wanted };
  const written = await member.mergePatchStatus(ref, patch, options);
  const answer = !written.ok && written.error.kind === "conflict" ? await member.get(ref, options) : written;
  if (answer.ok) return ok(observeClusterSet(answer.value.object, observed.namespace));
  // The next look at the member decides what it means that the ClusterSet has gone.
  return answer.error.kind === "notFound" ? ok(undefined) : failed(memberFault(answer.error));
}
