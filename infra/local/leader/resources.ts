import type { ApiRecord } from "../api-client/api-client.ts";

/** Where the leader's resources lie in the API, and the names that Antrea gives them. */

export const CLUSTER_ID_ANNOTATION = "multicluster.antrea.io/cluster-id";
export const TOUCH_ANNOTATION = "touch-ts";
export const CONTROLLER_SERVICE_ACCOUNT = "antrea-mc-controller";

const MULTICLUSTER = "/apis/multicluster.crd.antrea.io";

export const paths = {
  announces: (namespace: string): string => `${MULTICLUSTER}/v1alpha1/namespaces/${namespace}/memberclusterannounces`,
  exports: (namespace: string): string => `${MULTICLUSTER}/v1alpha1/namespaces/${namespace}/resourceexports`,
  imports: (namespace: string): string => `${MULTICLUSTER}/v1alpha1/namespaces/${namespace}/resourceimports`,
  clusterSets: (namespace: string): string => `${MULTICLUSTER}/v1alpha2/namespaces/${namespace}/clustersets`,
  serviceAccounts: (namespace: string): string => `/api/v1/namespaces/${namespace}/serviceaccounts`,
  webhooks: "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations",
};

/** Those by which the leader keeps a deleted export until its import is as it should be; the second is of before 2.2. */
export const EXPORT_FINALIZERS: readonly string[] = [
  "resourceexport.antrea.io/finalizer",
  "resourceexport.finalizers.antrea.io",
];

/** The finalizer by which the leader keeps a departing member's announce until its exports are gone. */
export function announceFinalizer(clusterId: string): string {
  return `memberclusterannounce.finalizer.antrea.io/${clusterId}`;
}

/** The member that an announce is for, by its field; empty where it has none. */
export function clusterIdOf(announce: ApiRecord): string {
  const id = announce["clusterID"];
  return typeof id === "string" ? id : "";
}
