import { createHash } from "node:crypto";
import { isIP } from "node:net";
import type { KubeObject } from "../../kube/client.ts";
import { canonicalJson, sameMeaning } from "./canonical.ts";
import type { OfferedAddress, OfferGroup } from "./endpoint-subsets.ts";
import { ENDPOINT_SLICES, memberRef, newObject } from "./member-resources.ts";
import { IMPORTED_SERVICE } from "./ownership.ts";
import type { ImportAction } from "./reconciler.ts";
import { isRecord } from "./resource-import.ts";

/** Which Service a slice belongs to. */
export const SERVICE_LABEL = "kubernetes.io/service-name";

/** Who keeps a slice; the cluster's own controllers leave those of others alone. */
export const MANAGED_BY_LABEL = "endpointslice.kubernetes.io/managed-by";

/** Our name in that label. */
export const MANAGED_BY_US = "hawser-imports";

/** The controller that mirrors Endpoints. */
export const MANAGED_BY_MIRRORING = "endpointslicemirroring-controller.k8s.io";

/** Endpoints of a slice, and addresses of a subset that are mirrored, at most. */
export const MAX_ENDPOINTS = 1_000;

type Json = Readonly<Record<string, unknown>>;

/** What one slice is to hold. */
interface Slice {
  readonly name: string;
  readonly seen: KubeObject | undefined;
  readonly addressType: string;
  readonly ports: readonly Json[];
  readonly addresses: readonly OfferedAddress[];
}

/**
 * What to write so that our own slices of a Service say what `groups` say, each address in one slice (in more only where
 * its ports share a name, which no slice can hold). An address stays in the slice that it is in while its ports stay; one that has to move is taken out of its old slice first, and put into the
 * new one by the next plan: never two slices for one address, not even between two writes.
 *
 * @param seen our slices of the Service as they are
 */
export function planSlices(
  service: { readonly namespace: string; readonly name: string },
  groups: readonly OfferGroup[],
  seen: readonly KubeObject[],
): readonly ImportAction[] {
  const slices = groups.flatMap((group) => slicesOfGroup(service.name, group, seen));
  const wanted = new Map(slices.map((slice) => [slice.name, slice]));
  const stays = slices.map((slice) => ({ ...slice, addresses: onlyShown(slice) }));
  const moving = isMoving(slices, seen);
  const actions = (moving ? stays : slices).flatMap((slice) => writeSlice(service, slice));
  const doomed = seen.filter(({ metadata }) => !wanted.has(metadata.name ?? ""));
  return [
    ...doomed.map(
      (object): ImportAction => ({ kind: "delete", ref: sliceRef(service.namespace, object), seen: object }),
    ),
    ...actions,
  ];
}

/** The address that a slice is at. */
export function sliceRef(namespace: string, { metadata }: KubeObject): ReturnType<typeof memberRef> {
  return memberRef(ENDPOINT_SLICES, metadata.name ?? "", namespace);
}

/** Distributes a group's addresses over the slices that it has and, where they are full, new ones. */
function slicesOfGroup(
  service: string,
  { ports, addresses }: OfferGroup,
  seen: readonly KubeObject[],
): readonly Slice[] {
  return ([4, 6] as const).flatMap((family) => {
    const addressType = `IPv${family}`;
    const key = createHash("sha256")
      .update(canonicalJson([addressType, ports]))
      .digest("hex")
      .slice(0, 8);
    const prefix = `${service}-${key}-`;
    const present = seen.filter(({ metadata }) => metadata.name?.startsWith(prefix) === true);
    const left = new Map(addresses.filter(({ ip }) => isIP(ip) === family).map((address) => [address.ip, address]));
    const filled = new Map<string, OfferedAddress[]>();
    for (const object of present) {
      const kept = shownIps(object).flatMap((ip) => left.get(ip) ?? []);
      for (const { ip } of kept) left.delete(ip);
      filled.set(object.metadata.name ?? "", kept);
    }
    const rest = [...left.values()];
    for (const kept of filled.values()) kept.push(...rest.splice(0, MAX_ENDPOINTS - kept.length));
    for (let n = 0; rest.length > 0; n += 1) {
      if (!filled.has(`${prefix}${n}`)) filled.set(`${prefix}${n}`, rest.splice(0, MAX_ENDPOINTS));
    }
    return [...filled]
      .filter(([, list]) => list.length > 0)
      .map(([name, list]) => ({
        name,
        seen: present.find(({ metadata }) => metadata.name === name),
        addressType,
        ports,
        addresses: list.toSorted((a, b) => (a.ip < b.ip ? -1 : 1)),
      }));
  });
}

/** Whether an address has to come out of one slice and go into another. */
function isMoving(slices: readonly Slice[], seen: readonly KubeObject[]): boolean {
  const wanted = placesOf(slices.map(({ name, addresses }) => [name, addresses.map(({ ip }) => ip)]));
  const present = placesOf(seen.map((object) => [object.metadata.name ?? "", shownIps(object)]));
  return [...present].some(([ip, at]) => {
    const to = wanted.get(ip) ?? new Set<string>();
    return [...at].some((name) => !to.has(name)) && [...to].some((name) => !at.has(name));
  });
}

/** The slices that each address is in. */
function placesOf(slices: readonly (readonly [string, readonly string[]])[]): ReadonlyMap<string, Set<string>> {
  const places = new Map<string, Set<string>>();
  for (const [name, ips] of slices) {
    for (const ip of ips) places.set(ip, (places.get(ip) ?? new Set<string>()).add(name));
  }
  return places;
}

function onlyShown({ seen, addresses }: Slice): readonly OfferedAddress[] {
  const shown = new Set(seen === undefined ? [] : shownIps(seen));
  return addresses.filter(({ ip }) => shown.has(ip));
}

function writeSlice(
  { namespace, name: service }: { readonly namespace: string; readonly name: string },
  { name, seen, addressType, ports, addresses }: Slice,
): readonly ImportAction[] {
  const endpoints = addresses.map(({ ip, ready, fields }) => ({ addresses: [ip], conditions: { ready }, ...fields }));
  const ref = memberRef(ENDPOINT_SLICES, name, namespace);
  if (seen !== undefined) {
    if (sameMeaning(endpoints, byAddress(seen["endpoints"])) && sameMeaning(ports, byText(seen["ports"]))) return [];
    return [{ kind: "update", ref, object: { ...seen, endpoints, ports } }];
  }
  if (addresses.length === 0) return [];
  const base = newObject(ENDPOINT_SLICES, ref, { [IMPORTED_SERVICE]: "true" });
  const labels = { [SERVICE_LABEL]: service, [MANAGED_BY_LABEL]: MANAGED_BY_US };
  const object = { ...base, metadata: { ...base.metadata, labels }, addressType, endpoints, ports };
  return [{ kind: "create", ref, object }];
}

/** What the server adds to an endpoint or a port without saying more. */
function byAddress(endpoints: unknown): unknown {
  if (!Array.isArray(endpoints)) return endpoints;
  return endpoints.filter(isRecord).toSorted((a, b) => (String(a["addresses"]) < String(b["addresses"]) ? -1 : 1));
}

function byText(ports: unknown): unknown {
  if (!Array.isArray(ports)) return ports;
  return ports
    .filter(isRecord)
    .map(({ name, ...port }) => (name === "" ? port : { name, ...port }))
    .toSorted((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1));
}

function shownIps({ endpoints }: KubeObject): readonly string[] {
  if (!Array.isArray(endpoints)) return [];
  return endpoints.filter(isRecord).flatMap(({ addresses }) => (Array.isArray(addresses) ? addresses.map(String) : []));
}
