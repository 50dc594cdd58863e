import type { ApiClient, ApiRecord } from "../api-client/api-client.ts";
import { ensureObject } from "./ensure.ts";
import { CLUSTER_GROUP, CLUSTER_LABEL, paths, REGISTER_GROUP, SUBJECT_PREFIX } from "./resources.ts";

const RBAC_GROUP = "rbac.authorization.k8s.io";
const REGISTRATION_ROLE = "open-cluster-management:managedcluster:registration";

/** Gives an accepted cluster its Namespace and its rights. @throws when the API server refuses one */
export async function grantRights(client: ApiClient, cluster: string): Promise<void> {
  const name = rightsName(cluster);
  const labels = { [CLUSTER_LABEL]: cluster };
  await ensureObject(client, paths.namespaces, {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name: cluster, labels },
  });
  await ensureObject(client, paths.clusterRoles, clusterRole(cluster, acceptedRules(cluster)));
  await ensureObject(client, paths.clusterRoleBindings, {
    ...binding("ClusterRoleBinding", name, cluster),
    metadata: { name, labels },
  });
  await ensureObject(client, paths.roleBindings(cluster), {
    ...binding("RoleBinding", REGISTRATION_ROLE, cluster),
    metadata: { name: `${name}:registration`, namespace: cluster, labels },
  });
}

/** Leaves a denied cluster nothing but to see its own ManagedCluster. @throws when the API server refuses */
export async function cutRights(client: ApiClient, cluster: string): Promise<void> {
  const name = rightsName(cluster);
  await ensureObject(client, paths.clusterRoles, clusterRole(cluster, deniedRules(cluster)));
  await remove(client, `${paths.roleBindings(cluster)}/${name}:registration`);
}

/** Takes all rights of a cluster that is being deleted; its Namespace stays. @throws when the API server refuses */
export async function removeRights(client: ApiClient, cluster: string): Promise<void> {
  const name = rightsName(cluster);
  await remove(client, `${paths.roleBindings(cluster)}/${name}:registration`);
  await remove(client, `${paths.clusterRoleBindings}/${name}`);
  await remove(client, `${paths.clusterRoles}/${name}`);
}

function rightsName(cluster: string): string {
  return `open-cluster-management:managedcluster:${cluster}`;
}

function clusterRole(cluster: string, rules: readonly object[]): ApiRecord {
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind: "ClusterRole",
    metadata: { name: rightsName(cluster), labels: { [CLUSTER_LABEL]: cluster } },
    rules,
  };
}

function acceptedRules(cluster: string): readonly object[] {
  return [
    {
      apiGroups: ["certificates.k8s.io"],
      resources: ["certificatesigningrequests"],
      verbs: ["create", "get", "list", "watch"],
    },
    { apiGroups: [REGISTER_GROUP], resources: ["managedclusters/clientcertificates"], verbs: ["renew"] },
    own(cluster, "managedclusters", ["get", "list", "update", "watch"]),
    own(cluster, "managedclusters/status", ["patch", "update"]),
  ];
}

function deniedRules(cluster: string): readonly object[] {
  return [own(cluster, "managedclusters", ["get", "list", "watch"])];
}

function own(cluster: string, resource: string, verbs: readonly string[]): object {
  return { apiGroups: [CLUSTER_GROUP], resources: [resource], resourceNames: [cluster], verbs };
}

/** The subjects are groups of the certificate (O) and, for EKS access entries, one without `system:`. */
function binding(kind: string, role: string, cluster: string): object {
  return {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind,
    roleRef: { apiGroup: RBAC_GROUP, kind: "ClusterRole", name: role },
    subjects: [`${SUBJECT_PREFIX}${cluster}`, `open-cluster-management:${cluster}`].map((name) => ({
      apiGroup: RBAC_GROUP,
      kind: "Group",
      name,
    })),
  };
}

async function remove(client: ApiClient, path: string): Promise<void> {
  const { code, body } = await client.request("DELETE", path);
  if (code >= 300 && code !== 404) throw new Error(`delete ${path}: ${code} ${body.message ?? ""}`);
}
