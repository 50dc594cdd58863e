import type { CallOptions } from "../kube/client.ts";
import type { KubeError } from "../kube/errors.ts";
import type { LeaderTarget } from "./cluster-set.ts";
import { type Fault, leaderFault } from "./fault.ts";
import { TOUCH_ANNOTATION } from "./names.ts";
import type { LeaderCluster } from "./ports.ts";
import { announceRef } from "./resources.ts";

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
 * What is not there, or changes at the same moment, is answered only to those that are let in; so is a webhook that
 * cannot be asked without effects.
 */
function wasLetIn(error: KubeError): boolean {
  if (error.kind === "notFound" || error.kind === "conflict") return true;
  return /does not support dry ?run/i.test(error.message);
}
