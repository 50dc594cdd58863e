import type { ResourceType } from "../kube/client.ts";

/** A kind of object that importing makes in a member, and the annotation by which it is known. */
export interface ImportedResource {
  readonly type: ResourceType;
  /** Its presence counts, not its value. */
  readonly marker: string;
}

const IMPORTED_SERVICE = "multicluster.antrea.io/imported-service";
const IMPORTED_POLICY = "multicluster.antrea.io/imported-acnp";

/**
 * What carries a marker, in the order in which it is deleted: Services before what belongs to them. Antrea's own agent
 * marks no ServiceImport; those that Hawser makes are.
 */
export const IMPORTED_RESOURCES: readonly ImportedResource[] = [
  { type: { group: "", version: "v1", resource: "services" }, marker: IMPORTED_SERVICE },
  {
    type: { group: "multicluster.x-k8s.io", version: "v1alpha1", resource: "serviceimports" },
    marker: IMPORTED_SERVICE,
  },
  { type: { group: "", version: "v1", resource: "endpoints" }, marker: IMPORTED_SERVICE },
  { type: { group: "crd.antrea.io", version: "v1beta1", resource: "clusternetworkpolicies" }, marker: IMPORTED_POLICY },
];
