import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertHas } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { EndpointsUnderTest, MANAGED_BY, SERVICE_NAME, type Slice, subsetOf } from "../endpoints.ts";

const MERGE = "application/merge-patch+json";
const MIRRORING = "endpointslicemirroring-controller.k8s.io";
const IMPORTED = "multicluster.antrea.io/imported-service";

/** What the cluster's controllers make of Services and of the Endpoints that somebody writes. */
export function endpointMirrorCases(area: () => Area): void {
  const cluster = new EndpointsUnderTest(area);
  const conditionsOf = (slice: Slice | undefined): object =>
    Object.fromEntries((slice?.endpoints ?? []).map((e) => [e.addresses[0], e.conditions]));

  test("hand-made Endpoints of a Service without selector are mirrored in an EndpointSlice", async () => {
    await cluster.service("mirrored");
    const subset = { addresses: [{ ip: "10.0.0.2" }, { ip: "10.0.0.1" }], notReadyAddresses: [{ ip: "10.0.0.9" }] };
    const applied = { "kubectl.kubernetes.io/last-applied-configuration": "{}" };
    const made = await cluster.make("mirrored", [{ ...subset, ports: [{ name: "http", port: 80 }] }], {
      labels: { a: "b" },
      annotations: { [IMPORTED]: "true", ...applied },
    });

    const [slice] = await cluster.untilSlices("mirrored", (found) => found.length === 1);

    assert.ok(slice !== undefined);
    const { name, labels, annotations, ownerReferences } = slice.metadata;
    assertHas(labels, { a: "b", [SERVICE_NAME]: "mirrored", [MANAGED_BY]: MIRRORING });
    assert.deepEqual(annotations, { [IMPORTED]: "true" });
    const owner = { apiVersion: "v1", kind: "Endpoints", name: "mirrored", uid: made.metadata.uid };
    assert.deepEqual(ownerReferences, [{ ...owner, controller: true, blockOwnerDeletion: true }]);
    assert.match(name, /^mirrored-[a-z0-9]{5}$/);
    assert.deepEqual([slice.addressType, slice.ports], ["IPv4", [{ name: "http", port: 80, protocol: "TCP" }]]);
    const [yes, no] = [{ ready: true }, { ready: false }];
    assert.deepEqual(conditionsOf(slice), { "10.0.0.1": yes, "10.0.0.2": yes, "10.0.0.9": no });
  });

  test("mirrors follow their Endpoints, one slice for each set of ports, and go with them", async () => {
    const { admin } = area();
    await cluster.service("follows-it");
    await cluster.make("follows-it", [subsetOf("10.0.0.1")]);
    const [first] = await cluster.untilAddresses("follows-it", "10.0.0.1");

    await cluster.change("follows-it", [subsetOf("10.0.0.1"), { ...subsetOf("10.0.0.3"), ports: [{ port: 81 }] }]);
    const two = await cluster.untilAddresses("follows-it", "10.0.0.1", "10.0.0.3");
    await cluster.change("follows-it", [{ notReadyAddresses: [{ ip: "10.0.0.1" }], ports: [{ port: 80 }] }]);
    const [unready] = await cluster.untilAddresses("follows-it", "10.0.0.1");
    await cluster.change("follows-it", []);
    await cluster.untilSlices("follows-it", (found) => found.length === 0);
    await cluster.change("follows-it", [subsetOf("10.0.0.4")]);
    await cluster.untilAddresses("follows-it", "10.0.0.4");
    await admin.must("DELETE", `${cluster.endpoints}/follows-it`);
    await cluster.untilSlices("follows-it", (found) => found.length === 0);

    assert.equal(two.length, 2);
    // Whoever watches it sees one slice change, not one go and another come.
    assert.equal(unready?.metadata.name, first?.metadata.name);
    assert.deepEqual(conditionsOf(unready), { "10.0.0.1": { ready: false } });
  });

  test("subsets with the same ports share a slice; an address stands in it once, families have slices of their own", async () => {
    await cluster.service("shared");
    await cluster.make("shared", [subsetOf("10.0.0.1", "fd00::1"), subsetOf("10.0.0.2", "10.0.0.1")]);

    const slices = await cluster.untilAddresses("shared", "10.0.0.1", "10.0.0.2", "fd00::1");

    assert.deepEqual(slices.map(({ addressType }) => addressType).toSorted(), ["IPv4", "IPv6"]);
  });

  test("at most 1,000 addresses of a subset are mirrored", async () => {
    await cluster.service("many");
    const addresses = Array.from({ length: 1_003 }, (_, i) => `10.1.${Math.floor(i / 200)}.${(i % 200) + 1}`);
    await cluster.make("many", [subsetOf(...addresses)]);

    const [slice] = await cluster.untilSlices("many", (found) => found.length > 0);

    assert.equal(slice?.endpoints?.length, 1_000);
  });

  test("a mirror that somebody deletes or edits is mended", async () => {
    const { admin } = area();
    await cluster.service("mended");
    await cluster.make("mended", [subsetOf("10.0.0.1")]);
    const [slice] = await cluster.untilAddresses("mended", "10.0.0.1");

    await admin.must("DELETE", `${cluster.slices}/${slice?.metadata.name}`);
    const [again] = await cluster.untilSlices(
      "mended",
      ([found]) => found !== undefined && found.metadata.uid !== slice?.metadata.uid,
    );
    await admin.must(
      "PATCH",
      `${cluster.slices}/${again?.metadata.name}`,
      { endpoints: [{ addresses: ["10.0.0.9"] }] },
      MERGE,
    );
    const [mended] = await cluster.untilAddresses("mended", "10.0.0.1");

    assert.equal(mended?.metadata.name, again?.metadata.name);
  });

  test("Endpoints that came before their Service are mirrored when it comes", async () => {
    await cluster.make("early", [subsetOf("10.0.0.1")]);
    await cluster.service("early");

    await cluster.untilAddresses("early", "10.0.0.1");
  });

  test("Endpoints of a headless Service without selector are mirrored, too", async () => {
    await cluster.service("headless", { clusterIP: "None" });
    await cluster.make("headless", [subsetOf("10.0.0.1")]);

    await cluster.untilAddresses("headless", "10.0.0.1");
  });

  test("a label keeps Endpoints from being mirrored", async () => {
    const { admin } = area();
    await cluster.service("skipped");
    await cluster.make("skipped", [subsetOf("10.0.0.1")]);
    await cluster.untilSlices("skipped", (found) => found.length === 1);

    const labels = { "endpointslice.kubernetes.io/skip-mirror": "true" };
    await admin.must("PATCH", `${cluster.endpoints}/skipped`, { metadata: { labels } }, MERGE);

    await cluster.untilSlices("skipped", (found) => found.length === 0);
  });

  test("Endpoints and their mirrors go with their Service", async () => {
    const { admin } = area();
    await cluster.service("goes");
    await cluster.make("goes", [subsetOf("10.0.0.1")]);
    await cluster.untilSlices("goes", (found) => found.length === 1);

    await admin.must("DELETE", `${cluster.services}/goes`);

    await eventually(systemClock, "the Endpoints to go", async () => {
      const { code } = await admin.request("GET", `${cluster.endpoints}/goes`);
      return code === 404 ? true : undefined;
    });
    await cluster.untilSlices("goes", (found) => found.length === 0);
  });

  test("a slice that somebody made for a Service is his own, and owned by the Service it goes with it", async () => {
    const { admin } = area();
    const service = await cluster.service("handmade");
    const owner = { apiVersion: "v1", kind: "Service", name: "handmade", uid: service.metadata.uid };
    const make = async (name: string, more: object): Promise<void> => {
      const labels = { [SERVICE_NAME]: "handmade", [MANAGED_BY]: "hawser.test" };
      const slice = { addressType: "IPv4", endpoints: [{ addresses: ["10.0.0.1"] }] };
      await admin.must("POST", cluster.slices, { metadata: { name, labels, ...more }, ...slice });
    };
    await make("handmade-free", {});
    await make("handmade-owned", { ownerReferences: [owner] });
    // The mirrors of Endpoints beside it show that the controllers have looked.
    await cluster.make("handmade", [subsetOf("10.0.0.2")]);
    const slices = await cluster.untilSlices("handmade", (found) => found.length === 3);

    await admin.must("DELETE", `${cluster.services}/handmade`);
    const [left] = await cluster.untilSlices("handmade", (found) => found.length === 1);

    assert.equal(slices.filter(({ metadata }) => metadata.labels?.[MANAGED_BY] === "hawser.test").length, 2);
    assert.equal(left?.metadata.name, "handmade-free");
  });

  test("a Service with a selector has Endpoints and a slice of the cluster's own, with its labels", async () => {
    const { metadata } = await cluster.service("selects", { selector: { app: "none" } }, { a: "b" });

    const [slice] = await cluster.untilSlices("selects", (found) => found.length === 1);
    const made = await cluster.untilEndpoints("selects");

    assertHas(slice?.metadata.labels, { a: "b", [MANAGED_BY]: "endpointslice-controller.k8s.io" });
    assertHas(slice?.metadata["ownerReferences"], [{ kind: "Service", name: "selects", uid: metadata.uid }]);
    assertHas(made.metadata.labels, { a: "b" });
    assert.equal(made["subsets"], undefined);
  });

  test("the Endpoints of a Service with a selector are made again when somebody deletes them", async () => {
    await cluster.service("remade", { selector: { app: "none" } });
    const { metadata } = await cluster.untilEndpoints("remade");

    await area().admin.must("DELETE", `${cluster.endpoints}/remade`);

    await cluster.untilEndpoints("remade", (found) => found.metadata.uid !== metadata.uid);
  });

  test("a selector takes over the Endpoints that somebody wrote", async () => {
    const { admin } = area();
    await cluster.service("taken-over");
    await cluster.make("taken-over", [subsetOf("10.0.0.1")]);
    await cluster.untilAddresses("taken-over", "10.0.0.1");

    await admin.must("PATCH", `${cluster.services}/taken-over`, { spec: { selector: { app: "none" } } }, MERGE);

    await cluster.untilEndpoints("taken-over", (found) => found["subsets"] === undefined);
    await cluster.untilSlices(
      "taken-over",
      ([slice, ...more]) =>
        more.length === 0 && slice?.metadata.labels?.[MANAGED_BY] !== MIRRORING && !slice?.endpoints?.length,
    );
  });
}
