/** Namespace of the ClusterSet and its Secret in a member. */
const MEMBER_NAMESPACE = "kube-system";

/** A member's Secret and ClusterSet; what names its leader is filled in when it is furnished. */
export function memberManifests(cluster: string, commonArea: string) {
  const clusterSet = {
    name: "set",
    namespace: MEMBER_NAMESPACE,
    clusterId: cluster,
    leaderId: "north",
    leaderNamespace: commonArea,
    secret: "leader-token",
  };
  const secret = {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "leader-token", namespace: MEMBER_NAMESPACE },
    type: "Opaque",
    data: { "ca.crt": "", token: "" },
  };
  return { cluster, clusterSet, objects: [secret, clusterSetOf(cluster, "set", commonArea)] };
}

/** A member's ClusterSet, before its leader's address is known. */
export function clusterSetOf(cluster: string, name: string, commonArea: string) {
  return {
    apiVersion: "multicluster.crd.antrea.io/v1alpha2",
    kind: "ClusterSet",
    metadata: { name, namespace: MEMBER_NAMESPACE },
    spec: {
      clusterID: cluster,
      leaders: [{ clusterID: "north", server: "https://replaced", secret: "leader-token" }],
      namespace: commonArea,
    },
  };
}
