import assert from "node:assert/strict";
import { after, afterEach, before, beforeEach, describe, it } from "node:test";
import type { ApiObject } from "../../../infra/local/cluster/types.ts";
import { until } from "../../support/until.ts";
import { ImportWorld, serviceSpec, type WireSpec } from "./import-world.ts";

const MARK = "multicluster.antrea.io/imported-service";
const SKIP = "endpointslice.kubernetes.io/skip-mirror";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";
const SERVICE = "kubernetes.io/service-name";

describe("imports of kind Endpoints", { timeout: 60_000 }, () => {
  let world: ImportWorld;
  let name: string;
  let count = 0;
  before(async () => {
    world = await ImportWorld.start();
  });
  beforeEach(() => {
    count += 1;
    name = `web-${count}`;
    world.newWindow();
    world.requests();
  });
  afterEach(() => world.member.faults.clear());
  after(() => world.end());

  const importName = (): string => `shop-${name}-endpoints`;
  const spec = (subsets: unknown, more: WireSpec = {}): WireSpec => ({
    kind: "Endpoints",
    namespace: "shop",
    name,
    endpoints: { subsets },
    ...more,
  });
  const subset = (ips: readonly string[], port = 80): WireSpec => ({
    addresses: ips.map((ip) => ({ ip })),
    ports: [{ name: "http", port, protocol: "TCP" }],
  });
  const many = (n: number, from = 0): readonly string[] =>
    Array.from({ length: n }, (_, i) => `10.${(from + i) >> 16}.${((from + i) >> 8) & 255}.${(from + i) & 255}`);
  const endpoints = (): ApiObject | undefined => world.read("", "endpoints", `antrea-mc-${name}`, "shop");
  const state = (): string | undefined => world.records.get(importName())?.state;
  const slices = (): readonly ApiObject[] =>
    world.member.engine
      .readAll("discovery.k8s.io", "endpointslices", "shop")
      .filter(({ metadata }) => metadata.labels?.[SERVICE] === `antrea-mc-${name}`);
  const isOurs = ({ metadata }: ApiObject): boolean => metadata.labels?.[MANAGED_BY] === "hawser-imports";
  const ours = (): readonly ApiObject[] => slices().filter(isOurs);
  const addressesIn = (of: readonly ApiObject[]): readonly string[] =>
    of.flatMap((slice) =>
      ((slice["endpoints"] ?? []) as { addresses: string[] }[]).flatMap(({ addresses }) => addresses),
    );
  /** The import, looked at until it waits for nothing that a controller does. */
  const settle = async (of: WireSpec): Promise<void> => {
    for (let looks = 0; looks < 5; looks += 1) {
      const outcome = await world.settle(importName(), of);
      if (outcome.kind !== "settled" || outcome.afterMs !== 2_000) return;
      await until(() => slices().every(isOurs));
    }
  };

  it("makes annotated Endpoints with the import's subsets, also before the Service is there", async () => {
    await world.reconcile(importName(), spec([subset(["10.0.0.1", "10.0.0.2"])]));

    assert.equal(endpoints()?.metadata.annotations?.[MARK], "true");
    assert.equal(endpoints()?.metadata.labels?.[SKIP], undefined);
    assert.deepEqual(endpoints()?.["subsets"], [subset(["10.0.0.1", "10.0.0.2"])]);
    assert.equal(state(), "Applied");
    assert.deepEqual(world.requests(), [`get endpoints/antrea-mc-${name}`, "create endpoints"]);
  });

  it("brings two subsets to them, and deletes them with the import", async () => {
    await world.reconcile(importName(), spec([subset(["10.0.0.1"])]));
    const two = [subset(["10.0.0.1"]), subset(["10.0.1.1"], 8080)];

    await world.reconcile(importName(), spec(two));
    const updated = endpoints()?.["subsets"];
    const removed = await world.reconcile(importName(), undefined);

    assert.deepEqual(updated, two);
    assert.deepEqual([removed.kind, endpoints()], ["removed", undefined]);
  });

  it("sends nothing while the server only keeps them in another order or form", async () => {
    await world.reconcile(importName(), spec([subset(["10.0.0.2"]), subset(["10.0.0.1"])]));
    await world.put({ ...endpoints(), subsets: [subset(["10.0.0.1", "10.0.0.2"])] });
    world.newWindow();
    world.requests();

    await world.reconcile(importName(), spec([subset(["10.0.0.2"]), subset(["10.0.0.1"])]));

    assert.deepEqual(
      world.requests().filter((request) => !request.startsWith("get") && !request.startsWith("list")),
      [],
    );
  });

  it("leaves a user's Endpoints of that name alone, and installs when they are gone", async () => {
    await world.put({
      apiVersion: "v1",
      kind: "Endpoints",
      metadata: { name: `antrea-mc-${name}`, namespace: "shop" },
    });
    const before = endpoints();

    await world.reconcile(importName(), spec([subset(["10.0.0.1"])]));
    const shown = state();
    await world.reconcile(importName(), undefined);

    assert.equal(shown, "Conflicted");
    assert.deepEqual(endpoints(), before);
  });

  it("makes Endpoints without subsets of an empty list, and calls a missing payload invalid", async () => {
    await world.reconcile(importName(), spec([]));
    const made = endpoints();
    await world.reconcile(importName(), spec([], { endpoints: undefined }));

    assert.notEqual(made, undefined);
    assert.equal(state(), "Invalid");
    assert.notEqual(endpoints(), undefined);
  });

  it("accepts the form of an EndpointSlice in the payload", async () => {
    const payload = {
      endpoints: [
        { addresses: ["10.0.0.1"], conditions: { ready: true }, nodeName: "n" },
        { addresses: ["10.0.0.2"] },
        { addresses: ["10.0.0.3"], conditions: { ready: false } },
      ],
      ports: [{ name: "http", port: 80, protocol: "TCP" }],
    };

    await world.reconcile(importName(), spec(undefined, { endpoints: payload }));

    assert.deepEqual(endpoints()?.["subsets"], [
      {
        addresses: [{ ip: "10.0.0.1", nodeName: "n" }, { ip: "10.0.0.2" }],
        notReadyAddresses: [{ ip: "10.0.0.3" }],
        ports: payload.ports,
      },
    ]);
  });

  it("lets the cluster mirror a thousand addresses, and writes the slices itself above that", async () => {
    await world.reconcile(`shop-${name}-service`, serviceSpec(name));
    await settle(spec([subset(many(1_000))]));
    await until(() => slices().length > 0);
    const mirrored = [slices().length, ours().length];

    await settle(spec([subset(many(2_500))]));

    assert.deepEqual(mirrored, [1, 0]);
    assert.equal(endpoints()?.metadata.labels?.[SKIP], "true");
    assert.deepEqual([slices().length, ours().length], [3, 3]);
    assert.equal(state(), "Applied");
    const addresses = addressesIn(slices());
    assert.deepEqual([addresses.length, new Set(addresses).size], [2_500, 2_500]);
    assert.ok(ours().every((slice) => (slice["endpoints"] as unknown[]).length <= 1_000));
  });

  it("gives mirroring back to the cluster when there are fewer again, its own slices first", async () => {
    await world.reconcile(`shop-${name}-service`, serviceSpec(name));
    await settle(spec([subset(many(1_500))]));

    await settle(spec([subset(many(10))]));
    await until(() => slices().length > 0);

    assert.equal(endpoints()?.metadata.labels?.[SKIP], undefined);
    assert.deepEqual([slices().length, ours().length], [1, 0]);
  });

  it("never has an address in two slices, whatever changes", async () => {
    await world.reconcile(`shop-${name}-service`, serviceSpec(name));
    const doubles: string[] = [];
    const { engine } = world.member;
    const watching = world.member.requestLog.subscribe(({ verb }) => {
      if (verb === "get" || verb === "list") return;
      const addresses = addressesIn(slices());
      if (new Set(addresses).size !== addresses.length) doubles.push(verb);
    });

    for (const subsets of [
      [subset(many(1_200))],
      [subset(many(1_200, 600))],
      [subset(many(700)), subset(many(700, 700), 8080)],
      [subset(many(700), 8080), subset(many(700, 700))],
      [subset(many(5))],
      [subset(many(1_001)), { ...subset(many(1_001)), ports: [{ name: "grpc", port: 81, protocol: "TCP" }] }],
    ]) {
      await settle(spec(subsets));
      assert.equal(state(), "Applied");
      const wanted = new Set(subsets.flatMap(({ addresses }) => (addresses as { ip: string }[]).map(({ ip }) => ip)));
      await until(() => addressesIn(slices()).length === wanted.size);
      assert.deepEqual(new Set(addressesIn(slices())), wanted);
    }
    watching();

    assert.deepEqual(doubles, []);
    assert.ok(engine.serves("discovery.k8s.io", "v1", "endpointslices"));
  });

  it("writes nothing for slices that are right already", async () => {
    await settle(spec([subset(many(1_100))]));
    world.newWindow();
    world.requests();

    await settle(spec([subset(many(1_100))]));

    assert.deepEqual(
      world.requests().filter((request) => !request.startsWith("get") && !request.startsWith("list")),
      [],
    );
  });

  it("writes slices where the member refuses Endpoints, and removes them with the import", async () => {
    world.member.faults.add({
      match: { resource: "endpoints" },
      action: { kind: "status", code: 403, reason: "Forbidden", message: "no" },
    });

    await settle(spec([subset(["10.0.0.1", "fd00::1"])]));
    const shown = [state(), endpoints(), addressesIn(ours()).toSorted()];
    const types = ours().map((slice) => slice["addressType"]);
    const removed = await world.reconcile(importName(), undefined);

    assert.deepEqual(shown, ["Applied", undefined, ["10.0.0.1", "fd00::1"]]);
    assert.deepEqual(types.toSorted(), ["IPv4", "IPv6"]);
    assert.deepEqual([removed.kind, ours()], ["removed", []]);
  });

  it("goes back to Endpoints when the member lets it, without doubling an address", async () => {
    await world.reconcile(`shop-${name}-service`, serviceSpec(name));
    world.member.faults.add({
      match: { resource: "endpoints" },
      action: { kind: "status", code: 403, reason: "Forbidden", message: "no" },
    });
    await settle(spec([subset(["10.0.0.1"])]));
    world.member.faults.clear();
    world.newWindow();

    await settle(spec([subset(["10.0.0.1"])]));

    await until(() => slices().length > 0);
    assert.notEqual(endpoints(), undefined);
    assert.deepEqual([ours().length, slices().length], [0, 1]);
  });

  it("removes Endpoints and slices alike, by the record alone", async () => {
    await settle(spec([subset(many(1_100))]));
    world.newWindow();

    const removed = await world.reconcile(importName(), undefined);

    assert.deepEqual([removed.kind, endpoints(), ours()], ["removed", undefined, []]);
  });

  it("waits for a Namespace that is not there", async () => {
    await world.reconcile(importName(), spec([subset(["10.0.0.1"])], { namespace: `late-${name}` }));

    assert.equal(state(), "WaitingForNamespace");
  });
});
