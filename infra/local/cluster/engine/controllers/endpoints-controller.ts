import type { ApiObject } from "../../types.ts";
import { type Core, timestamp } from "../core.ts";
import { generatedName } from "../generated-name.ts";
import { objectIn } from "../json.ts";
import { serverApply } from "../server-apply.ts";
import { keyOf, type StoredEvent } from "../storage/store.ts";
import { mirrorEndpoints } from "./endpoint-slice-mirroring.ts";
import {
  deleteSlices,
  ENDPOINTS,
  ENDPOINTS_CONTROLLER,
  ENDPOINTS_MANAGED_BY,
  MANAGED_BY,
  SERVICE_NAME,
  SERVICES,
  SLICES,
  slicesOf,
} from "./endpoint-slices.ts";

type Later = (key: string, round: () => void) => void;

const CHANGED_AT = "endpoints.kubernetes.io/last-change-trigger-time";
const SLICE_CONTROLLER = "endpointslice-controller.k8s.io";
const HEADLESS = "service.kubernetes.io/headless";

/**
 * What kube-controller-manager does for Services in a cluster without Pods: empty Endpoints and an empty slice for each
 * that has a selector, whatever somebody else wrote there; mirrors of the Endpoints of those that have none; and none of
 * all that without the Service.
 */
export function observeEndpoints(core: Core, event: StoredEvent, later: Later): void {
  const { namespace = "", name = "", labels = {} } = event.object.metadata;
  const service = event.table === SLICES ? labels[SERVICE_NAME] : name;
  if (service === undefined || ![SERVICES, ENDPOINTS, SLICES].includes(event.table)) return;
  const round = `${namespace}/${service}`;
  if (event.table === SERVICES && event.type === "DELETED") {
    later(`service ${round} gone`, () => removeEndpoints(core, namespace, service));
  } else later(`service ${round}`, () => settleService(core, namespace, service));
}

/** Endpoints without a Service may come first; those whose Service went are of no use. */
function removeEndpoints(core: Core, namespace: string, name: string): void {
  if (core.store.get(SERVICES, keyOf(namespace, name)) === undefined) {
    core.store.remove(ENDPOINTS, keyOf(namespace, name));
    deleteSlices(core, namespace, name, SLICE_CONTROLLER);
  }
  settleService(core, namespace, name);
}

function settleService(core: Core, namespace: string, name: string): void {
  const service = core.store.get(SERVICES, keyOf(namespace, name));
  // A Service that loses its selector keeps what it has.
  if (service !== undefined && isFilled(service)) {
    fillEndpoints(core, service);
    fillSlice(core, service);
  }
  mirrorEndpoints(core, namespace, name);
}

/** True for a Service whose endpoints are the cluster's own business. */
function isFilled(service: ApiObject): boolean {
  const spec = objectIn(service, "spec");
  return Object.keys(objectIn(spec, "selector")).length > 0 && spec["type"] !== "ExternalName";
}

/** The labels of what is made for a Service are the Service's, and one that says that it has no address. */
function labelsFor(service: ApiObject): Readonly<Record<string, string>> {
  const headless = objectIn(service, "spec")["clusterIP"] === "None";
  return { ...service.metadata.labels, ...(headless ? { [HEADLESS]: "" } : {}) };
}

function fillEndpoints(core: Core, service: ApiObject): void {
  const { namespace = "", name = "" } = service.metadata;
  const before = core.store.get(ENDPOINTS, keyOf(namespace, name));
  const labels = { ...labelsFor(service), [ENDPOINTS_MANAGED_BY]: ENDPOINTS_CONTROLLER };
  const annotations = { [CHANGED_AT]: before?.metadata.annotations?.[CHANGED_AT] ?? timestamp(core.clock) };
  serverApply(core, { apiVersion: "v1", kind: "Endpoints", metadata: { name, namespace, labels, annotations } });
}

function fillSlice(core: Core, service: ApiObject): void {
  const { namespace = "", name = "", uid } = service.metadata;
  const [before] = slicesOf(core, namespace, name, SLICE_CONTROLLER);
  serverApply(core, {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: before?.metadata.name ?? generatedName(`${name}-`, core.random),
      generateName: `${name}-`,
      namespace,
      labels: { ...labelsFor(service), [MANAGED_BY]: SLICE_CONTROLLER, [SERVICE_NAME]: name },
      annotations: { [CHANGED_AT]: before?.metadata.annotations?.[CHANGED_AT] ?? timestamp(core.clock) },
      ownerReferences: [{ apiVersion: "v1", kind: "Service", name, uid, controller: true, blockOwnerDeletion: true }],
    },
    addressType: "IPv4",
  });
}
