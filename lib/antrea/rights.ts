import type { ResourceType } from "../kube/client.ts";
import type { AntreaMembership } from "../state/membership.ts";
import type { ClusterSetChoice, ClusterSetSpec } from "./cluster-set.ts";
import {
  CLUSTER_INFO_IMPORTS,
  CLUSTER_NETWORK_POLICIES,
  ENDPOINT_SLICES,
  ENDPOINTS,
  LABEL_IDENTITIES,
  SERVICE_IMPORTS,
  SERVICES,
  TIERS,
} from "./imports/member-resources.ts";
import { RESOURCE_IMPORTS } from "./imports/resource-import.ts";
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

/** What an importer does with the objects that it makes. */
const IMPORTING = ["get", "list", "create", "update", "delete"];

/** What importing uses in a member: the role `hawser-antrea-imports` of infra/kubernetes/member/hawser.yaml, as far as it is needed. */
export function importRights({ namespace, imports }: AntreaMembership): readonly UsedRight[] {
  const everywhere = [SERVICES, ENDPOINTS, ENDPOINT_SLICES, SERVICE_IMPORTS, CLUSTER_NETWORK_POLICIES];
  const written = imports?.labelIdentities === true ? [...everywhere, LABEL_IDENTITIES] : everywhere;
  return [
    ...written.flatMap((type) => IMPORTING.map((verb) => ({ verb, type }))),
    ...IMPORTING.map((verb) => ({ verb, type: CLUSTER_INFO_IMPORTS, namespace })),
    ...["get", "list"].map((verb) => ({ verb, type: TIERS })),
  ];
}

/** What announcing, importing and leaving use in a leader. */
export function leaderRights({ commonArea: namespace }: Pick<ClusterSetSpec, "commonArea">): readonly UsedRight[] {
  const events = { group: "", resource: "events" };
  return [
    ...["get", "create", "patch", "delete"].map((verb) => ({ verb, type: MEMBER_CLUSTER_ANNOUNCES, namespace })),
    ...["get", "list", "watch"].map((verb) => ({ verb, type: RESOURCE_IMPORTS, namespace })),
    { verb: "create", type: events, namespace },
  ];
}
