import { clusterInfo } from "./cluster-info.ts";
import { endpoints } from "./endpoints.ts";
import { labelIdentity } from "./label-identity.ts";
import { networkPolicy } from "./network-policy.ts";
import type { ImportKind } from "./reconciler.ts";
import { serviceImport } from "./service-import.ts";

/** The kinds of imports that are installed, by `spec.kind` on the wire. */
export const IMPORT_KINDS: ReadonlyMap<string, ImportKind> = new Map(
  [serviceImport, endpoints, networkPolicy, clusterInfo, labelIdentity].map((kind) => [kind.kind, kind]),
);
