import type { ResourceType } from "../kube/client.ts";
import type { ClusterSetChoice, ClusterSetSpec } from "./cluster-set.ts";
import { CLUSTER_SETS, identityNamespaceRef, leaderSecretRef, MEMBER_CLUSTER_ANNOUNCES } from "./resources.ts";

/** A right, as a SelfSubjectAccessReview asks for it. */
export interface UsedRight {
  readonly verb: string;
  readonly type: Pick<ResourceType, "group" | "resource">;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/**
 * What joining and announcing use in a member: those of infra/kubernetes/member/hawser.yaml without the ones of its
 * optional role, which only leaving uses.
 * @param spec where the ClusterSet is known: without it nobody knows the Secret's name
 */
export function memberRights(
  { namespace }: ClusterSetChoice,
  spec: Pick<ClusterSetSpec, "secret"> | undefined,
): readonly UsedRight[] {
  const { type, name } = identityNamespaceRef;
  const rights: UsedRight[] = [
    { verb: "get", type, name },
    { verb: "get", type: CLUSTER_SETS, namespace },
    { verb: "list", type: CLUSTER_SETS, namespace },
    { verb: "patch", type: CLUSTER_SETS, subresource: "status", namespace },
  ];
  if (spec !== undefined) rights.push({ verb: "get", ...leaderSecretRef(namespace, spec.secret) });
  return rights;
}

/** What announcing and leaving use in a leader. */
export function leaderRights({ commonArea }: Pick<ClusterSetSpec, "commonArea">): readonly UsedRight[] {
  return ["get", "create", "patch", "delete"].map((verb) => ({
    verb,
    type: MEMBER_CLUSTER_ANNOUNCES,
    namespace: commonArea,
  }));
}
