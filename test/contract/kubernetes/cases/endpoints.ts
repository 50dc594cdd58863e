import assert from "node:assert/strict";
import { test } from "node:test";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { EndpointsUnderTest, subsetOf } from "../endpoints.ts";

const MERGE = "application/merge-patch+json";
const DEPRECATED = /v1 Endpoints is deprecated in v1\.33\+/;

/** Endpoints and EndpointSlices as somebody writes them. */
export function endpointsCases(area: () => Area): void {
  const cluster = new EndpointsUnderTest(area);
  /** Since 1.33 each answer warns. */
  const warns = async (): Promise<boolean> => {
    const { minor } = (await area().admin.request("GET", "/version")).json as unknown as { minor: string };
    return Number.parseInt(minor, 10) >= 33;
  };

  test("Endpoints keep their subsets, with a protocol", async () => {
    const subsets = [
      { addresses: [{ ip: "10.0.0.2" }, { ip: "10.0.0.1" }], ports: [{ port: 80 }] },
      { notReadyAddresses: [{ ip: "10.0.0.3" }], ports: [{ name: "b", port: 81, protocol: "UDP" }] },
    ];

    const made = await cluster.make("kept", subsets);

    // Servers before 1.33 sort them.
    const kept = made["subsets"] as { ports: object[]; addresses?: { ip: string }[] }[];
    assert.equal(kept.length, 2);
    const first = kept.find(({ addresses }) => addresses !== undefined);
    assert.deepEqual(first?.ports, [{ port: 80, protocol: "TCP" }]);
    assert.deepEqual((first?.addresses ?? []).map(({ ip }) => ip).toSorted(), ["10.0.0.1", "10.0.0.2"]);
  });

  test("Endpoints of two members with the same port come back as they were written, or merged", async () => {
    const made = await cluster.make("joined", [subsetOf("10.0.0.2"), subsetOf("10.0.0.1")]);

    const kept = made["subsets"] as { addresses: { ip: string }[] }[];
    const [first] = kept;
    const whole = { addresses: [{ ip: "10.0.0.1" }, { ip: "10.0.0.2" }], ports: [{ port: 80, protocol: "TCP" }] };
    if (await warns()) {
      const ports = [{ port: 80, protocol: "TCP" }];
      assert.deepEqual(kept, [
        { addresses: [{ ip: "10.0.0.2" }], ports },
        { addresses: [{ ip: "10.0.0.1" }], ports },
      ]);
    } else assert.deepEqual([kept.length, first], [1, whole]);
    // Whatever the server makes of them stays when they are written again.
    const { metadata } = await area().admin.must("PUT", `${cluster.endpoints}/joined`, {
      metadata: { name: "joined" },
      subsets: kept,
    });
    assert.equal(metadata.resourceVersion, made.metadata.resourceVersion);
  });

  test("each answer about Endpoints warns that they are deprecated", async () => {
    const { admin } = area();
    const body = { metadata: { name: "warned" }, subsets: [{ ...subsetOf("10.0.0.1"), unknown: 1 }] };
    const path = `${cluster.endpoints}/warned`;
    const made = await admin.request("POST", cluster.endpoints, { body });
    const answers = [
      made,
      await admin.request("GET", path),
      await admin.request("GET", `${cluster.endpoints}?limit=1`),
      await admin.request("PATCH", path, { body: { subsets: null }, contentType: MERGE }),
      await admin.request("DELETE", path),
      await admin.request("GET", path),
    ];

    assert.deepEqual(
      answers.map(({ code }) => code),
      [201, 200, 200, 200, 200, 404],
    );
    if (await warns()) for (const { headers } of answers) assert.match(String(headers["warning"]), DEPRECATED);
    assert.match(String(made.headers["warning"]), /unknown field \\"subsets\[0\]\.unknown\\"/);
  });

  test("Endpoints that cannot be: 422; without subsets they can", async () => {
    const refused = async (subset: object, field: string) => {
      const answer = await area().admin.request("POST", cluster.endpoints, {
        body: { metadata: { name: "bad" }, subsets: [subset] },
      });
      assertStatus(answer, { code: 422, reason: "Invalid", details: { causes: [{ field }] } });
    };
    const ports = [{ port: 80 }];
    const address = (more: object): object => ({ addresses: [{ ip: "10.0.0.1", ...more }], ports });
    const onPorts = (...list: readonly object[]): object => ({ addresses: [{ ip: "10.0.0.1" }], ports: list });

    await refused(subsetOf("nope"), "subsets[0].addresses[0].ip");
    await refused(subsetOf("127.0.0.1"), "subsets[0].addresses[0].ip");
    await refused(subsetOf("169.254.0.1"), "subsets[0].addresses[0].ip");
    await refused(subsetOf("0.0.0.0"), "subsets[0].addresses[0].ip");
    await refused(address({ hostname: "A_b" }), "subsets[0].addresses[0].hostname");
    await refused(address({ nodeName: "A_b" }), "subsets[0].addresses[0].nodeName");
    await refused({ ports }, "subsets[0]");
    await refused(onPorts({ port: 0 }), "subsets[0].ports[0].port");
    await refused(onPorts({ port: 80 }, { port: 81 }), "subsets[0].ports[0].name");
    await refused(onPorts({ port: 80, protocol: "X" }), "subsets[0].ports[0].protocol");
    await refused(onPorts({ port: 80, appProtocol: "h t" }), "subsets[0].ports[0].appProtocol");
    assert.equal((await cluster.make("empty", []))["subsets"], undefined);
    assert.ok((await cluster.make("six", [subsetOf("fd00::1")]))["subsets"] !== undefined);
  });

  test("a PUT of Endpoints that are not there makes them", async () => {
    const body = { metadata: { name: "put" }, subsets: [subsetOf("10.0.0.1")] };

    assert.equal((await area().admin.request("PUT", `${cluster.endpoints}/put`, { body })).code, 201);
  });

  const makeSlice = async (name: string, content: object) =>
    await area().admin.request("POST", cluster.slices, { body: { metadata: { name }, endpoints: [], ...content } });

  test("an EndpointSlice gets its defaults; a list that is left out is null", async () => {
    const { admin } = area();
    const ports = [{ port: 80 }];
    const good = await makeSlice("good", { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }], ports });
    const bare = await admin.must("POST", cluster.slices, { metadata: { name: "bare" }, addressType: "IPv4" });

    assert.equal(good.code, 201, good.text);
    assertHas(good.json, { ports: [{ name: "", port: 80, protocol: "TCP" }], endpoints: [{ conditions: {} }] });
    assert.deepEqual([bare["endpoints"], bare["ports"]], [null, null]);
  });

  test("an EndpointSlice: its type is needed, known and for ever, its addresses are of it", async () => {
    const { admin } = area();
    const refused = async (content: object, message: RegExp) =>
      assertStatus(await makeSlice("bad", content), { code: 422, reason: "Invalid", message });
    const four = (endpoint: object, more: object = {}): object => ({
      addressType: "IPv4",
      endpoints: [{ addresses: ["10.0.0.1"], ...endpoint }],
      ...more,
    });
    assert.equal((await makeSlice("typed", four({}))).code, 201);

    await refused({}, /addressType/);
    await refused({ addressType: "IPv9" }, /addressType/);
    await refused(four({ addresses: ["fd00::1"] }), /must be an IPv4 address/);
    await refused(four({ addresses: ["nope"] }), /endpoints\[0\]\.addresses/);
    await refused(four({ addresses: ["127.0.0.1"] }), /may not be in the loopback range/);
    await refused(four({ addresses: [] }), /endpoints\[0\]\.addresses: Required value/);
    await refused(four({ hostname: "A_b" }), /endpoints\[0\]\.hostname/);
    const named = [{ name: "a", port: 80 }];
    await refused(four({}, { ports: [...named, { name: "a", port: 81 }] }), /ports\[1\]\.name: Duplicate value/);
    await refused(four({}, { ports: [{ name: "A_b", port: 80 }] }), /ports\[0\]\.name/);
    const addresses = Array.from({ length: 101 }, (_, i) => `10.0.1.${i}`);
    await refused(four({ addresses }), /Too many: 101: must have at most 100 items/);
    const changed = await admin.request("PATCH", `${cluster.slices}/typed`, {
      body: { addressType: "IPv6" },
      contentType: MERGE,
    });
    assertStatus(changed, { code: 422, reason: "Invalid", message: /addressType: .*field is immutable/ });
  });

  test("an EndpointSlice counts changes of its content and its labels, not of its annotations", async () => {
    const { admin } = area();
    await makeSlice("counted", { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }] });
    const patch = async (body: object) => {
      const { metadata } = await admin.must("PATCH", `${cluster.slices}/counted`, body, MERGE);
      return metadata.generation;
    };

    assert.equal(await patch({ metadata: { annotations: { a: "b" } } }), 1);
    assert.equal(await patch({ endpoints: [{ addresses: ["10.0.0.2"] }] }), 2);
    assert.equal(await patch({ metadata: { labels: { a: "b" } } }), 3);
  });
}
