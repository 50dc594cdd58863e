import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiRecord } from "../../../../infra/local/api-client/api-client.ts";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";

const MERGE = "application/merge-patch+json";

interface ServiceSpec {
  readonly clusterIP?: string;
  readonly clusterIPs?: readonly string[];
  readonly ports: readonly Readonly<Record<string, unknown>>[];
  readonly sessionAffinityConfig?: object;
}

/** Services: their addresses, their ports, and what an update may change. */
export function serviceCases(area: () => Area): void {
  const place = (): string => `/api/v1/namespaces/${area().namespace}`;
  const services = (): string => `${place()}/services`;
  const specOf = (service: ApiRecord): ServiceSpec => service["spec"] as ServiceSpec;
  const ask = async (name: string, spec: object) =>
    await area().admin.request("POST", services(), { body: { metadata: { name }, spec } });
  const make = async (name: string, spec: object) =>
    await area().admin.must("POST", services(), { metadata: { name }, spec });

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
    const both = { type: "ExternalName", externalName: "db.example.com", clusterIP: headless.clusterIP };

    assert.deepEqual([headless.clusterIP, headless.clusterIPs], ["None", ["None"]]);
    assert.deepEqual([external.clusterIP, external.clusterIPs], [undefined, undefined]);
    const details = { causes: [{ field: "spec.clusterIPs", reason: "FieldValueForbidden" }] };
    assertStatus(await ask("both", both), { code: 422, reason: "Invalid", details });
  });

  test("a Service that becomes an external one gives its address back, and gets one when it returns", async () => {
    const { admin } = area();
    await make("turns", { ports: [{ port: 80 }] });
    const patch = async (spec: object) => specOf(await admin.must("PATCH", `${services()}/turns`, { spec }, MERGE));

    const external = await patch({ type: "ExternalName", externalName: "db.example.com" });
    const internal = await patch({ type: "ClusterIP", externalName: null });

    assert.deepEqual([external.clusterIP, external.clusterIPs], [undefined, undefined]);
    assert.match(internal.clusterIP ?? "", /^\d+\.\d+\.\d+\.\d+$/);
    assert.deepEqual(internal.clusterIPs, [internal.clusterIP]);
  });

  test("a NodePort Service gets ports on the nodes, once each, and loses them with its type", async () => {
    const { admin } = area();
    const made = specOf(await make("outside", { type: "NodePort", ports: [{ port: 80 }] }));
    const nodePort = Number(made.ports[0]?.["nodePort"]);
    const type = "NodePort";
    const invalid = (message: RegExp) => ({ code: 422, reason: "Invalid", message });

    const taken = await ask("outside-2", { type, ports: [{ port: 80, nodePort }] });
    const low = await ask("outside-3", { type, ports: [{ port: 80, nodePort: 80 }] });
    const closed = await ask("outside-4", { ports: [{ port: 80, nodePort: nodePort + 1 }] });
    const renumbered = await admin.must("PUT", `${services()}/outside`, {
      metadata: { name: "outside" },
      spec: { type, ports: [{ port: 80, targetPort: 8080 }] },
    });
    const inside = await admin.must("PATCH", `${services()}/outside`, { spec: { type: "ClusterIP" } }, MERGE);

    assert.ok(nodePort >= 30_000 && nodePort <= 32_767, `${nodePort}`);
    assertStatus(taken, invalid(/spec\.ports\[0\]\.nodePort: Invalid value: \d+: provided port is already allocated/));
    assertStatus(low, invalid(/provided port is not in the valid range/));
    assertStatus(closed, invalid(/spec\.ports\[0\]\.nodePort: Forbidden: may not be used when `type` is 'ClusterIP'/));
    assert.equal(specOf(renumbered).ports[0]?.["nodePort"], nodePort);
    assert.deepEqual(specOf(inside).ports, [{ port: 80, protocol: "TCP", targetPort: 8080 }]);
    assert.equal(specOf(inside).clusterIP, made.clusterIP);
  });

  test("families, policies and affinities: known values only", async () => {
    const refused = async (spec: object, field: string) => {
      const answer = await ask("policies", { ports: [{ port: 80 }], ...spec });
      assertStatus(answer, { code: 422, reason: "Invalid", details: { causes: [{ field: `spec.${field}` }] } });
    };

    await refused({ type: "Outside" }, "type");
    await refused({ sessionAffinity: "Always" }, "sessionAffinity");
    await refused(
      { sessionAffinity: "ClientIP", sessionAffinityConfig: { clientIP: { timeoutSeconds: 86_401 } } },
      "sessionAffinityConfig.clientIP.timeoutSeconds",
    );
    await refused({ internalTrafficPolicy: "Everywhere" }, "internalTrafficPolicy");
    await refused({ externalTrafficPolicy: "Local" }, "externalTrafficPolicy");
    await refused({ ipFamilyPolicy: "Some" }, "ipFamilyPolicy");
    await refused({ ipFamilies: ["IPv5"] }, "ipFamilies[0]");
    await refused({ selector: { "a b": "c" } }, "selector");
    const { sessionAffinityConfig } = specOf(
      await make("sticky", { sessionAffinity: "ClientIP", ports: [{ port: 80 }] }),
    );
    assert.deepEqual(sessionAffinityConfig, { clientIP: { timeoutSeconds: 10_800 } });
  });

  test("clusterIP and clusterIPs agree", async () => {
    const refused = async (spec: object, message: RegExp) =>
      assertStatus(await ask("disagrees", { ports: [{ port: 80 }], ...spec }), {
        code: 422,
        reason: "Invalid",
        message,
      });

    await refused(
      { clusterIPs: ["203.0.113.8"] },
      /spec\.clusterIPs: .*must be empty when `clusterIP` is not specified/,
    );
    await refused(
      { clusterIP: "203.0.113.8", clusterIPs: ["203.0.113.9"] },
      /spec\.clusterIPs: .*first value must match `clusterIP`/,
    );
  });

  test("a PUT of a Service that is not there makes it, a dry run makes none", async () => {
    const { admin } = area();
    const spec = { ports: [{ port: 80 }] };

    const dry = await admin.request("POST", `${services()}?dryRun=All`, { body: { metadata: { name: "dry" }, spec } });
    const put = await admin.request("PUT", `${services()}/put`, { body: { metadata: { name: "put" }, spec } });
    const bare = await admin.request("PUT", `${services()}/put`, { body: { metadata: { name: "put" } } });

    assert.equal(dry.code, 201, dry.text);
    assert.equal((await admin.request("GET", `${services()}/dry`)).code, 404);
    assert.equal(put.code, 201, put.text);
    assertStatus(bare, {
      code: 422,
      reason: "Invalid",
      message: /^Service "put" is invalid: spec\.ports: Required value$/,
    });
  });

  test("Services are selected by type and address", async () => {
    const { admin } = area();
    await make("found", { clusterIP: "None", ports: [{ port: 80 }] });
    await make("found-too", { type: "ExternalName", externalName: "db.example.com" });
    const names = async (selector: string) => {
      const { items = [] } = await admin.must("GET", `${services()}?fieldSelector=${encodeURIComponent(selector)}`);
      return items.map(({ metadata }) => metadata.name);
    };

    assert.ok((await names("spec.clusterIP=None")).includes("found"));
    const external = await names("spec.type=ExternalName");
    assert.deepEqual([external.includes("found-too"), external.includes("found")], [true, false]);
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
    await refused([{ port: 80, targetPort: 65_536 }], "spec.ports[0].targetPort", "FieldValueInvalid");
    await refused([{ port: 80, targetPort: "Not_a_name" }], "spec.ports[0].targetPort", "FieldValueInvalid");
    await refused([{ port: 80, appProtocol: "h t" }], "spec.ports[0].appProtocol", "FieldValueInvalid");
  });

  test("a name of over 63 characters: 422", async () => {
    const answer = await ask(`antrea-mc-${"x".repeat(54)}`, { ports: [{ port: 80 }] });

    assertStatus(answer, {
      code: 422,
      reason: "Invalid",
      message: /metadata\.name: .*must be no more than 63 characters/,
    });
  });
}
