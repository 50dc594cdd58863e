import { createHash } from "node:crypto";
import type { KubeObject, ResourceType } from "../../kube/client.ts";
import { canonicalJson } from "./canonical.ts";

/** ResourceImport, in the leader's common area. */
export const RESOURCE_IMPORTS: ResourceType = {
  group: "multicluster.crd.antrea.io",
  version: "v1alpha1",
  resource: "resourceimports",
};

/** A ResourceImport as the leader has it: what every kind shares, and the rest as it is on the wire. */
export interface ResourceImport {
  readonly name: string;
  /** Namespace and UID, for Events about it. */
  readonly namespace: string;
  readonly uid: string;
  /** `spec.kind`; empty where it is missing. */
  readonly kind: string;
  /** `spec.name`; empty where it is missing. */
  readonly specName: string;
  /** `spec.namespace`; empty where it is missing. */
  readonly specNamespace: string;
  /** `spec.clusterID`, an array on the wire: the members that are to import it; empty: all. */
  readonly clusterIDs: readonly string[];
  readonly spec: Readonly<Record<string, unknown>>;
  /** Of the whole spec: the same for two versions that ask for the same. */
  readonly hash: string;
}

/** Reads an import whatever it says: what is missing or of another form is empty, and for its kind to judge. */
export function readResourceImport(object: KubeObject): ResourceImport {
  const spec = isRecord(object["spec"]) ? object["spec"] : {};
  const ids = spec["clusterID"];
  return {
    name: object.metadata.name ?? "",
    namespace: object.metadata.namespace ?? "",
    uid: object.metadata.uid ?? "",
    kind: text(spec["kind"]),
    specName: text(spec["name"]),
    specNamespace: text(spec["namespace"]),
    clusterIDs: Array.isArray(ids) ? ids.filter((id) => typeof id === "string") : [],
    spec,
    hash: createHash("sha256").update(canonicalJson(spec)).digest("base64url"),
  };
}

/** True for a JSON object. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
