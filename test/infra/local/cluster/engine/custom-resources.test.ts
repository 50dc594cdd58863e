import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiObject, ApiReply } from "../../../../../infra/local/cluster/types.ts";
import { Bench, widget, widgetDefinition } from "./support.ts";

const WIDGETS = "example.com/v1/widgets";
const CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions";
const ns = { namespace: "default" };
const a = { ...ns, name: "a" };

type Options = Parameters<typeof widgetDefinition>[1];

async function withSchema(spec: Record<string, unknown>, options?: Options): Promise<Bench> {
  const bench = new Bench();
  await bench.must("create", CRDS, { body: widgetDefinition(spec, options) });
  return bench;
}

/** What a create of this spec is told, one line a complaint, or the spec as stored. */
async function outcome(bench: Bench, spec: unknown): Promise<unknown> {
  const reply = await bench.ask("create", WIDGETS, { ...ns, query: { dryRun: "All" }, body: widget("a", spec) });
  return reply.code === 201 ? (reply.body as ApiObject)["spec"] : causes(reply);
}

function causes(reply: ApiReply): readonly string[] {
  const { details } = reply.body as { details?: { causes?: { reason: string; field: string; message: string }[] } };
  return (details?.causes ?? []).map((c) => `${c.reason} ${c.field}: ${c.message}`);
}

test("a definition serves its resource at once and is established", async () => {
  const bench = new Bench();
  assert.equal((await bench.ask("list", WIDGETS, ns)).code, 404);

  const definition = await bench.must("create", CRDS, { body: widgetDefinition({}) });

  const status = definition["status"] as { conditions: { type: string; status: string }[]; storedVersions: string[] };
  assert.deepEqual(
    status.conditions.map((c) => `${c.type}=${c.status}`),
    ["NamesAccepted=True", "Established=True"],
  );
  assert.deepEqual(status.storedVersions, ["v1"]);
  assert.equal((await bench.ask("list", WIDGETS, ns)).code, 200);
  assert.ok(bench.engine.serves("example.com", "v1", "widgets", "status"));
  assert.equal(bench.engine.serves("example.com", "v2", "widgets"), false);
});

test("a definition that is wrong is refused", async () => {
  const bench = new Bench();
  const body = widgetDefinition({ x: {} });
  Object.assign(body["metadata"] as object, { name: "gadgets.example.com" });

  const reply = await bench.ask("create", CRDS, { body });

  assert.equal(reply.code, 422);
  assert.deepEqual(causes(reply), [
    'FieldValueInvalid metadata.name: Invalid value: "gadgets.example.com": must be spec.names.plural+"."+spec.group',
    "FieldValueRequired spec.validation.openAPIV3Schema.properties[spec].properties[x].type: Required value: must not be empty for specified object fields",
  ]);
});

test("required fields, types and enums", async () => {
  const bench = await withSchema(
    {
      leaders: {
        type: "array",
        items: { type: "object", required: ["clusterID"], properties: { clusterID: { type: "string" } } },
      },
      mode: { type: "string", enum: ["on", "off"] },
      map: { type: "object", additionalProperties: { type: "integer" } },
      ratio: { type: "number" },
    },
    { specRules: { required: ["leaders"] } },
  );

  assert.deepEqual(await outcome(bench, {}), ["FieldValueRequired spec.leaders: Required value"]);
  assert.deepEqual(await outcome(bench, { leaders: [{}] }), [
    "FieldValueRequired spec.leaders[0].clusterID: Required value",
  ]);
  assert.deepEqual(await outcome(bench, { leaders: {}, ratio: 1 }), [
    'FieldValueTypeInvalid spec.leaders: Invalid value: "object": spec.leaders in body must be of type array: "object"',
  ]);
  assert.deepEqual(await outcome(bench, { leaders: [], mode: "no" }), [
    'FieldValueNotSupported spec.mode: Unsupported value: "no": supported values: "on", "off"',
  ]);
  assert.deepEqual(await outcome(bench, { leaders: [], map: { a: 1, b: 1.5 } }), [
    'FieldValueTypeInvalid spec.map.b: Invalid value: "number": spec.map.b in body must be of type integer: "number"',
  ]);
});

test("the message of an Invalid lists one complaint bare and several in brackets", async () => {
  const bench = await withSchema({ n: { type: "integer", minimum: 1 }, s: { type: "string", maxLength: 2 } });

  const one = await bench.ask("create", WIDGETS, { ...ns, body: widget("a", { n: 0 }) });
  const two = await bench.ask("create", WIDGETS, { ...ns, body: widget("a", { n: 0, s: "abc" }) });

  assert.equal(
    one.body["message"],
    'Widget.example.com "a" is invalid: spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1',
  );
  assert.equal(
    two.body["message"],
    'Widget.example.com "a" is invalid: [spec.n: Invalid value: 0: spec.n in body should be greater than or equal to 1, spec.s: Too long: may not be more than 2 bytes]',
  );
});

