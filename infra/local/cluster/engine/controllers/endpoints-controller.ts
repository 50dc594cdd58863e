import type { ApiObject } from "../../types.ts";
import { type Core, timestamp } from "../core.ts";
import { generatedName } from "../generated-name.ts";
import { objectIn } from "../json.ts";
import { serverApply } from "../server-apply.ts";
import { keyOf, type StoredEvent } from "../storage/store.ts";
import { mirrorEndpoints } from "./endpoint-slice-mirroring.ts";
import { deleteSlices, ENDPOINTS, MANAGED_BY, SERVICE_NAME, SERVICES, SLICES, slicesOf } from "./endpoint-slices.ts";

type Later = (key: string, round: () => void) => void;

const CHANGED_AT = "endpoints.kubernetes.io/last-change-trigger-time";
const SLICE_CONTROLLER = "endpointslice-controller.k8s.io";

/**
 * What kube-controller-manager does for Services in a cluster without Pods: empty Endpoints and an empty slice for each
 * that has a selector, mirrors of the Endpoints that somebody else wrote, and none of both without their Service.
 */
export function observeEndpoints(core: Core, event: StoredEvent, later: Later): void {
  const { namespace = "", name = "" } = event.object.metadata;
  if (event.table === SERVICES) {
    later(`service ${event.key}`, () => settleService(core, namespace, name, event.type === "DELETED"));
  } else if (event.table === ENDPOINTS) {
    later(`endpoints ${event.key}`, () => mirrorEndpoints(core, namespace, name));
  } else if (event.table === SLICES && event.type === "DELETED") {
    const service = event.object.metadata.labels?.[SERVICE_NAME];
    if (service !== undefined)
      later(`endpoints ${namespace}/${service}`, () => mirrorEndpoints(core, namespace, service));
  }
}

function settleService(core: Core, namespace: string, name: string, deleted: boolean): void {
  const service = core.store.get(SERVICES, keyOf(namespace, name));
  if (service === undefined) {
    // Endpoints without a Service may come first; those whose Service went are of no use.
    if (deleted) core.store.remove(ENDPOINTS, keyOf(namespace, name));
    deleteSlices(core, namespace, name, SLICE_CONTROLLER);
  } else if (hasSelector(service)) {
    fillEndpoints(core, namespace, name);
    fillSlice(core, service);
  } else {
    deleteSlices(core, namespace, name, SLICE_CONTROLLER);
  }
  mirrorEndpoints(core, namespace, name);
}

/** True for a Service whose endpoints are the cluster's own business. */
function hasSelector(service: ApiObject): boolean {
  return Object.keys(objectIn(objectIn(service, "spec"), "selector")).length > 0;
}

function fillEndpoints(core: Core, namespace: string, name: string): void {
  if (core.store.get(ENDPOINTS, keyOf(namespace, name)) !== undefined) return;
  const labels = { "endpoints.kubernetes.io/managed-by": "endpoint-controller" };
  const annotations = { [CHANGED_AT]: timestamp(core.clock) };
  serverApply(core, { apiVersion: "v1", kind: "Endpoints", metadata: { name, namespace, labels, annotations } });
}

function fillSlice(core: Core, { metadata }: ApiObject): void {
  const { namespace = "", name = "", uid } = metadata;
  if (slicesOf(core, namespace, name, SLICE_CONTROLLER).length > 0) return;
  serverApply(core, {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: generatedName(`${name}-`, core.random),
      generateName: `${name}-`,
      namespace,
      labels: { [MANAGED_BY]: SLICE_CONTROLLER, [SERVICE_NAME]: name },
      annotations: { [CHANGED_AT]: timestamp(core.clock) },
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name, uid, controller: true, blockOwnerDeletion: true }],
    },
    addressType: "IPv4",
  });
}
