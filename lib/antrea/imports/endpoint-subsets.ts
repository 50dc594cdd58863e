import { isIP } from "node:net";
import { canonicalJson } from "./canonical.ts";
import { isRecord } from "./resource-import.ts";

type Json = Readonly<Record<string, unknown>>;

/** An address and whether it is ready for traffic; its other fields (hostname, nodeName, targetRef) as they came. */
export interface OfferedAddress {
  readonly ip: string;
  readonly ready: boolean;
  readonly fields: Json;
}

/** Addresses that offer exactly the same ports. */
export interface OfferGroup {
  readonly ports: readonly Json[];
  /** By address. */
  readonly addresses: readonly OfferedAddress[];
}

/**
 * The subsets of an import's payload in the form of Endpoints; undefined: there are none in it. Newer leaders may write
 * `endpoints` and `ports` in the form of an EndpointSlice instead.
 */
export function readSubsets(payload: unknown): readonly Json[] | undefined {
  if (!isRecord(payload)) return undefined;
  const { subsets, endpoints, ports } = payload;
  const given = Array.isArray(subsets) ? subsets.filter(isRecord) : [];
  if (given.length > 0 || !Array.isArray(endpoints)) return given;
  const addresses = (ready: boolean): readonly Json[] =>
    endpoints.filter(isRecord).flatMap((endpoint) => (isReady(endpoint) === ready ? addressesOf(endpoint) : []));
  const [ready, notReady] = [addresses(true), addresses(false)];
  if (ready.length + notReady.length === 0) return [];
  const subset = {
    ...(ready.length === 0 ? {} : { addresses: ready }),
    ...(notReady.length === 0 ? {} : { notReadyAddresses: notReady }),
    ...(Array.isArray(ports) ? { ports: ports.filter(isRecord) } : {}),
  };
  return [subset];
}

/** A condition that is not given counts as true, as in an EndpointSlice. */
function isReady({ conditions }: Json): boolean {
  return !(isRecord(conditions) && conditions["ready"] === false);
}

function addressesOf({ addresses, hostname, nodeName, targetRef }: Json): readonly Json[] {
  const ips = Array.isArray(addresses) ? addresses.filter((ip) => typeof ip === "string") : [];
  const more = Object.entries({ hostname, nodeName, targetRef }).filter(([, value]) => value !== undefined);
  return ips.map((ip) => ({ ip, ...Object.fromEntries(more) }));
}

/**
 * What subsets say, whatever form they are in: servers merge and sort them as they like. Each address stands once, with
 * all the ports that it offers anywhere; one that is not ready for one of them is not ready. Only where two of its ports
 * have one name does it stand twice: within a group names differ.
 */
export function groupOffers(subsets: readonly Json[]): readonly OfferGroup[] {
  const offers = new Map<string, { address: OfferedAddress; readonly ports: Map<string, Json> }>();
  for (const subset of subsets) {
    const ports = listOf(subset["ports"]).map(plainPort);
    for (const address of [...offered(subset["addresses"], true), ...offered(subset["notReadyAddresses"], false)]) {
      const known = offers.get(address.ip) ?? { address, ports: new Map<string, Json>() };
      if (!address.ready) known.address = { ...known.address, ready: false };
      for (const port of ports) known.ports.set(canonicalJson(port), port);
      offers.set(address.ip, known);
    }
  }
  const groups = new Map<string, { readonly ports: readonly Json[]; readonly addresses: OfferedAddress[] }>();
  for (const { address, ports } of offers.values()) {
    for (const lane of lanesOf([...ports.values()])) {
      const key = canonicalJson(lane);
      const known = groups.get(key);
      if (known === undefined) groups.set(key, { ports: lane, addresses: [address] });
      else known.addresses.push(address);
    }
  }
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { ports, addresses }]) => ({ ports, addresses: addresses.toSorted((a, b) => (a.ip < b.ip ? -1 : 1)) }));
}

/** The ports in order, split where names would meet; an address without ports has one empty lane. */
function lanesOf(ports: readonly Json[]): readonly (readonly Json[])[] {
  const lanes: Json[][] = [[]];
  for (const port of ports.toSorted((a, b) => (canonicalJson(a) < canonicalJson(b) ? -1 : 1))) {
    const lane = lanes.find((one) => one.every(({ name }) => name !== port["name"]));
    if (lane === undefined) lanes.push([port]);
    else lane.push(port);
  }
  return lanes;
}

/** With what the server adds, and without what says nothing. */
function plainPort({ name, ...port }: Json): Json {
  return { protocol: "TCP", ...port, ...(name === "" || name === undefined ? {} : { name }) };
}

/** Whether two lists of subsets say the same. */
export function sameSubsets(a: readonly Json[], b: readonly Json[]): boolean {
  return canonicalJson(groupOffers(a)) === canonicalJson(groupOffers(b));
}

/** Subsets of an object that was read. */
export function subsetsOf(object: Json | undefined): readonly Json[] {
  return listOf(object?.["subsets"]);
}

function offered(value: unknown, ready: boolean): readonly OfferedAddress[] {
  return listOf(value).flatMap(({ ip, ...fields }) =>
    typeof ip === "string" && isIP(ip) !== 0 ? [{ ip, ready, fields }] : [],
  );
}

function listOf(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.filter(isRecord) : [];
}