test("limits of texts, numbers and lists", async () => {
  const bench = await withSchema({
    text: { type: "string", minLength: 2, pattern: "^[a-z]+$" },
    number: { type: "integer", maximum: 5, exclusiveMaximum: true, multipleOf: 2 },
    list: { type: "array", minItems: 1, maxItems: 2, items: { type: "string" } },
    map: { type: "object", maxProperties: 1, additionalProperties: { type: "string" } },
  });

  assert.deepEqual(await outcome(bench, { text: "A" }), [
    'FieldValueInvalid spec.text: Invalid value: "A": spec.text in body should be at least 2 chars long',
  ]);
  assert.deepEqual(await outcome(bench, { text: "AB" }), [
    "FieldValueInvalid spec.text: Invalid value: \"AB\": spec.text in body should match '^[a-z]+$'",
  ]);
  assert.deepEqual(await outcome(bench, { number: 5 }), [
    "FieldValueInvalid spec.number: Invalid value: 5: spec.number in body should be a multiple of 2",
    "FieldValueInvalid spec.number: Invalid value: 5: spec.number in body should be less than 5",
  ]);
  assert.deepEqual(await outcome(bench, { list: ["a", "b", "c"] }), [
    "FieldValueTooMany spec.list: Too many: 3: must have at most 2 items",
  ]);
  assert.deepEqual(await outcome(bench, { map: { a: "1", b: "2" } }), [
    "FieldValueTooMany spec.map: Too many: 2: must have at most 1 item",
  ]);
});

test("formats: date-time, byte and addresses are checked, int32 is not", async () => {
  const bench = await withSchema({
    at: { type: "string", format: "date-time" },
    raw: { type: "string", format: "byte" },
    cidr: { type: "string", format: "cidr" },
    n: { type: "integer", format: "int32" },
  });

  assert.deepEqual(await outcome(bench, { at: "today" }), [
    'FieldValueTypeInvalid spec.at: Invalid value: "today": spec.at in body must be of type date-time: "today"',
  ]);
  assert.deepEqual(await outcome(bench, { raw: "%" }), [
    'FieldValueTypeInvalid spec.raw: Invalid value: "%": spec.raw in body must be of type byte: "%"',
  ]);
  assert.deepEqual(await outcome(bench, { cidr: "10.0.0.0/33" }), [
    'FieldValueTypeInvalid spec.cidr: Invalid value: "10.0.0.0/33": spec.cidr in body must be of type cidr: "10.0.0.0/33"',
  ]);
  const good = { at: "2026-01-01T00:00:00Z", raw: "aGk=", cidr: "10.0.0.0/8", n: 2 ** 40 };
  assert.deepEqual(await outcome(bench, good), good);
});

test("oneOf, anyOf, allOf and not", async () => {
  const bench = await withSchema({
    one: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      oneOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    any: {
      type: "object",
      properties: { a: { type: "string" }, b: { type: "string" } },
      anyOf: [{ required: ["a"] }, { required: ["b"] }],
    },
    none: { type: "string", not: { enum: ["bad"] } },
    ip: { type: "string", anyOf: [{ format: "ipv4" }, { format: "ipv6" }] },
  });

  assert.match(
    String(await outcome(bench, { one: { a: "1", b: "2" } })),
    /"spec.one" must validate one and only one schema \(oneOf\). Found 2 valid alternatives/,
  );
  assert.match(
    String(await outcome(bench, { one: {} })),
    /"spec.one" must validate one and only one schema \(oneOf\). Found none valid/,
  );
  assert.match(String(await outcome(bench, { any: {} })), /"spec.any" must validate at least one schema \(anyOf\)/);
  assert.match(String(await outcome(bench, { none: "bad" })), /"spec.none" must not validate the schema \(not\)/);
  assert.match(String(await outcome(bench, { ip: "x" })), /"spec.ip" must validate at least one schema \(anyOf\)/);
  assert.deepEqual(await outcome(bench, { one: { a: "1" }, none: "good", ip: "::1" }), {
    one: { a: "1" },
    none: "good",
    ip: "::1",
  });
});

