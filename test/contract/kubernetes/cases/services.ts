import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRecord } from "../../../../infra/local/api-client/api-client.ts";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";

const MERGE = "application/merge-patch+json";
const SERVICE_NAME = "kubernetes.io/service-name";
const MANAGED_BY = "endpointslice.kubernetes.io/managed-by";

interface ServiceSpec {
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ports: readonly Readonly<Record<string, unknown>>[];
}

interface Slice extends ApiRecord {
  readonly addressType: string;
  readonly endpoints: readonly { readonly addresses: readonly string[]; readonly conditions: object }[] | null;
  readonly ports: readonly Readonly<Record<string, unknown>>[] | null;
}

/** Services, Endpoints and EndpointSlices, and what the cluster makes of them. */
export function serviceCases(area: () => Area): void {
  const place = (): string => `/api/v1/namespaces/${area().namespace}`;
  const services = (): string => `${place()}/services`;
  const endpoints = (): string => `${place()}/endpoints`;
  const slices = (): string => `/apis/discovery.k8s.io/v1/namespaces/${area().namespace}/endpointslices`;
  const specOf = (service: ApiRecord): ServiceSpec => service["spec"] as ServiceSpec;
  const ask = async (name: string, spec: object) =>
    await area().admin.request("POST", services(), { body: { metadata: { name }, spec } });
  const make = async (name: string, spec: object) =>
    await area().admin.must("POST", services(), { metadata: { name }, spec });
  const makeEndpoints = async (name: string, subsets: readonly object[], metadata: object = {}) =>
    await area().admin.must("POST", endpoints(), { metadata: { name, ...metadata }, subsets });
  const slicesOf = async (service: string): Promise<readonly Slice[]> => {
    const selector = encodeURIComponent(`${SERVICE_NAME}=${service}`);
    return ((await area().admin.must("GET", `${slices()}?labelSelector=${selector}`)).items ?? []) as Slice[];
  };
  /** The slices of a Service, as soon as they are as they should be. */
  const untilSlices = async (
    service: string,
    wanted: (found: readonly Slice[]) => boolean,
  ): Promise<readonly Slice[]> =>
    await eventually(systemClock, `the EndpointSlices of ${service}`, async () => {
      const found = await slicesOf(service);
      return wanted(found) ? found : undefined;
    });
  const addressesOf = (found: readonly Slice[]): readonly string[] =>
    found.flatMap(({ endpoints: list }) => (list ?? []).flatMap(({ addresses }) => addresses)).toSorted();

  test("a Service gets an address of the cluster's range, and defaults", async () => {
    const { admin } = area();
    const spec = specOf(await make("plain", { ports: [{ port: 80 }] }));

    assert.match(spec.clusterIP ?? "", /^\d+\.\d+\.\d+\.\d+$/);
    assert.deepEqual(spec, {
      clusterIP: spec.clusterIP,
      clusterIPs: [spec.clusterIP],
      internalTrafficPolicy: "Cluster",
      ipFamilies: ["IPv4"],
      ipFamilyPolicy: "SingleStack",
      ports: [{ port: 80, protocol: "TCP", targetPort: 80 }],
      sessionAffinity: "None",
      type: "ClusterIP",
    });
    assertHas(await admin.must("GET", `${services()}/plain`), { status: { loadBalancer: {} } });
  });

  test("the address stays when an update leaves it out, and cannot be changed", async () => {
    const { admin } = area();
    const made = specOf(await make("stays", { ports: [{ port: 80 }] }));

    const put = await admin.must("PUT", `${services()}/stays`, {
      metadata: { name: "stays" },
      spec: { ports: [{ port: 81 }] },
    });
    const other = made.clusterIP?.replace(/\d+$/, (last) => String(((Number(last) + 7) % 250) + 1));
    const moved = await admin.request("PATCH", `${services()}/stays`, {
      body: { spec: { clusterIP: other } },
      contentType: MERGE,
    });

    assert.equal(specOf(put).clusterIP, made.clusterIP);
    assert.deepEqual(specOf(put).ports, [{ port: 81, protocol: "TCP", targetPort: 81 }]);
    const details = { causes: [{ field: "spec.clusterIPs[0]" }] };
    assertStatus(moved, { code: 422, reason: "Invalid", message: /may not change once set/, details });
  });

  test("an address that is taken, or out of range, or none: 422", async () => {
    const { clusterIP } = specOf(await make("taken", { ports: [{ port: 80 }] }));
    const invalid = (message: RegExp) => ({ code: 422, reason: "Invalid", message });

    const taken = await ask("takes", { clusterIP, ports: [{ port: 80 }] });
    const outside = await ask("outside", { clusterIP: "203.0.113.9", ports: [{ port: 80 }] });
    const none = await ask("none", { clusterIP: "nonsense", ports: [{ port: 80 }] });

    assertStatus(taken, invalid(/failed to allocate IP .*: provided IP is already allocated/));
    assertStatus(outside, invalid(/the provided network does not match the current range/));
    assertStatus(none, invalid(/spec\.clusterIPs\[0\]: Invalid value: "nonsense": must be a valid IP address/));
  });

  test("an address is free again when its Service is gone", async () => {
    const { admin } = area();
    const { clusterIP } = specOf(await make("frees", { ports: [{ port: 80 }] }));
    await admin.must("DELETE", `${services()}/frees`);

    // The address is free a moment after the object is gone.
    const spec = await eventually(systemClock, "the address to be free", async () => {
      const { code, json } = await ask("follows", { clusterIP, ports: [{ port: 80 }] });
      return code === 201 ? specOf(json) : undefined;
    });

    assert.equal(spec.clusterIP, clusterIP);
  });

  test("headless and external Services have no address", async () => {
    const headless = specOf(await make("headless", { clusterIP: "None", ports: [{ port: 80 }] }));
    const external = specOf(await make("external", { type: "ExternalName", externalName: "db.example.com" }));

    assert.deepEqual([headless.clusterIP, headless.clusterIPs], ["None", ["None"]]);
    assert.deepEqual([external.clusterIP, external.clusterIPs], [undefined, undefined]);
  });

  test("ports: needed, named where there are several, unique, in range", async () => {
    const refused = async (ports: readonly object[], field: string, reason: string) => {
      const answer = await ask("ports", { ports });
      assertStatus(answer, { code: 422, reason: "Invalid", details: { causes: [{ field, reason }] } });
    };

    await refused([], "spec.ports", "FieldValueRequired");
    await refused([{ port: 80 }, { port: 81 }], "spec.ports[0].name", "FieldValueRequired");
    await refused(
      [
        { port: 80, name: "a" },
        { port: 81, name: "a" },
      ],
      "spec.ports[1].name",
      "FieldValueDuplicate",
    );
    await refused(
      [
        { port: 80, name: "a" },
        { port: 80, name: "b" },
      ],
      "spec.ports[1]",
      "FieldValueDuplicate",
    );
    await refused([{ port: 0 }], "spec.ports[0].port", "FieldValueInvalid");
    await refused([{ port: 80, protocol: "X" }], "spec.ports[0].protocol", "FieldValueNotSupported");
    await refused([{ port: 80, name: "A_b" }], "spec.ports[0].name", "FieldValueInvalid");
  });

  test("a name of over 63 characters: 422", async () => {
    const answer = await ask(`antrea-mc-${"x".repeat(54)}`, { ports: [{ port: 80 }] });

    assertStatus(answer, {
      code: 422,
      reason: "Invalid",
      message: /metadata\.name: .*must be no more than 63 characters/,
    });
  });

  test("Endpoints keep their subsets as they come, with a protocol, and warn that they are deprecated", async () => {
    const { admin } = area();
    const subsets = [
      { addresses: [{ ip: "10.0.0.2" }, { ip: "10.0.0.1" }], ports: [{ port: 80 }] },
      { notReadyAddresses: [{ ip: "10.0.0.3" }], ports: [{ name: "b", port: 81, protocol: "UDP" }] },
    ];

    const answer = await admin.request("POST", endpoints(), { body: { metadata: { name: "kept" }, subsets } });

    const kept = answer.json["subsets"] as { ports: object[]; addresses?: { ip: string }[] }[];
    assert.equal(answer.code, 201, answer.text);
    assert.equal(kept.length, 2);
    const first = kept.find(({ addresses }) => addresses !== undefined);
    assert.deepEqual(first?.ports, [{ port: 80, protocol: "TCP" }]);
    assert.deepEqual((first?.addresses ?? []).map(({ ip }) => ip).toSorted(), ["10.0.0.1", "10.0.0.2"]);
    // Since 1.33.
    const { minor } = (await admin.request("GET", "/version")).json as unknown as { minor: string };
    if (Number.parseInt(minor, 10) >= 33)
      assert.match(String(answer.headers["warning"]), /v1 Endpoints is deprecated in v1\.33\+/);
  });

  test("Endpoints that cannot be: 422; without subsets they can", async () => {
    const refused = async (subset: object, field: string) => {
      const answer = await area().admin.request("POST", endpoints(), {
        body: { metadata: { name: "bad" }, subsets: [subset] },
      });
      assertStatus(answer, { code: 422, reason: "Invalid", details: { causes: [{ field }] } });
    };
    const ports = [{ port: 80 }];

    await refused({ addresses: [{ ip: "nope" }], ports }, "subsets[0].addresses[0].ip");
    await refused({ addresses: [{ ip: "127.0.0.1" }], ports }, "subsets[0].addresses[0].ip");
    await refused({ ports }, "subsets[0]");
    await refused({ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 0 }] }, "subsets[0].ports[0].port");
    assert.equal((await makeEndpoints("empty", []))["subsets"], undefined);
  });

  test("hand-made Endpoints of a Service without selector are mirrored in an EndpointSlice", async () => {
    await make("mirrored", { ports: [{ port: 80 }] });
    const subset = { addresses: [{ ip: "10.0.0.2" }, { ip: "10.0.0.1" }], notReadyAddresses: [{ ip: "10.0.0.9" }] };
    const made = await makeEndpoints("mirrored", [{ ...subset, ports: [{ name: "http", port: 80 }] }], {
      labels: { a: "b" },
    });

    const [slice] = await untilSlices("mirrored", (found) => found.length === 1);

    assertHas(slice?.metadata.labels, {
      a: "b",
      [SERVICE_NAME]: "mirrored",
      [MANAGED_BY]: "endpointslicemirroring-controller.k8s.io",
    });
    assertHas(slice?.metadata["ownerReferences"], [
      {
        apiVersion: "v1",
        kind: "Endpoints",
        name: "mirrored",
        uid: made.metadata.uid,
        controller: true,
        blockOwnerDeletion: true,
      },
    ]);
    assert.match(slice?.metadata.name ?? "", /^mirrored-/);
    assert.equal(slice?.addressType, "IPv4");
    assert.deepEqual(slice.ports, [{ name: "http", port: 80, protocol: "TCP" }]);
    const byAddress = Object.fromEntries((slice.endpoints ?? []).map((e) => [e.addresses[0], e.conditions]));
    assert.deepEqual(byAddress, {
      "10.0.0.1": { ready: true },
      "10.0.0.2": { ready: true },
      "10.0.0.9": { ready: false },
    });
  });

  test("mirrors follow their Endpoints, one slice for each subset, and go with them", async () => {
    const { admin } = area();
    await make("follows-it", { ports: [{ port: 80 }] });
    await makeEndpoints("follows-it", [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }]);
    await untilSlices("follows-it", (found) => addressesOf(found).join() === "10.0.0.1");

    const subsets = [
      { addresses: [{ ip: "10.0.0.2" }], ports: [{ port: 80 }] },
      { addresses: [{ ip: "10.0.0.3" }], ports: [{ port: 81 }] },
    ];
    await admin.must("PATCH", `${endpoints()}/follows-it`, { subsets }, MERGE);
    const two = await untilSlices("follows-it", (found) => addressesOf(found).join() === "10.0.0.2,10.0.0.3");
    await admin.must("DELETE", `${endpoints()}/follows-it`);
    await untilSlices("follows-it", (found) => found.length === 0);

    assert.equal(two.length, 2);
  });

  test("Endpoints that came before their Service are mirrored when it comes", async () => {
    await makeEndpoints("early", [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }]);
    await make("early", { ports: [{ port: 80 }] });

    await untilSlices("early", (found) => addressesOf(found).join() === "10.0.0.1");
  });

  test("a label keeps Endpoints from being mirrored", async () => {
    const { admin } = area();
    await make("skipped", { ports: [{ port: 80 }] });
    await makeEndpoints("skipped", [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }]);
    await untilSlices("skipped", (found) => found.length === 1);

    const labels = { "endpointslice.kubernetes.io/skip-mirror": "true" };
    await admin.must("PATCH", `${endpoints()}/skipped`, { metadata: { labels } }, MERGE);

    await untilSlices("skipped", (found) => found.length === 0);
  });

  test("Endpoints go with their Service", async () => {
    const { admin } = area();
    await make("goes", { ports: [{ port: 80 }] });
    await makeEndpoints("goes", [{ addresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }]);
    await untilSlices("goes", (found) => found.length === 1);

    await admin.must("DELETE", `${services()}/goes`);

    await eventually(systemClock, "the Endpoints to go", async () => {
      const { code } = await admin.request("GET", `${endpoints()}/goes`);
      return code === 404 ? true : undefined;
    });
    await untilSlices("goes", (found) => found.length === 0);
  });

  test("a Service with a selector has Endpoints and a slice of the cluster's own", async () => {
    const { admin } = area();
    const { metadata } = await make("selects", { selector: { app: "none" }, ports: [{ port: 80 }] });

    const [slice] = await untilSlices("selects", (found) => found.length === 1);
    const made = await eventually(systemClock, "the Endpoints", async () => {
      const { code, json } = await admin.request("GET", `${endpoints()}/selects`);
      return code === 200 ? json : undefined;
    });

    assert.equal(slice?.metadata.labels?.[MANAGED_BY], "endpointslice-controller.k8s.io");
    assertHas(slice.metadata["ownerReferences"], [{ kind: "Service", name: "selects", uid: metadata.uid }]);
    assert.equal(made["subsets"], undefined);
  });

  test("an EndpointSlice: its type is needed, known and for ever, its addresses are of it", async () => {
    const { admin } = area();
    const ask = async (name: string, content: object) =>
      await admin.request("POST", slices(), { body: { metadata: { name }, endpoints: [], ...content } });
    const good = await ask("good", {
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"] }],
      ports: [{ port: 80 }],
    });

    assert.equal(good.code, 201, good.text);
    assertHas(good.json, { ports: [{ name: "", port: 80, protocol: "TCP" }], endpoints: [{ conditions: {} }] });
    assertStatus(await ask("bad-1", {}), { code: 422, reason: "Invalid", message: /addressType/ });
    assertStatus(await ask("bad-2", { addressType: "IPv9" }), { code: 422, reason: "Invalid", message: /addressType/ });
    const family = await ask("bad-3", { addressType: "IPv4", endpoints: [{ addresses: ["fd00::1"] }] });
    assertStatus(family, { code: 422, reason: "Invalid", message: /must be an IPv4 address/ });
    const changed = await admin.request("PATCH", `${slices()}/good`, {
      body: { addressType: "IPv6" },
      contentType: MERGE,
    });
    assertStatus(changed, { code: 422, reason: "Invalid", message: /addressType: .*field is immutable/ });
  });
}
