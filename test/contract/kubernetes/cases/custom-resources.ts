import assert from "node:assert/strict";
import { existsSync, globSync } from "node:fs";
import { basename, join } from "node:path";
import { test } from "node:test";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { DEFINITIONS, type Definition, definitionOf, definitionsOf, serve } from "../custom-definition.ts";

const MERGE = "application/merge-patch+json";
const OURS = new URL("../../../../infra/kubernetes/crds/", import.meta.url).pathname;
/** A folder with the definitions that projects publish, Antrea's and OCM's, where there is one. */
const UPSTREAM = process.env["UPSTREAM_CRDS"];

/** Custom resources: their definitions, and what is checked, filled in and dropped. */
export function customResourceCases(area: () => Area): void {
  const string = { type: "string" };
  const widget = {
    spec: {
      type: "object",
      required: ["size"],
      properties: {
        size: { type: "integer", format: "int32", minimum: 1, maximum: 10 },
        color: { type: "string", enum: ["red", "blue"], default: "red" },
        code: { type: "string", pattern: "^[a-z]+$", minLength: 2, maxLength: 4 },
        when: { type: "string", format: "date-time" },
        port: { "x-kubernetes-int-or-string": true },
        tags: { type: "array", maxItems: 2, "x-kubernetes-list-type": "set", items: string },
        parts: {
          type: "array",
          "x-kubernetes-list-type": "map",
          "x-kubernetes-list-map-keys": ["name"],
          items: { type: "object", required: ["name"], properties: { name: string, value: string } },
        },
        free: { type: "object", "x-kubernetes-preserve-unknown-fields": true },
        labels: { type: "object", additionalProperties: string },
        maybe: { type: "string", nullable: true },
        nested: { type: "object", default: {}, properties: { deep: { type: "boolean", default: true } } },
      },
    },
  };
  const serveWidgets = async (t: Parameters<typeof serve>[0]) =>
    await serve(t, area(), definitionOf(area(), { kind: "Widget", properties: widget, required: ["spec"] }));

  test("values that the schema does not allow: 422, each with its field and reason", async (t) => {
    const { path, object } = await serveWidgets(t);
    const refused = async (spec: object | undefined, field: string, reason: string) => {
      const body = object("w", spec === undefined ? {} : { spec });
      const answer = await area().admin.request("POST", path(), { body });
      assertStatus(answer, { code: 422, reason: "Invalid", details: { causes: [{ field, reason }] } });
    };

    await refused(undefined, "spec", "FieldValueRequired");
    await refused({}, "spec.size", "FieldValueRequired");
    await refused({ size: "1" }, "spec.size", "FieldValueTypeInvalid");
    await refused({ size: 0 }, "spec.size", "FieldValueInvalid");
    await refused({ size: 11 }, "spec.size", "FieldValueInvalid");
    await refused({ size: 1, color: "green" }, "spec.color", "FieldValueNotSupported");
    await refused({ size: 1, code: "AB" }, "spec.code", "FieldValueInvalid");
    await refused({ size: 1, code: "a" }, "spec.code", "FieldValueInvalid");
    await refused({ size: 1, code: "abcde" }, "spec.code", "FieldValueTooLong");
    await refused({ size: 1, when: "today" }, "spec.when", "FieldValueTypeInvalid");
    await refused({ size: 1, port: true }, "spec.port", "FieldValueTypeInvalid");
    await refused({ size: 1, tags: ["a", "b", "c"] }, "spec.tags", "FieldValueTooMany");
    await refused({ size: 1, tags: ["a", "a"] }, "spec.tags[1]", "FieldValueDuplicate");
    await refused({ size: 1, parts: [{ value: "v" }] }, "spec.parts[0].name", "FieldValueRequired");
    await refused({ size: 1, parts: [{ name: "a" }, { name: "a" }] }, "spec.parts[1]", "FieldValueDuplicate");
    await refused({ size: 1, labels: { a: 1 } }, "spec.labels.a", "FieldValueTypeInvalid");
    await refused({ size: 1, nested: null, color: 5 }, "spec.color", "FieldValueTypeInvalid");
  });

  test("several complaints come in one answer", async (t) => {
    const { path, object } = await serveWidgets(t);

    const answer = await area().admin.request("POST", path(), {
      body: object("w", { spec: { color: "green", code: "A" } }),
    });

    const { causes } = answer.json["details"] as { causes: { field: string }[] };
    assert.deepEqual([...new Set(causes.map(({ field }) => field))].toSorted(), [
      "spec.code",
      "spec.color",
      "spec.size",
    ]);
  });

  test("defaults are filled in, also in what a default has made", async (t) => {
    const { path, object } = await serveWidgets(t);

    const made = await area().admin.must("POST", path(), object("w", { spec: { size: 1 } }));

    assert.deepEqual(made["spec"], { size: 1, color: "red", nested: { deep: true } });
  });

  test("unknown fields are dropped with a warning, but kept where the schema says so", async (t) => {
    const { path, object } = await serveWidgets(t);
    const body = object("w", { spec: { size: 1, unknown: 1, free: { any: { thing: 1 } } }, extra: true });

    const answer = await area().admin.request("POST", path(), { body });
    const strict = await area().admin.request("POST", `${path()}?fieldValidation=Strict`, {
      body: { ...body, metadata: { name: "s" } },
    });

    assert.equal(answer.code, 201, answer.text);
    assert.deepEqual((answer.json["spec"] as { free: object }).free, { any: { thing: 1 } });
    assert.deepEqual(Object.keys(answer.json["spec"] as object).toSorted(), ["color", "free", "nested", "size"]);
    assert.equal("extra" in answer.json, false);
    assert.match(String(answer.headers["warning"]), /unknown field \\"extra\\".*unknown field \\"spec\.unknown\\"/);
    assertStatus(strict, {
      code: 400,
      reason: "BadRequest",
      message: /strict decoding error: unknown field "extra", unknown field "spec\.unknown"/,
    });
  });

  test("null: dropped where it is not allowed, kept where it is", async (t) => {
    const { path, object } = await serveWidgets(t);

    const made = await area().admin.must("POST", path(), object("w", { spec: { size: 1, maybe: null, color: null } }));

    assertHas(made["spec"], { maybe: null, color: "red" });
  });

  test("what was invalid before the schema changed may stay as long as it is not touched", async (t) => {
    const { admin } = area();
    const loose = { spec: { type: "object", properties: { a: string, b: string } } };
    const definition = definitionOf(area(), { kind: "Ratcheted", properties: loose });
    const { path, object } = await serve(t, area(), definition);
    await admin.must("POST", path(), object("r", { spec: { a: "long value", b: "x" } }));
    const strict = { spec: { type: "object", properties: { a: { type: "string", maxLength: 3 }, b: string } } };
    const next = definitionOf(area(), { kind: "Ratcheted", properties: strict });
    await admin.must(
      "PATCH",
      `${DEFINITIONS}/${definition.metadata.name}`,
      { spec: { versions: next.spec.versions } },
      MERGE,
    );
    await eventually(systemClock, "the changed schema", async () => {
      const { code } = await admin.request("POST", `${path()}?dryRun=All`, {
        body: object("n", { spec: { a: "long value" } }),
      });
      return code === 422 ? true : undefined;
    });

    const other = await admin.request("PATCH", `${path()}/r`, { body: { spec: { b: "y" } }, contentType: MERGE });
    const same = await admin.request("PATCH", `${path()}/r`, {
      body: { spec: { a: "also long" } },
      contentType: MERGE,
    });

    assert.equal(other.code, 200, other.text);
    assertStatus(same, {
      code: 422,
      reason: "Invalid",
      details: { causes: [{ field: "spec.a", reason: "FieldValueTooLong" }] },
    });
  });

  test("kind and apiVersion are needed and must be the path's", async (t) => {
    const { path, object, kind, group } = await serve(t, area(), definitionOf(area(), { kind: "Headed" }));
    const send = async (head: object) => {
      const { apiVersion: _version, kind: _kind, ...rest } = object("h");
      return await area().admin.request("POST", path(), { body: { ...rest, ...head } });
    };

    assertStatus(await send({ apiVersion: `${group}/v1` }), {
      code: 400,
      reason: "BadRequest",
      message: /Object 'Kind' is missing/,
    });
    const versionless = /the API version in the data \(\) does not match the expected API version/;
    assertStatus(await send({ kind }), { code: 400, reason: "BadRequest", message: versionless });
    assertStatus(await send({ kind, apiVersion: "v1" }), { code: 400, reason: "BadRequest" });
    assert.ok([400, 422].includes((await send({ kind: "Other", apiVersion: `${group}/v1` })).code));
  });

  test("a namespaced resource is listed everywhere, and written in a Namespace alone", async (t) => {
    const { admin } = area();
    const { path, object, group, plural } = await serve(t, area(), definitionOf(area(), { kind: "Placed" }));
    await admin.must("POST", path(), object("p"));
    const everywhere = `/apis/${group}/v1/${plural}`;

    const list = await admin.must("GET", everywhere);
    const made = await admin.request("POST", everywhere, { body: object("q") });

    assert.deepEqual(
      (list.items ?? []).map(({ metadata }) => metadata.name),
      ["p"],
    );
    assert.deepEqual([made.code, made.text.trim()], [404, "404 page not found"]);
  });

  test("a cluster-wide resource has no Namespace", async (t) => {
    const { admin, namespace } = area();
    const definition = definitionOf(area(), { kind: "Wide" });
    const wide: Definition = { ...definition, spec: { ...definition.spec, scope: "Cluster" } };
    const { path, object, group, plural } = await serve(t, area(), wide);

    const made = await admin.must("POST", path(), object("w"));
    const inside = await admin.request("GET", `/apis/${group}/v1/namespaces/${namespace}/${plural}`);

    assert.equal(made.metadata.namespace, undefined);
    assert.equal(inside.code, 404);
  });

  test("two versions show the same object, each in its own apiVersion and by its own schema", async (t) => {
    const { admin } = area();
    const definition = definitionOf(area(), {
      kind: "Versioned",
      properties: { spec: { type: "object", properties: { a: string, b: string } } },
    });
    const [v1] = definition.spec.versions;
    assert.ok(v1);
    const v1alpha1 = definitionOf(area(), {
      kind: "Versioned",
      properties: { spec: { type: "object", properties: { a: string } } },
    }).spec.versions.map((version) => ({ ...version, name: "v1alpha1", storage: false }));
    const versions = [v1, ...v1alpha1];
    const { path, object, group } = await serve(t, area(), { ...definition, spec: { ...definition.spec, versions } });
    const made = await admin.must("POST", path("v1"), object("v", { spec: { a: "1", b: "2" } }));

    const old = await admin.must("GET", `${path("v1alpha1")}/v`);
    const changed = await admin.must("PATCH", `${path("v1alpha1")}/v`, { spec: { a: "3" } }, MERGE);
    const now = await admin.must("GET", `${path("v1")}/v`);

    assert.deepEqual(
      [old.apiVersion, old["spec"], old.metadata.uid],
      [`${group}/v1alpha1`, { a: "1" }, made.metadata.uid],
    );
    assert.equal(changed.apiVersion, `${group}/v1alpha1`);
    // What the older version does not know is lost when it writes.
    assert.deepEqual(now["spec"], { a: "3" });
  });

  test("a definition tells when it is served, and takes its objects with it", async (t) => {
    const { admin } = area();
    const definition = definitionOf(area(), { kind: "Shortlived" });
    const { path, object } = await serve(t, area(), definition);
    await admin.must("POST", path(), object("s"));
    const place = `${DEFINITIONS}/${definition.metadata.name}`;

    const { status } = await admin.must("GET", place);
    await admin.must("DELETE", place);
    await eventually(systemClock, "the definition to be gone", async () => {
      const { code } = await admin.request("GET", place);
      return code === 404 ? true : undefined;
    });
    await eventually(systemClock, "the resource to be gone", async () => {
      const { code } = await admin.request("GET", path());
      return code === 404 ? true : undefined;
    });

    const { conditions, acceptedNames } = status as {
      conditions: { type: string; status: string }[];
      acceptedNames: object;
    };
    const held = conditions.filter((condition) => condition.status === "True").map(({ type }) => type);
    assert.deepEqual(held.toSorted(), ["Established", "NamesAccepted"]);
    assertHas(acceptedNames, { kind: "Shortlived", plural: "shortliveds" });
  });

  test("a definition that cannot be: 422", async () => {
    const { admin } = area();
    const good = definitionOf(area(), { kind: "Invalid" });
    const ask = async (definition: object) =>
      await admin.request("POST", `${DEFINITIONS}?dryRun=All`, { body: definition });
    const [version] = good.spec.versions;

    assert.equal((await ask(good)).code, 201);
    assertStatus(await ask({ ...good, metadata: { name: "other" } }), {
      code: 422,
      reason: "Invalid",
      message: /metadata\.name/,
    });
    const twoStored = { ...good, spec: { ...good.spec, versions: [version, { ...version, name: "v2" }] } };
    assertStatus(await ask(twoStored), {
      code: 422,
      reason: "Invalid",
      message: /must have exactly one version marked as storage version/,
    });
    const schemaless = { ...good, spec: { ...good.spec, versions: [{ name: "v1", served: true, storage: true }] } };
    assertStatus(await ask(schemaless), { code: 422, reason: "Invalid", message: /schema/ });
  });

  test("Hawser's own definitions are served", async (t) => {
    for (const file of globSync("*.yaml", { cwd: OURS })) {
      for (const definition of definitionsOf(area(), join(OURS, file))) await serve(t, area(), definition);
    }
  });

  test("a ClusterSet as Antrea's member writes its status", async (t) => {
    const { admin } = area();
    const [definition] = definitionsOf(area(), clusterSets());
    assert.ok(definition);
    const { path, object } = await serve(t, area(), definition);
    const spec = {
      clusterID: "east",
      namespace: "ns",
      leaders: [{ clusterID: "north", server: "https://l", secret: "s" }],
    };
    const made = await admin.must("POST", path("v1alpha2"), object("set", { spec }, "v1alpha2"));
    const status = {
      observedGeneration: made.metadata.generation,
      totalClusters: 1,
      conditions: [
        {
          type: "Ready",
          status: "False",
          message: "Disconnected from leader",
          lastTransitionTime: "2026-08-21T10:12:11Z",
        },
      ],
      clusterStatuses: [
        { clusterID: "north", conditions: [{ type: "Ready", status: "Unknown", message: "Leader cluster added" }] },
      ],
    };

    const written = await admin.must("PATCH", `${path("v1alpha2")}/set/status`, { status }, MERGE);
    const refused = async (patch: object, field: string) => {
      const answer = await admin.request("PATCH", `${path("v1alpha2")}/set`, {
        body: { spec: patch },
        contentType: MERGE,
      });
      assertStatus(answer, { code: 422, reason: "Invalid", details: { causes: [{ field }] } });
    };

    assert.deepEqual(written["status"], status);
    assert.equal(written.metadata.generation, made.metadata.generation);
    await refused({ leaders: [] }, "spec.leaders");
    await refused({ leaders: null }, "spec.leaders");
    await refused({ leaders: [{ clusterID: "a" }, { clusterID: "b" }] }, "spec.leaders");
  });

  function clusterSets(): string {
    const upstream = UPSTREAM === undefined ? [] : globSync("**/*clustersets.yaml", { cwd: UPSTREAM });
    const [file] = upstream.filter((name) => basename(name).includes("antrea"));
    return file === undefined || UPSTREAM === undefined ? join(OURS, "clustersets.yaml") : join(UPSTREAM, file);
  }

  if (UPSTREAM !== undefined && existsSync(UPSTREAM)) {
    for (const file of globSync("**/*.yaml", { cwd: UPSTREAM }).toSorted()) {
      test(`the published definitions of ${file} are served`, async (t) => {
        for (const definition of definitionsOf(area(), join(UPSTREAM, file))) await serve(t, area(), definition);
      });
    }
  }
}