test("unknown fields are pruned, also in lists and maps, unless they are to be kept", async () => {
  const bench = await withSchema({
    list: { type: "array", items: { type: "object", properties: { a: { type: "string" } } } },
    map: { type: "object", additionalProperties: { type: "object", properties: { a: { type: "string" } } } },
    free: {
      type: "object",
      "x-kubernetes-preserve-unknown-fields": true,
      properties: { known: { type: "object", properties: { a: { type: "string" } } } },
    },
    whole: {
      type: "object",
      "x-kubernetes-embedded-resource": true,
      properties: { spec: { type: "object", properties: {} } },
    },
  });

  const stored = await outcome(bench, {
    list: [{ a: "1", b: "2" }],
    map: { k: { a: "1", b: "2" } },
    free: { any: { thing: 1 }, known: { a: "1", b: "2" } },
    whole: { apiVersion: "v1", kind: "X", metadata: { name: "n" }, spec: { b: 1 }, more: 1 },
  });

  assert.deepEqual(stored, {
    list: [{ a: "1" }],
    map: { k: { a: "1" } },
    free: { any: { thing: 1 }, known: { a: "1" } },
    whole: { apiVersion: "v1", kind: "X", metadata: { name: "n" }, spec: {} },
  });
  assert.deepEqual(await outcome(bench, { whole: {} }), [
    "FieldValueRequired spec.whole.apiVersion: Required value: must not be empty",
    "FieldValueRequired spec.whole.kind: Required value: must not be empty",
  ]);
});

test("defaults are filled in where fields are missing or null, deep down as well", async () => {
  const bench = await withSchema({
    n: { type: "integer", default: 3 },
    nullable: { type: "string", nullable: true, default: "x" },
    plain: { type: "string" },
    deep: { type: "object", default: {}, properties: { on: { type: "boolean", default: true } } },
    list: { type: "array", items: { type: "object", properties: { p: { type: "string", default: "TCP" } } } },
  });

  assert.deepEqual(await outcome(bench, { list: [{}], plain: null, n: null, nullable: null }), {
    n: 3,
    nullable: null,
    deep: { on: true },
    list: [{ p: "TCP" }],
  });
});

test("int-or-string takes both and nothing else", async () => {
  const bench = await withSchema({ port: { "x-kubernetes-int-or-string": true } });

  assert.deepEqual(await outcome(bench, { port: 80 }), { port: 80 });
  assert.deepEqual(await outcome(bench, { port: "http" }), { port: "http" });
  assert.deepEqual(await outcome(bench, { port: 1.5 }), [
    'FieldValueTypeInvalid spec.port: Invalid value: "number": spec.port in body must be of type integer,string: "number"',
  ]);
});

test("sets hold no value twice and list maps no key", async () => {
  const bench = await withSchema({
    set: { type: "array", "x-kubernetes-list-type": "set", items: { type: "string" } },
    map: {
      type: "array",
      "x-kubernetes-list-type": "map",
      "x-kubernetes-list-map-keys": ["name"],
      items: { type: "object", properties: { name: { type: "string" }, v: { type: "integer" } } },
    },
  });

  assert.deepEqual(await outcome(bench, { set: ["a", "b", "a", "a"] }), [
    'FieldValueDuplicate spec.set[2]: Duplicate value: "a"',
  ]);
  assert.deepEqual(
    await outcome(bench, {
      map: [
        { name: "a", v: 1 },
        { name: "a", v: 2 },
      ],
    }),
    ['FieldValueDuplicate spec.map[1]: Duplicate value: {"name":"a"}'],
  );
});

test("what was stored under older rules may stay as long as it is not changed", async () => {
  const bench = await withSchema({ n: { type: "integer" }, m: { type: "integer" } });
  await bench.must("create", WIDGETS, { ...ns, body: widget("a", { n: 1, m: 1 }) });
  const definition = await bench.must("get", CRDS, { name: "widgets.example.com" });
  const stricter = widgetDefinition({ n: { type: "integer", minimum: 5 }, m: { type: "integer" } });
  await bench.must("update", CRDS, {
    name: "widgets.example.com",
    body: { ...stricter, metadata: definition.metadata },
  });

  const beside = await bench.patch(WIDGETS, { ...a, body: { spec: { m: 2 } } });
  const itself = await bench.patch(WIDGETS, { ...a, body: { spec: { n: 2 } } });

  assert.equal(beside.code, 200);
  assert.equal(itself.code, 422);
});

test("a status that breaks the schema is refused at the status endpoint", async () => {
  const definition = widgetDefinition({});
  const bench = new Bench();
  const spec = definition["spec"] as {
    versions: { schema: { openAPIV3Schema: { properties: Record<string, unknown> } } }[];
  };
  const root = spec.versions[0]?.schema.openAPIV3Schema.properties;
  Object.assign(root ?? {}, { status: { type: "object", properties: { phase: { type: "string", enum: ["A"] } } } });
  await bench.must("create", CRDS, { body: definition });
  await bench.must("create", WIDGETS, { ...ns, body: widget("a", {}) });

  const reply = await bench.patch(WIDGETS, { ...a, subresource: "status", body: { status: { phase: "B" } } });

  assert.deepEqual(causes(reply), [
    'FieldValueNotSupported status.phase: Unsupported value: "B": supported values: "A"',
  ]);
});

