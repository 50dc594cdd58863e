import type { KubeObject, ObjectRef, ResourceType } from "../../kube/client.ts";
import type { ImportedObject } from "../../state/imports.ts";

/** A type of the member's API with the name of its kind. */
export interface MemberResource extends ResourceType {
  readonly kind: string;
}

/** Services; Antrea's proxy serves those of imports. */
export const SERVICES: MemberResource = { group: "", version: "v1", resource: "services", kind: "Service" };

/** Endpoints; deprecated since Kubernetes 1.33, and mirrored into slices for Services without a selector. */
export const ENDPOINTS: MemberResource = { group: "", version: "v1", resource: "endpoints", kind: "Endpoints" };

/** EndpointSlices; we write some where Endpoints do not do. */
export const ENDPOINT_SLICES: MemberResource = {
  group: "discovery.k8s.io",
  version: "v1",
  resource: "endpointslices",
  kind: "EndpointSlice",
};

/** ServiceImports (KEP-1645). */
export const SERVICE_IMPORTS: MemberResource = {
  group: "multicluster.x-k8s.io",
  version: "v1alpha1",
  resource: "serviceimports",
  kind: "ServiceImport",
};

/** What a member knows of another cluster; in the member's Namespace. */
export const CLUSTER_INFO_IMPORTS: MemberResource = {
  group: "multicluster.crd.antrea.io",
  version: "v1alpha1",
  resource: "clusterinfoimports",
  kind: "ClusterInfoImport",
};

/** Numbers for sets of labels; cluster-wide. */
export const LABEL_IDENTITIES: MemberResource = {
  group: "multicluster.crd.antrea.io",
  version: "v1alpha1",
  resource: "labelidentities",
  kind: "LabelIdentity",
};

/** Antrea's cluster-wide network policies. */
export const CLUSTER_NETWORK_POLICIES: MemberResource = {
  group: "crd.antrea.io",
  version: "v1beta1",
  resource: "clusternetworkpolicies",
  kind: "ClusterNetworkPolicy",
};

/** What a policy belongs to; only looked at. */
export const TIERS: MemberResource = { group: "crd.antrea.io", version: "v1beta1", resource: "tiers", kind: "Tier" };

/** Prefix of the names of imported Services, Endpoints and policies. */
export const IMPORTED_PREFIX = "antrea-mc-";

/** The address of an object of a member. */
export function memberRef(type: MemberResource, name: string, namespace?: string): ObjectRef {
  return { type, name, ...(namespace === undefined ? {} : { namespace }) };
}

/** `apiVersion`, `kind` and the address, as every new object begins. */
export function newObject(
  type: MemberResource,
  { name, namespace }: Pick<ObjectRef, "name" | "namespace">,
  annotations: Readonly<Record<string, string>> = {},
): KubeObject {
  return {
    apiVersion: apiVersion(type),
    kind: type.kind,
    metadata: {
      name,
      ...(namespace === undefined ? {} : { namespace }),
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
  };
}

/** How the record names an object that is there. */
export function importedObject(type: MemberResource, { metadata }: KubeObject): ImportedObject {
  const { name = "", namespace, uid = "" } = metadata;
  return {
    apiVersion: apiVersion(type),
    kind: type.kind,
    ...(namespace === undefined ? {} : { namespace }),
    name,
    uid,
  };
}

/** How messages name an object: `Service shop/antrea-mc-web`. */
export function objectWords(type: MemberResource, { name, namespace }: Pick<ObjectRef, "name" | "namespace">): string {
  return namespace === undefined ? `${type.kind} ${name}` : `${type.kind} ${namespace}/${name}`;
}

function apiVersion({ group, version }: ResourceType): string {
  return group === "" ? version : `${group}/${version}`;
}
