/** Where the hub's resources lie in the API, and the names that Open Cluster Management gives them. */

export const HUB_NAMESPACE = "open-cluster-management-hub";
export const HUB_SERVICE_ACCOUNT = "registration-controller";
export const BOOTSTRAP_NAMESPACE = "open-cluster-management";
export const BOOTSTRAP_SERVICE_ACCOUNT = "agent-registration-bootstrap";
export const CLUSTER_LABEL = "open-cluster-management.io/cluster-name";
export const ADDON_LABEL = "open-cluster-management.io/addon-name";
export const CLUSTER_SET_LABEL = "cluster.open-cluster-management.io/clusterset";
export const ACCEPTED_ON = "open-cluster-management.io/automatically-accepted-on";
export const CLEANUP_FINALIZER = "cluster.open-cluster-management.io/api-resource-cleanup";
export const SUBJECT_PREFIX = "system:open-cluster-management:";
export const REGISTER_GROUP = "register.open-cluster-management.io";
export const CLUSTER_GROUP = "cluster.open-cluster-management.io";
export const LEASE_NAME = "managed-cluster-lease";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";

export const paths = {
  managedClusters: `/apis/${CLUSTER_GROUP}/v1/managedclusters`,
  requests: "/apis/certificates.k8s.io/v1/certificatesigningrequests",
  accessReviews: "/apis/authorization.k8s.io/v1/subjectaccessreviews",
  namespaces: "/api/v1/namespaces",
  clusterRoles: `${RBAC}/clusterroles`,
  clusterRoleBindings: `${RBAC}/clusterrolebindings`,
  roleBindings: (namespace: string): string => `${RBAC}/namespaces/${namespace}/rolebindings`,
  leases: (namespace: string): string => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
  webhooks: "/apis/admissionregistration.k8s.io/v1",
};