test("several versions show the same object, each with its own apiVersion", async () => {
  const bench = new Bench();
  const definition = widgetDefinition({ n: { type: "integer" } });
  const spec = definition["spec"] as { versions: Record<string, unknown>[] };
  const first = spec.versions[0] ?? {};
  spec.versions.push({ ...first, name: "v2", storage: false }, { ...first, name: "v3", storage: false, served: false });
  await bench.must("create", CRDS, { body: definition });
  await bench.must("create", "example.com/v2/widgets", {
    ...ns,
    body: widget("a", { n: 1 }, { apiVersion: "example.com/v2" }),
  });

  const one = await bench.must("get", WIDGETS, a);
  const two = await bench.must("get", "example.com/v2/widgets", a);
  const watcher = await bench.watch("example.com/v2/widgets", ns);

  assert.equal(one.apiVersion, "example.com/v1");
  assert.equal(two.apiVersion, "example.com/v2");
  assert.equal(one.metadata.resourceVersion, two.metadata.resourceVersion);
  assert.equal((await bench.ask("get", "example.com/v3/widgets", a)).code, 404);
  await watcher.seen();
  assert.equal((watcher.events[0]?.object as ApiObject | undefined)?.apiVersion, "example.com/v2");
  watcher.stop();
});

test("a cluster-scoped resource has no Namespace", async () => {
  const bench = await withSchema({}, { scope: "Cluster" });

  const made = await bench.must("create", WIDGETS, { body: widget("a", {}) });

  assert.equal(made.metadata.namespace, undefined);
  assert.equal((await bench.ask("get", WIDGETS, { name: "a" })).code, 200);
});

test("a deleted definition takes its objects along, and waits for their finalizers", async () => {
  const bench = await withSchema({});
  await bench.must("create", WIDGETS, { ...ns, body: widget("a", {}) });
  const held = widget("b", {});
  Object.assign(held["metadata"] as object, { finalizers: ["example.com/hold"] });
  await bench.must("create", WIDGETS, { ...ns, body: held });
  const watcher = await bench.watch(WIDGETS, ns);

  await bench.must("delete", CRDS, { name: "widgets.example.com" });
  const refused = await bench.ask("create", WIDGETS, { ...ns, body: widget("c", {}) });
  await bench.clock.advance(1000);
  assert.equal((await bench.ask("get", WIDGETS, a)).code, 404);
  assert.equal((await bench.ask("get", CRDS, { name: "widgets.example.com" })).code, 200);
  await bench.patch(WIDGETS, { ...ns, name: "b", body: { metadata: { finalizers: [] } } });
  await bench.clock.advance(1000);

  assert.equal(refused.code, 405);
  assert.equal(refused.body["message"], "create not allowed while custom resource definition is terminating");
  assert.equal((await bench.ask("get", CRDS, { name: "widgets.example.com" })).code, 404);
  assert.equal((await bench.ask("list", WIDGETS, ns)).code, 404);
  await watcher.seen();
  assert.equal(watcher.ended, true);
});

test("discovery shows built-in groups, and custom ones as long as they are defined", async () => {
  const bench = await withSchema({});
  const group = bench.engine.discovery("/apis/example.com") as { preferredVersion: { version: string } };
  const resources = bench.engine.discovery("/apis/example.com/v1") as {
    resources: { name: string; shortNames?: string[] }[];
  };
  const core = bench.engine.discovery("/api/v1") as { resources: { name: string; verbs: string[] }[] };

  assert.deepEqual(bench.engine.discovery("/api"), {
    kind: "APIVersions",
    versions: ["v1"],
    serverAddressByClientCIDRs: [],
  });
  assert.equal(group.preferredVersion.version, "v1");
  assert.deepEqual(
    resources.resources.map((r) => r.name),
    ["widgets", "widgets/status"],
  );
  assert.deepEqual(resources.resources[0]?.shortNames, ["wd"]);
  assert.ok(core.resources.some((r) => r.name === "secrets" && r.verbs.includes("watch")));
  assert.equal(bench.engine.discovery("/apis/none.example.com"), undefined);
  assert.equal(bench.engine.discovery("/apis/example.com/v9"), undefined);

  await bench.must("delete", CRDS, { name: "widgets.example.com" });
  await bench.clock.advance(1000);

  assert.equal(bench.engine.discovery("/apis/example.com"), undefined);
});
