import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { repackSubsets } from "../../../infra/local/cluster/engine/builtin/endpoint-subsets.ts";
import { groupOffers, readSubsets, sameSubsets } from "../../../lib/antrea/imports/endpoint-subsets.ts";

const address = fc.record({ ip: fc.integer({ min: 1, max: 6 }).map((n) => `10.0.0.${n}`) });
const port = fc.record({
  name: fc.constantFrom("http", "grpc"),
  port: fc.constantFrom(80, 81),
  protocol: fc.constant("TCP"),
});
const subset = fc.record({
  addresses: fc.array(address, { maxLength: 4 }),
  notReadyAddresses: fc.array(address, { maxLength: 2 }),
  ports: fc.array(port, { minLength: 1, maxLength: 2 }),
});

test("subsets say the same after a server has packed them anew, in any order", () => {
  fc.assert(
    fc.property(fc.array(subset, { maxLength: 4 }), (subsets) => {
      const packed = repackSubsets(structuredClone(subsets));

      assert.ok(sameSubsets(subsets, packed));
      assert.ok(sameSubsets(subsets, subsets.toReversed()));
    }),
  );
});

test("subsets that lack one address, port or readiness do not say the same", () => {
  const base = [{ addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ name: "http", port: 80 }] }];

  for (const other of [
    [],
    [{ ...base[0], addresses: [{ ip: "10.0.0.1" }] }],
    [{ ...base[0], ports: [{ name: "http", port: 81 }] }],
    [{ ...base[0], addresses: [{ ip: "10.0.0.1" }], notReadyAddresses: [{ ip: "10.0.0.2" }] }],
    [{ ...base[0], addresses: [{ ip: "10.0.0.1", nodeName: "n" }, { ip: "10.0.0.2" }] }],
  ]) {
    assert.ok(!sameSubsets(base, other));
  }
  assert.ok(sameSubsets(base, [{ ...base[0], ports: [{ name: "http", port: 80, protocol: "TCP" }] }]));
});

test("an address stands in one group, but where two of its ports have one name", () => {
  fc.assert(
    fc.property(fc.array(subset, { maxLength: 4 }), (subsets) => {
      for (const { ports, addresses } of groupOffers(subsets)) {
        const names = ports.map(({ name }) => name);
        assert.equal(new Set(names).size, names.length);
        assert.equal(new Set(addresses.map(({ ip }) => ip)).size, addresses.length);
      }
    }),
  );
  const ports = [
    { name: "http", port: 80 },
    { name: "grpc", port: 81 },
  ];
  const groups = groupOffers([
    { addresses: [{ ip: "10.0.0.1" }], ports },
    { addresses: [{ ip: "10.0.0.1" }], ports: [{ name: "http", port: 8080 }] },
  ]);
  assert.deepEqual(groups.map((group) => group.ports.length).toSorted(), [1, 2]);
});

test("whatever stands in a payload is read without an error", () => {
  fc.assert(
    fc.property(fc.anything(), (payload) => {
      const subsets = readSubsets(payload);
      assert.ok(subsets === undefined || Array.isArray(groupOffers(subsets)));
      const inside = readSubsets({ subsets: payload, endpoints: payload, ports: payload });
      assert.ok(Array.isArray(groupOffers(inside ?? [])));
    }),
  );
});
