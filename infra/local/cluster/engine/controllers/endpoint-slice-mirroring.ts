import { isIP } from "node:net";
import type { ApiObject } from "../../types.ts";
import type { Core } from "../core.ts";
import { generatedName } from "../generated-name.ts";
import { equalJson, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import { serverApply } from "../server-apply.ts";
import { keyOf } from "../storage/store.ts";
import {
  ENDPOINTS,
  ENDPOINTS_CONTROLLER,
  ENDPOINTS_MANAGED_BY,
  MANAGED_BY,
  SERVICE_NAME,
  SERVICES,
  SLICES,
  slicesOf,
} from "./endpoint-slices.ts";

const CONTROLLER = "endpointslicemirroring-controller.k8s.io";
const SKIP = "endpointslice.kubernetes.io/skip-mirror";
const LEADER = "control-plane.alpha.kubernetes.io/leader";
/** Annotations that stay with the Endpoints. */
const NOT_COPIED = new Set([
  "endpoints.kubernetes.io/last-change-trigger-time",
  "kubectl.kubernetes.io/last-applied-configuration",
]);
/** Addresses of one subset that are mirrored at most (the controller's default). */
const MAX_ADDRESSES = 1_000;

/** The content of one slice: the addresses of one family that offer the same ports. */
interface Mirror {
  readonly addressType: "IPv4" | "IPv6";
  readonly endpoints: readonly JsonObject[];
  readonly ports: readonly JsonObject[];
}

/** Makes the slices that mirror hand-made Endpoints of a Service without selector what they are to be. */
export function mirrorEndpoints(core: Core, namespace: string, name: string): void {
  const endpoints = core.store.get(ENDPOINTS, keyOf(namespace, name));
  const service = core.store.get(SERVICES, keyOf(namespace, name));
  const existing = [...slicesOf(core, namespace, name, CONTROLLER)];
  const wanted = endpoints !== undefined && isMirrored(endpoints, service) ? mirrorsOf(endpoints) : [];
  // A slice whose ports are those of a mirror is kept for it; its addresses are replaced.
  const pairs = wanted.map((mirror) => {
    const index = existing.findIndex(
      (slice) => slice["addressType"] === mirror.addressType && equalJson(slice["ports"], mirror.ports),
    );
    return { mirror, slice: index === -1 ? undefined : existing.splice(index, 1)[0] };
  });
  for (const { mirror, slice } of pairs) {
    const reused = slice ?? existing.shift();
    if (endpoints !== undefined) write(core, endpoints, mirror, reused);
  }
  for (const { metadata } of existing) core.store.remove(SLICES, keyOf(namespace, metadata.name ?? ""));
}

/** Those of Services with a selector have slices of their own, also when the selector is gone. */
function isMirrored({ metadata }: ApiObject, service: ApiObject | undefined): boolean {
  if (service === undefined || Object.keys(objectIn(objectIn(service, "spec"), "selector")).length > 0) return false;
  const { labels = {}, annotations = {} } = metadata;
  const own = labels[ENDPOINTS_MANAGED_BY] === ENDPOINTS_CONTROLLER;
  return !own && labels[SKIP] !== "true" && annotations[LEADER] === undefined;
}

interface Offer {
  readonly address: JsonObject;
  readonly ready: boolean;
}

/** Subsets with the same ports share a slice; an address stands in it once. */
function mirrorsOf(endpoints: ApiObject): readonly Mirror[] {
  const byPorts = new Map<string, { readonly ports: readonly JsonObject[]; readonly offers: Map<string, Offer> }>();
  for (const subset of objectsIn(endpoints, "subsets")) {
    const ports = objectsIn(subset, "ports").map((port) => ({ name: "", ...port }));
    const key = ports.map(portKey).toSorted().join();
    const group = byPorts.get(key) ?? { ports, offers: new Map<string, Offer>() };
    byPorts.set(key, group);
    for (const offer of offersOf(subset)) {
      const ip = textIn(offer.address, "ip");
      if (!group.offers.has(ip)) group.offers.set(ip, offer);
    }
  }
  return [...byPorts.values()].flatMap(({ ports, offers }) =>
    ([4, 6] as const).flatMap((family) => {
      const own = [...offers.values()].filter(({ address }) => isIP(textIn(address, "ip")) === family);
      if (own.length === 0) return [];
      return [{ addressType: `IPv${family}` as const, endpoints: own.map(endpointOf).toSorted(byAddress), ports }];
    }),
  );
}

function portKey({ name, protocol, port }: JsonObject): string {
  return [name, protocol, port].map(String).join("/");
}

function offersOf(subset: JsonObject): readonly Offer[] {
  const ready = objectsIn(subset, "addresses").map((address) => ({ address, ready: true }));
  const unready = objectsIn(subset, "notReadyAddresses").map((address) => ({ address, ready: false }));
  return [...ready, ...unready].slice(0, MAX_ADDRESSES);
}

function endpointOf({ address, ready }: Offer): JsonObject {
  const more = Object.fromEntries(
    ["hostname", "nodeName", "targetRef"].flatMap((field) =>
      address[field] === undefined ? [] : [[field, address[field]]],
    ),
  );
  return { addresses: [textIn(address, "ip")], conditions: { ready }, ...more };
}

function byAddress(a: JsonObject, b: JsonObject): number {
  return String(a["addresses"]) < String(b["addresses"]) ? -1 : 1;
}

function write(core: Core, endpoints: ApiObject, mirror: Mirror, slice: ApiObject | undefined): void {
  const { name = "", namespace = "", uid, labels = {}, annotations = {} } = endpoints.metadata;
  const copied = Object.fromEntries(Object.entries(annotations).filter(([key]) => !NOT_COPIED.has(key)));
  serverApply(core, {
    apiVersion: "discovery.k8s.io/v1",
    kind: "EndpointSlice",
    metadata: {
      name: slice?.metadata.name ?? generatedName(`${name}-`, core.random),
      generateName: `${name}-`,
      namespace,
      labels: { ...labels, [MANAGED_BY]: CONTROLLER, [SERVICE_NAME]: name },
      annotations: copied,
      ownerReferences: [{ apiVersion: "v1", kind: "Endpoints", name, uid, controller: true, blockOwnerDeletion: true }],
    },
    ...mirror,
  });
}
