import type { ApiObject } from "../../types.ts";
import type { Core } from "../core.ts";
import { keyOf } from "../storage/store.ts";

export const SERVICES = "/services";
export const ENDPOINTS = "/endpoints";
export const SLICES = "discovery.k8s.io/endpointslices";
export const SERVICE_NAME = "kubernetes.io/service-name";
export const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
/** Who fills the Endpoints of Services that have a selector. */
export const ENDPOINTS_MANAGED_BY = "endpoints.kubernetes.io/managed-by";
export const ENDPOINTS_CONTROLLER = "endpoint-controller";

/** The slices of a Service that one controller has made. */
export function slicesOf(core: Core, namespace: string, service: string, controller: string): readonly ApiObject[] {
  return core.store
    .list(SLICES, namespace)
    .filter(({ metadata: { labels = {} } }) => labels[SERVICE_NAME] === service && labels[MANAGED_BY] === controller);
}

/** Deletes the slices of a Service that one controller has made. */
export function deleteSlices(core: Core, namespace: string, service: string, controller: string): void {
  for (const { metadata } of slicesOf(core, namespace, service, controller)) {
    core.store.remove(SLICES, keyOf(namespace, metadata.name ?? ""));
  }
}
