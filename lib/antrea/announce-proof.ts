import type { CallOptions } from "../kube/client.ts";
import type { KubeError } from "../kube/errors.ts";
import type { LeaderTarget } from "./cluster-set.ts";
import { type Fault, leaderFault } from "./fault.ts";
import { TOUCH_ANNOTATION } from "./names.ts";
import type { LeaderCluster } from "./ports.ts";
import { announceObject, announceRef, MEMBER_CLUSTER_ANNOUNCES } from "./resources.ts";

/**
 * Asks a leader, in one request without effect, whether it would take a beat: address, CA, token, rights and webhook are
 * all asked at once (a dry run passes admission, Kubernetes API concepts "Dry-run").
 * @returns why not; undefined when it would
 */
export async function proveLeader(
  leader: Pick<LeaderCluster, "mergePatch">,
  spec: LeaderTarget,
  touchTs: string,
  options: CallOptions,
): Promise<Fault | undefined> {
  const patch = { metadata: { annotations: { [TOUCH_ANNOTATION]: touchTs } } };
  const answer = await leader.mergePatch(announceRef(spec.commonArea, spec.clusterID), patch, {
    ...options,
    dryRun: true,
  });
  return answer.ok || wasLetIn(answer.error) ? undefined : leaderFault(answer.error);
}

/**
 * Asks the leader in the same way whether it would take an announce under these IDs. Admission comes before the look at
 * what is there: that one exists already is no refusal.
 */
export async function proveIdentity(
  leader: Pick<LeaderCluster, "create">,
  spec: LeaderTarget,
  touchTs: string,
  options: CallOptions,
): Promise<Fault | undefined> {
  const object = announceObject(spec, spec.commonArea, { [TOUCH_ANNOTATION]: touchTs });
  const answer = await leader.create(MEMBER_CLUSTER_ANNOUNCES, spec.commonArea, object, { ...options, dryRun: true });
  if (answer.ok || answer.error.kind === "alreadyExists" || isDryRunUnsupported(answer.error)) return undefined;
  return leaderFault(answer.error);
}

/**
 * What is not there, or changes at the same moment, is answered only to those that are let in; so is a webhook that
 * cannot be asked without effects.
 */
function wasLetIn(error: KubeError): boolean {
  if (error.kind === "notFound" || error.kind === "conflict") return true;
  return isDryRunUnsupported(error);
}

function isDryRunUnsupported({ message }: KubeError): boolean {
  return /does not support dry ?run/i.test(message);
}
