import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import fc from "fast-check";
import type { ApiObject } from "../../../infra/local/cluster/types.ts";
import { ImportWorld, type WireSpec } from "./import-world.ts";

const SERVICE_MARK = "multicluster.antrea.io/imported-service";
const POLICY_MARK = "multicluster.antrea.io/imported-acnp";

/** What an import may make in the member: group, resource, prefix of the name, the marker if there is one. */
const MADE = [
  ["", "services", "antrea-mc-", SERVICE_MARK],
  ["", "endpoints", "antrea-mc-", SERVICE_MARK],
  ["multicluster.x-k8s.io", "serviceimports", "", undefined],
  ["crd.antrea.io", "clusternetworkpolicies", "antrea-mc-", POLICY_MARK],
  ["multicluster.crd.antrea.io", "clusterinfoimports", "", undefined],
  ["multicluster.crd.antrea.io", "labelidentities", "", undefined],
] as const;

/** Objects that a user may make under the names of an import. */
const USERS: readonly ((name: string) => Record<string, unknown>)[] = [
  (name) => ({
    apiVersion: "v1",
    kind: "Service",
    metadata: { name: `antrea-mc-${name}`, namespace: "shop" },
    spec: { ports: [{ port: 9 }] },
  }),
  (name) => ({ apiVersion: "v1", kind: "Endpoints", metadata: { name: `antrea-mc-${name}`, namespace: "shop" } }),
  (name) => ({
    apiVersion: "multicluster.x-k8s.io/v1alpha1",
    kind: "ServiceImport",
    metadata: { name, namespace: "shop" },
    spec: { type: "ClusterSetIP", ports: [] },
  }),
  (name) => ({
    apiVersion: "crd.antrea.io/v1beta1",
    kind: "ClusterNetworkPolicy",
    metadata: { name: `antrea-mc-${name}` },
    spec: { priority: 9 },
  }),
];

const port = fc.constantFrom(80, 443, 8080);
const address = fc.constantFrom("10.0.0.1", "10.0.0.2", "10.0.0.3");
const payloads = fc.oneof(
  fc.record({
    kind: fc.constant("ServiceImport"),
    serviceImport: fc.option(
      fc.uniqueArray(port, { maxLength: 2 }).map((ports) => ({
        spec: { type: "ClusterSetIP", ports: ports.map((one) => ({ name: `p-${one}`, port: one, protocol: "TCP" })) },
      })),
      { nil: undefined },
    ),
  }),
  fc.record({
    kind: fc.constant("Endpoints"),
    endpoints: fc.uniqueArray(address, { maxLength: 3 }).map((ips) => ({
      subsets: ips.map((ip) => ({ addresses: [{ ip }], ports: [{ name: "http", port: 80, protocol: "TCP" }] })),
    })),
  }),
  fc.record({
    kind: fc.constant("AntreaClusterNetworkPolicy"),
    clusternetworkpolicy: fc.record({
      priority: fc.constantFrom(1, 2),
      tier: fc.constantFrom("", "missing", "Application"),
    }),
  }),
  fc.record({
    kind: fc.constant("ClusterInfo"),
    clusterinfo: fc.record({ clusterID: fc.constantFrom("west", "east"), serviceCIDR: fc.constantFrom("a", "b") }),
  }),
  fc.record({
    kind: fc.constant("LabelIdentity"),
    labelIdentity: fc.record({ label: fc.constant("ns:&pod:"), id: fc.constantFrom(1, 2) }),
  }),
  fc.record({ kind: fc.constantFrom("", "Foo") }),
);
const wanted = fc.tuple(payloads, fc.constantFrom([], ["east"], ["west"])).map(([payload, clusterID]) => ({
  ...payload,
  clusterID,
}));
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant("want" as const), spec: wanted }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("drop" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("user" as const), what: fc.nat(USERS.length - 1) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("takeOver" as const),
      kind: fc.constantFrom("Service", "Endpoints", "ClusterNetworkPolicy"),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("window" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("halt" as const), after: fc.nat(2), spec: wanted }) },
);

describe("an import's reconciling, whatever has come before", { timeout: 120_000 }, () => {
  let world: ImportWorld;
  let runs = 0;
  before(async () => {
    world = await ImportWorld.start();
    await world.put({
      apiVersion: "crd.antrea.io/v1beta1",
      kind: "Tier",
      metadata: { name: "application" },
      spec: { priority: 5 },
    });
  });
  after(() => world.end());

  const found = (name: string): readonly { readonly object: ApiObject; readonly marker: string | undefined }[] =>
    MADE.flatMap(([group, resource, prefix, marker]) =>
      world.member.engine
        .readAll(group, resource)
        .filter(({ metadata }) => metadata.name === `${prefix}${name}`)
        .map((object) => ({ object, marker })),
    );

  it("comes to rest, writes nothing more there, touches nothing of a user's, and leaves nothing behind", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 8 }), async (steps) => {
        runs += 1;
        const name = `web-${runs}`;
        const users = new Map<string, string | undefined>();
        const check = (): void => {
          for (const { object } of found(name)) {
            const version = users.get(object.kind);
            if (version !== undefined)
              assert.equal(object.metadata.resourceVersion, version, `${object.kind} of a user`);
          }
        };
        let last: WireSpec | undefined;
        for (const one of steps) {
          const spec = "spec" in one ? { ...one.spec, name, namespace: "shop" } : undefined;
          switch (one.do) {
            case "want":
              last = spec;
              if (!world.records.has(name) && spec !== undefined) world.intend(name, spec);
              await world.settle(name, spec);
              break;
            case "halt": {
              let left = one.after;
              world.mayWrite = () => left-- > 0;
              last = spec;
              if (!world.records.has(name) && spec !== undefined) world.intend(name, spec);
              await world.settle(name, spec);
              world.mayWrite = () => true;
              world.newWindow();
              break;
            }
            case "drop":
              last = undefined;
              await world.settle(name, undefined);
              break;
            case "takeOver": {
              const object = found(name).find((each) => each.object.kind === one.kind)?.object;
              if (object === undefined || users.has(one.kind)) break;
              await world.put({ ...object, metadata: { ...object.metadata, annotations: {} } });
              users.set(
                one.kind,
                found(name).find((each) => each.object.kind === one.kind)?.object.metadata.resourceVersion,
              );
              break;
            }
            case "window":
              world.newWindow();
              break;
            case "user": {
              const object = USERS[one.what]?.(name) ?? {};
              const kind = String(object["kind"]);
              // A ServiceImport that the record names stays ours without a marker: nothing tells it from the user's.
              if (found(name).some((each) => each.object.kind === kind)) break;
              await world.put(object);
              users.set(kind, found(name).find((each) => each.object.kind === kind)?.object.metadata.resourceVersion);
            }
          }
          check();
        }
        await world.settle(name, last);
        world.requests();
        await world.settle(name, last);
        const more = world.requests().filter((request) => !/^(get|list) /.test(request));
        assert.deepEqual(more, [], "an import at rest");
        world.newWindow();
        await world.settle(name, undefined);
        check();
        const left = found(name).filter(({ object }) => !users.has(object.kind));
        assert.deepEqual(
          left.map(({ object }) => object.kind),
          [],
          "what is left behind",
        );
      }),
      { numRuns: 100 },
    );
  });
});
