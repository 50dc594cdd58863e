import type { ObjectRef, ResourceType } from "../kube/client.ts";
import { announceName, IDENTITY_NAMESPACE } from "./names.ts";

const GROUP = "multicluster.crd.antrea.io";

/**
 * ClusterSet, in the version that has `spec.clusterID`. v1alpha1 is still served, but reading an object through it
 * silently drops that field, so it is never used.
 */
export const CLUSTER_SETS: ResourceType = { group: GROUP, version: "v1alpha2", resource: "clustersets" };

/** MemberClusterAnnounce: fields at the top level, no status subresource. */
export const MEMBER_CLUSTER_ANNOUNCES: ResourceType = {
  group: GROUP,
  version: "v1alpha1",
  resource: "memberclusterannounces",
};

const SECRETS: ResourceType = { group: "", version: "v1", resource: "secrets" };
const NAMESPACES: ResourceType = { group: "", version: "v1", resource: "namespaces" };

/** The announce of member `clusterID` in the common area. */
export function announceRef(commonArea: string, clusterID: string): ObjectRef {
  return { type: MEMBER_CLUSTER_ANNOUNCES, namespace: commonArea, name: announceName(clusterID) };
}

/** A ClusterSet in the member. */
export function clusterSetRef(namespace: string, name: string): ObjectRef {
  return { type: CLUSTER_SETS, namespace, name };
}

/** The Secret with the leader's CA and token in the member. */
export function leaderSecretRef(namespace: string, name: string): ObjectRef {
  return { type: SECRETS, namespace, name };
}

/** The Namespace whose UID identifies the cluster. */
export const identityNamespaceRef: ObjectRef = { type: NAMESPACES, name: IDENTITY_NAMESPACE };

/** The body of a new announce. `touch-ts` is set at once: a leader's sweep deletes an announce that has none. */
export function announceObject(
  ids: { readonly clusterID: string; readonly clusterSetID: string; readonly leaderClusterID: string },
  commonArea: string,
  annotations: Readonly<Record<string, string>>,
): {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace: string; readonly annotations: typeof annotations };
  readonly clusterID: string;
  readonly clusterSetID: string;
  readonly leaderClusterID: string;
} {
  return {
    apiVersion: `${MEMBER_CLUSTER_ANNOUNCES.group}/${MEMBER_CLUSTER_ANNOUNCES.version}`,
    kind: "MemberClusterAnnounce",
    metadata: { name: announceName(ids.clusterID), namespace: commonArea, annotations },
    clusterID: ids.clusterID,
    clusterSetID: ids.clusterSetID,
    leaderClusterID: ids.leaderClusterID,
  };
}
