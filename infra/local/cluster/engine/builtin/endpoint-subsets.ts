import { type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";

/** Addresses (by their key) that offer a port, and whether they are ready there. */
type Offers = Map<string, boolean>;

/**
 * The subsets in the form in which the server keeps them: each combination of addresses stands once, with all the ports
 * that exactly these addresses offer; doubles are gone, lists are sorted. An address that is ready for a port in one
 * subset and not in another is not ready. Where a real server orders subsets and ports by a hash of Go's memory, here
 * they are ordered by their text.
 */
export function repackSubsets(subsets: readonly JsonObject[]): readonly JsonObject[] {
  const addresses = new Map<string, JsonObject>();
  const ports = new Map<string, { readonly port: JsonObject | undefined; readonly offers: Offers }>();
  for (const subset of subsets) {
    const offered = objectsIn(subset, "ports");
    for (const port of offered.length === 0 ? [undefined] : offered) {
      const key = port === undefined ? "" : stableText(port);
      const entry = ports.get(key) ?? { port, offers: new Map<string, boolean>() };
      ports.set(key, entry);
      for (const address of objectsIn(subset, "addresses")) offer(address, true, addresses, entry.offers);
      for (const address of objectsIn(subset, "notReadyAddresses")) offer(address, false, addresses, entry.offers);
    }
  }
  return pack(addresses, [...ports.values()]);
}

function offer(address: JsonObject, ready: boolean, addresses: Map<string, JsonObject>, offers: Offers): void {
  const key = addressKey(address);
  if (!addresses.has(key)) addresses.set(key, address);
  offers.set(key, ready && (offers.get(key) ?? true));
}

/** The same address of two targets counts twice. */
function addressKey(address: JsonObject): string {
  return `${textIn(address, "ip")} ${textIn(objectIn(address, "targetRef"), "uid")}`;
}

function pack(
  addresses: ReadonlyMap<string, JsonObject>,
  ports: readonly { readonly port: JsonObject | undefined; readonly offers: Offers }[],
): readonly JsonObject[] {
  const groups = new Map<string, { readonly offers: Offers; readonly ports: JsonObject[] }>();
  for (const { port, offers } of ports) {
    const key = [...offers]
      .map(([a, ready]) => `${a} ${ready}`)
      .toSorted()
      .join("\n");
    const group = groups.get(key) ?? { offers, ports: [] };
    groups.set(key, group);
    if (port !== undefined) group.ports.push(port);
  }
  return [...groups.values()]
    .map((group) => {
      const select = (ready: boolean): readonly JsonObject[] =>
        [...group.offers.keys()]
          .filter((key) => group.offers.get(key) === ready)
          .toSorted()
          .map((key) => addresses.get(key))
          .filter((address) => address !== undefined);
      const [ready, unready] = [select(true), select(false)];
      const sorted = group.ports.toSorted((a, b) => (stableText(a) < stableText(b) ? -1 : 1));
      return {
        ...(ready.length === 0 ? {} : { addresses: ready }),
        ...(unready.length === 0 ? {} : { notReadyAddresses: unready }),
        ...(sorted.length === 0 ? {} : { ports: sorted }),
      };
    })
    .toSorted((a, b) => (stableText(a) < stableText(b) ? -1 : 1));
}

/** JSON with sorted keys of the top level, so that the order in which fields came does not count. */
function stableText(value: JsonObject): string {
  return JSON.stringify(Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
