import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { repackSubsets } from "../../../../../infra/local/cluster/engine/builtin/endpoint-subsets.ts";
import { type JsonObject, objectsIn, textIn } from "../../../../../infra/local/cluster/engine/json.ts";

const address = fc.integer({ min: 1, max: 5 }).map((n) => ({ ip: `10.0.0.${n}` }));
const plain = { noNullPrototype: true };
const port = fc.record({ name: fc.constantFrom("a", "b"), port: fc.constantFrom(80, 81) }, plain);
const subset = fc.record(
  {
    addresses: fc.array(address, { maxLength: 4 }),
    notReadyAddresses: fc.array(address, { maxLength: 2 }),
    // A subset without ports is swallowed by another one of the same addresses, on real servers as well.
    ports: fc.array(port, { minLength: 1, maxLength: 3 }),
  },
  plain,
);
const subsets = fc.array(subset, { maxLength: 5 });

/** Each address with each port, and whether it is ready: what the subsets mean. */
function meaning(of: readonly JsonObject[]): ReadonlySet<string> {
  const ready = new Map<string, boolean>();
  for (const s of of) {
    const ports = objectsIn(s, "ports");
    for (const p of ports.length === 0 ? [{}] : ports) {
      const key = (a: JsonObject): string => `${textIn(a, "ip")} ${JSON.stringify([p["name"], p["port"]])}`;
      for (const a of objectsIn(s, "addresses")) ready.set(key(a), ready.get(key(a)) ?? true);
      for (const a of objectsIn(s, "notReadyAddresses")) ready.set(key(a), false);
    }
  }
  return new Set([...ready].map(([key, is]) => `${key} ${is}`));
}

test("repacking keeps what the subsets mean", () => {
  fc.assert(fc.property(subsets, (given) => assert.deepEqual(meaning(repackSubsets(given)), meaning(given))));
});

test("what is repacked is not changed by repacking it again", () => {
  fc.assert(
    fc.property(subsets, (given) => {
      const once = repackSubsets(given);
      assert.deepEqual(repackSubsets(once), once);
    }),
  );
});

test("the order of subsets, addresses and ports does not count", () => {
  fc.assert(
    fc.property(subsets, (given) => {
      const turned = given.toReversed().map((s) => ({
        addresses: s.addresses.toReversed(),
        notReadyAddresses: s.notReadyAddresses.toReversed(),
        ports: s.ports.toReversed(),
      }));
      assert.deepEqual(repackSubsets(turned), repackSubsets(given));
    }),
  );
});
