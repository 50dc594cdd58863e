import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import type { ApiObject } from "../../../infra/local/cluster/types.ts";
import { ImportWorld, serviceSpec, specOf } from "./import-world.ts";

const MARK = "multicluster.antrea.io/imported-service";

describe("imports of kind ServiceImport", { timeout: 60_000 }, () => {
  let world: ImportWorld;
  let name: string;
  let count = 0;
  before(async () => {
    world = await ImportWorld.start();
  });
  beforeEach(() => {
    count += 1;
    name = `web-${count}`;
    world.mayWrite = () => true;
    world.requests();
  });
  after(() => world.end());

  const importName = (): string => `shop-${name}-service`;
  const service = (): ApiObject | undefined => world.read("", "services", `antrea-mc-${name}`, "shop");
  const imported = (): ApiObject | undefined => world.read("multicluster.x-k8s.io", "serviceimports", name, "shop");
  const state = (): string | undefined => world.records.get(importName())?.state;
  const ports = (of: ApiObject | undefined): unknown => {
    const list = specOf(of)["ports"] as { port: number; name: string }[];
    return list.map(({ name: portName, port }) => [portName, port]);
  };
  const userService = async (annotations: Record<string, string> = {}): Promise<void> =>
    await world.put({
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: `antrea-mc-${name}`, namespace: "shop", annotations },
      spec: { ports: [{ port: 8080 }] },
    });

  it("makes the annotated Service and the ServiceImport with its ClusterIP as the address, in four requests", async () => {
    const outcome = await world.reconcile(importName(), serviceSpec(name, [80, 443]));

    assert.equal(outcome.kind, "settled");
    assert.equal(state(), "Applied");
    assert.equal(service()?.metadata.annotations?.[MARK], "true");
    const { clusterIP, selector, type } = specOf(service());
    assert.deepEqual([typeof clusterIP, selector, type], ["string", undefined, "ClusterIP"]);
    assert.deepEqual(specOf(imported())["ips"], [clusterIP]);
    assert.deepEqual(ports(imported()), ports(service()));
    assert.deepEqual(world.requests(), [
      `get services/antrea-mc-${name}`,
      `get serviceimports/${name}`,
      "create services",
      "create serviceimports",
    ]);
  });

  it("remembers what it made by UID, in the order of making", async () => {
    await world.reconcile(importName(), serviceSpec(name));

    const record = world.records.get(importName());
    assert.deepEqual(
      record?.objects.map(({ kind, uid }) => [kind, uid]),
      [
        ["Service", service()?.metadata.uid],
        ["ServiceImport", imported()?.metadata.uid],
      ],
    );
  });

  it("sends nothing for an import that is right already, and reads nothing that it knows", async () => {
    await world.reconcile(importName(), serviceSpec(name));
    world.requests();

    await world.reconcile(importName(), serviceSpec(name));
    const known = world.requests();
    world.newWindow();
    await world.reconcile(importName(), serviceSpec(name));

    assert.deepEqual(known, []);
    assert.deepEqual(world.requests(), [`get services/antrea-mc-${name}`, `get serviceimports/${name}`]);
  });

  it("brings changed ports to both, one write each, and keeps what the server added to those that stay", async () => {
    await world.reconcile(importName(), serviceSpec(name, [80, 443]));
    const before = specOf(service());
    world.requests();

    await world.reconcile(importName(), serviceSpec(name, [443, 8080]));

    assert.deepEqual(world.requests(), [`update services/antrea-mc-${name}`, `update serviceimports/${name}`]);
    assert.deepEqual(ports(service()), [
      ["p-443", 443],
      ["p-8080", 8080],
    ]);
    assert.deepEqual(ports(imported()), ports(service()));
    assert.equal(specOf(service())["clusterIP"], before["clusterIP"]);
  });

  it("takes an import without protocol for one of TCP, as the API does", async () => {
    const spec = { type: "ClusterSetIP", ports: [{ port: 80 }] };
    await world.reconcile(importName(), serviceSpec(name, [], { serviceImport: { spec } }));
    world.newWindow();
    world.requests();

    await world.reconcile(importName(), serviceSpec(name, [], { serviceImport: { spec } }));

    assert.deepEqual(
      world.requests().filter((request) => !request.startsWith("get")),
      [],
    );
  });

  it("does not offer again what an older definition of ServiceImport has dropped", async () => {
    const spec = {
      type: "ClusterSetIP",
      ports: [{ port: 80 }],
      trafficDistribution: "PreferClose",
      ipFamilies: ["IPv4"],
    };
    await world.reconcile(importName(), serviceSpec(name, [], { serviceImport: { spec } }));
    world.newWindow();
    world.requests();

    await world.reconcile(importName(), serviceSpec(name, [], { serviceImport: { spec } }));

    assert.equal(state(), "Applied");
    assert.deepEqual(world.requests(), [`get services/antrea-mc-${name}`, `get serviceimports/${name}`]);
  });

  it("removes both when the import is gone, also when one is missing already", async () => {
    await world.reconcile(importName(), serviceSpec(name));

    world.requests();
    const removed = await world.reconcile(importName(), undefined);

    assert.equal(removed.kind, "removed");
    assert.deepEqual(world.requests(), [`delete services/antrea-mc-${name}`, `delete serviceimports/${name}`]);
    assert.deepEqual([service(), imported(), state()], [undefined, undefined, undefined]);
    await world.reconcile(importName(), serviceSpec(name));
    await world.client.delete(
      { type: { group: "", version: "v1", resource: "services" }, namespace: "shop", name: `antrea-mc-${name}` },
      {},
      { timeoutMs: 1_000 },
    );
    assert.equal((await world.reconcile(importName(), undefined)).kind, "removed");
    assert.equal(imported(), undefined);
  });

  it("repairs what somebody edited or deleted", async () => {
    await world.reconcile(importName(), serviceSpec(name));
    await userService({ [MARK]: "true" });
    await world.client.delete(
      {
        type: { group: "multicluster.x-k8s.io", version: "v1alpha1", resource: "serviceimports" },
        namespace: "shop",
        name,
      },
      {},
      { timeoutMs: 1_000 },
    );
    world.newWindow();

    await world.reconcile(importName(), serviceSpec(name));

    assert.deepEqual(ports(service()), [["p-80", 80]]);
    assert.deepEqual(ports(imported()), [["p-80", 80]]);
  });

  it("waits for a Namespace that is not there", async () => {
    const spec = serviceSpec(name, [80], { namespace: `late-${name}` });

    const outcome = await world.reconcile(importName(), spec);
    const shown = state();
    await world.put({ apiVersion: "v1", kind: "Namespace", metadata: { name: `late-${name}` } });
    await world.reconcile(importName(), spec);

    assert.deepEqual([outcome.kind, shown, state()], ["settled", "WaitingForNamespace", "Applied"]);
  });

  it("calls invalid what cannot be a Service, and keeps what an earlier version of the import has installed", async () => {
    const long = "x".repeat(54);
    for (const [spec, words] of [
      [serviceSpec(name, []), /no ports/],
      [serviceSpec(name, [80], { serviceImport: undefined }), /no serviceImport/],
      [serviceSpec(long), /64 characters: 63 are allowed/],
      [serviceSpec(""), /no spec.name/],
      [serviceSpec(name, [80], { namespace: "" }), /no spec.namespace/],
    ] as const) {
      await world.reconcile(importName(), spec);
      assert.equal(state(), "Invalid");
      assert.match(world.records.get(importName())?.error ?? "", words);
      assert.deepEqual(world.requests(), []);
      world.records.delete(importName());
    }
    await world.reconcile(importName(), serviceSpec(name));
    await world.reconcile(importName(), serviceSpec(name, []));
    assert.equal(state(), "Invalid");
    assert.notEqual(service(), undefined);
    await world.reconcile(importName(), undefined);
    assert.deepEqual([service(), imported()], [undefined, undefined]);
  });

  it("removes what it made for another name before it makes the new ones", async () => {
    await world.reconcile(importName(), serviceSpec(name));

    const outcome = await world.settle(importName(), serviceSpec(`${name}-new`));

    assert.equal(outcome.kind, "settled");
    assert.deepEqual([service(), imported()], [undefined, undefined]);
    assert.notEqual(world.read("", "services", `antrea-mc-${name}-new`, "shop"), undefined);
  });

  it("writes nothing when it may not, and goes on where it stopped when it may", async () => {
    let left = 1;
    world.mayWrite = () => left-- > 0;

    const halted = await world.reconcile(importName(), serviceSpec(name));

    assert.deepEqual([halted.kind, service() === undefined, imported()], ["halted", false, undefined]);
    world.mayWrite = () => true;
    world.newWindow();
    await world.reconcile(importName(), serviceSpec(name));
    assert.equal(state(), "Applied");
  });

  it("writes nothing with a version of the Service that is not the newest", async () => {
    await world.reconcile(importName(), serviceSpec(name));
    const labelled = service();
    await world.put({ ...labelled, metadata: { ...labelled?.metadata, labels: { by: "user" } } });

    await world.reconcile(importName(), serviceSpec(name, [81]));

    assert.equal(service()?.metadata.labels?.["by"], "user");
    assert.deepEqual(ports(service()), [["p-81", 81]]);
  });
});
