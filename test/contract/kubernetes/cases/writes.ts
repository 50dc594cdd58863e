import assert from "node:assert/strict";
import { test } from "node:test";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { definitionOf, serve } from "../custom-definition.ts";

const MERGE = "application/merge-patch+json";
const STRATEGIC = "application/strategic-merge-patch+json";
const JSON_PATCH = "application/json-patch+json";
const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

/** Updates, patches and deletes: what they change, what they keep, and when they are refused. */
export function writeCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const make = async (name: string, content: object = {}, metadata: object = {}) =>
    await area().admin.must("POST", configMaps(), { metadata: { name, ...metadata }, ...content });

  test("what is made gets a UID, a resourceVersion and a time in whole seconds", async () => {
    const { metadata } = await make("made", { data: { k: "v" } });

    assert.match(metadata.uid ?? "", /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    assert.match(metadata.resourceVersion ?? "", /^[1-9]\d*$/);
    assert.match(String(metadata["creationTimestamp"]), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(metadata.generation, undefined);
  });

  test("a resourceVersion on an object to be made: 500", async () => {
    const body = { metadata: { name: "versioned", resourceVersion: "1" } };

    const answer = await area().admin.request("POST", configMaps(), { body });

    assertStatus(answer, { code: 500, message: "resourceVersion should not be set on objects to be created" });
  });

  test("an update with an old resourceVersion: 409 Conflict", async () => {
    const { admin } = area();
    const old = await make("raced");
    const next = await admin.must("PUT", `${configMaps()}/raced`, { ...old, data: { by: "first" } });

    const late = await admin.request("PUT", `${configMaps()}/raced`, { body: { ...old, data: { by: "second" } } });

    const message = `Operation cannot be fulfilled on configmaps "raced": ${MODIFIED}`;
    const details = { name: "raced", kind: "configmaps" };
    assertStatus(late, { code: 409, reason: "Conflict", message, details });
    assert.notEqual(next.metadata.resourceVersion, old.metadata.resourceVersion);
    assertHas(await admin.must("GET", `${configMaps()}/raced`), { data: { by: "first" } });
  });

  test("an update with another UID: 409 Conflict, also without a resourceVersion", async () => {
    const { admin } = area();
    await make("replaced");

    const body = { metadata: { name: "replaced", uid: "11111111-1111-4111-8111-111111111111" } };
    const answer = await admin.request("PUT", `${configMaps()}/replaced`, { body });

    assertStatus(answer, { code: 409, reason: "Conflict", message: /Precondition failed: UID in precondition/ });
  });

  test("an update without resourceVersion: built-in objects are overwritten, custom ones are refused", async (t) => {
    const { admin } = area();
    const { path, object } = await serve(t, area(), definitionOf(area(), { kind: "Unconditional" }));
    await make("blind");
    await admin.must("POST", path(), object("blind"));

    const builtIn = await admin.request("PUT", `${configMaps()}/blind`, { body: { metadata: { name: "blind" } } });
    const custom = await admin.request("PUT", `${path()}/blind`, { body: object("blind") });

    assert.equal(builtIn.code, 200);
    assertStatus(custom, {
      code: 422,
      reason: "Invalid",
      message: /metadata\.resourceVersion: Invalid value: (0|0x0): must be specified for an update$/,
    });
  });

  test("an update of what is not there: 404; a Lease is made by it", async () => {
    const { admin, namespace } = area();
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

    const configMap = await admin.request("PUT", `${configMaps()}/absent`, { body: { metadata: { name: "absent" } } });
    const lease = await admin.request("PUT", `${leases}/by-update`, {
      body: { metadata: { name: "by-update" }, spec: { holderIdentity: "east" } },
    });

    assertStatus(configMap, { code: 404, reason: "NotFound" });
    assert.equal(lease.code, 201);
  });

  test("a write that changes nothing leaves the resourceVersion as it was", async () => {
    const { admin } = area();
    const made = await make("same", { data: { k: "v" } });

    const put = await admin.must("PUT", `${configMaps()}/same`, { metadata: { name: "same" }, data: { k: "v" } });
    const patched = await admin.must("PATCH", `${configMaps()}/same`, { data: { k: "v" } }, MERGE);

    assert.equal(put.metadata.resourceVersion, made.metadata.resourceVersion);
    assert.equal(patched.metadata.resourceVersion, made.metadata.resourceVersion);
  });

  test("a merge patch sets, replaces lists whole, and deletes by null", async () => {
    const { admin } = area();
    await make(
      "merged",
      { data: { kept: "1", gone: "2" } },
      { annotations: { a: "1" }, finalizers: ["hawser.test/a"] },
    );

    const patch = {
      metadata: { annotations: { b: "2" }, finalizers: ["hawser.test/b"] },
      data: { gone: null, new: "3" },
    };
    const answer = await admin.must("PATCH", `${configMaps()}/merged`, patch, MERGE);
    await admin.must("PATCH", `${configMaps()}/merged`, { metadata: { finalizers: null } }, MERGE);

    assert.deepEqual(answer.metadata.annotations, { a: "1", b: "2" });
    assert.deepEqual(answer.metadata.finalizers, ["hawser.test/b"]);
    assert.deepEqual(answer["data"], { kept: "1", new: "3" });
  });

  test("a merge patch with an old resourceVersion: 409; with the present one, it is done", async () => {
    const { admin } = area();
    const { metadata } = await make("guarded");
    const patch = async (resourceVersion = "") => {
      const body = { metadata: { resourceVersion }, data: { at: resourceVersion } };
      return await admin.request("PATCH", `${configMaps()}/guarded`, { body, contentType: MERGE });
    };

    const present = await patch(metadata.resourceVersion);
    const old = await patch(metadata.resourceVersion);

    assert.equal(present.code, 200);
    assertStatus(old, { code: 409, reason: "Conflict" });
  });

  test("a patch of what is not there: 404", async () => {
    const answer = await area().admin.request("PATCH", `${configMaps()}/absent`, { body: {}, contentType: MERGE });

    assertStatus(answer, { code: 404, reason: "NotFound", message: 'configmaps "absent" not found' });
  });

  test("a patch that leaves the object invalid: 422, and nothing is changed", async () => {
    const { admin } = area();
    const { metadata } = await make("stays");

    const type = await admin.request("PATCH", `${configMaps()}/stays`, {
      body: { data: { k: 1 } },
      contentType: MERGE,
    });
    const key = await admin.request("PATCH", `${configMaps()}/stays`, {
      body: { data: { "k y": "1" } },
      contentType: MERGE,
    });

    assertStatus(type, { code: 422, reason: "Invalid", message: /cannot unmarshal number/ });
    assertStatus(key, { code: 422, reason: "Invalid", details: { causes: [{ field: "data[k y]" }] } });
    const now = await admin.must("GET", `${configMaps()}/stays`);
    assert.equal(now.metadata.resourceVersion, metadata.resourceVersion);
  });

  test("a patch cannot change name, Namespace or UID", async () => {
    const { admin } = area();
    await make("fixed");
    const patch = async (metadata: object) =>
      await admin.request("PATCH", `${configMaps()}/fixed`, { body: { metadata }, contentType: MERGE });

    assertStatus(await patch({ name: "other" }), { code: 400, reason: "BadRequest" });
    assertStatus(await patch({ namespace: "other" }), { code: 400, reason: "BadRequest" });
    assertStatus(await patch({ uid: "1" }), {
      code: 422,
      reason: "Invalid",
      message: /metadata\.uid.*field is immutable/,
    });
  });

  test("a JSON patch: operations in order, a failed test refuses all", async () => {
    const { admin } = area();
    await make("operations", { data: { a: "1" } });
    const patch = async (body: readonly object[]) =>
      await admin.request("PATCH", `${configMaps()}/operations`, { body, contentType: JSON_PATCH });

    const done = await patch([
      { op: "test", path: "/data/a", value: "1" },
      { op: "replace", path: "/data/a", value: "2" },
      { op: "add", path: "/data/b", value: "3" },
    ]);
    const refused = await patch([
      { op: "replace", path: "/data/b", value: "4" },
      { op: "test", path: "/data/a", value: "1" },
    ]);

    assert.deepEqual(done.json["data"], { a: "2", b: "3" });
    assertStatus(refused, { code: 422, reason: "Invalid" });
    assertHas(await admin.must("GET", `${configMaps()}/operations`), { data: { a: "2", b: "3" } });
  });

  test("a strategic merge patch merges lists by key; custom resources do not know it: 415", async (t) => {
    const { admin, namespace } = area();
    const services = `/api/v1/namespaces/${namespace}/services`;
    const { path, object } = await serve(t, area(), definitionOf(area(), { kind: "Plain" }));
    await admin.must("POST", path(), object("plain"));
    await admin.must("POST", services, {
      metadata: { name: "strategic" },
      spec: { clusterIP: "None", ports: [{ name: "a", port: 80 }] },
    });

    const patch = { spec: { ports: [{ name: "b", port: 81 }] } };
    const service = await admin.must("PATCH", `${services}/strategic`, patch, STRATEGIC);
    const custom = await admin.request("PATCH", `${path()}/plain`, { body: {}, contentType: STRATEGIC });

    const { ports } = service["spec"] as { ports: { port: number }[] };
    assert.deepEqual(ports.map(({ port }) => port).toSorted(), [80, 81]);
    assertStatus(custom, { code: 415, reason: "UnsupportedMediaType", message: /application\/merge-patch\+json/ });
  });

  test("status is written by its subresource alone, and nothing else is", async (t) => {
    const { admin } = area();
    const properties = {
      spec: { type: "object", properties: { size: { type: "integer" } } },
      status: { type: "object", properties: { ready: { type: "integer" } } },
    };
    const definition = definitionOf(area(), { kind: "Stateful", properties, status: true });
    const { path, object } = await serve(t, area(), definition);

    const made = await admin.must("POST", path(), object("s", { spec: { size: 1 }, status: { ready: 1 } }));
    const main = await admin.must("PATCH", `${path()}/s`, { status: { ready: 2 } }, MERGE);
    const body = { metadata: { labels: { a: "b" } }, spec: { size: 9 }, status: { ready: 3 } };
    const status = await admin.must("PATCH", `${path()}/s/status`, body, MERGE);
    const put = await admin.must("PUT", `${path()}/s/status`, { ...status, spec: { size: 8 }, status: { ready: 4 } });

    assert.equal(made["status"], undefined);
    assert.equal(main.metadata.resourceVersion, made.metadata.resourceVersion);
    assert.deepEqual([status["spec"], status["status"]], [{ size: 1 }, { ready: 3 }]);
    assert.equal(status.metadata.labels, undefined);
    assert.deepEqual([put["spec"], put["status"]], [{ size: 1 }, { ready: 4 }]);
  });

  test("generation counts what is not metadata, and not the status where that is a subresource", async (t) => {
    const { admin } = area();
    const any = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const wanted = { kind: "Counted", properties: { spec: any, status: any }, status: true };
    const { path, object } = await serve(t, area(), definitionOf(area(), wanted));
    const generation = async (patch: object, place = "") =>
      (await admin.must("PATCH", `${path()}/g${place}`, patch, MERGE)).metadata.generation;

    const made = await admin.must("POST", path(), object("g", { spec: { a: 1 } }));

    assert.equal(made.metadata.generation, 1);
    assert.equal(await generation({ metadata: { annotations: { a: "b" } } }), 1);
    assert.equal(await generation({ status: { x: 1 } }, "/status"), 1);
    assert.equal(await generation({ spec: { a: 2 } }), 2);
    assert.equal(await generation({ spec: { a: 2 } }), 2);
  });

  test("without a status subresource, status is a field like others", async (t) => {
    const { admin } = area();
    const properties = { status: { type: "object", properties: { ready: { type: "integer" } } } };
    const { path, object } = await serve(t, area(), definitionOf(area(), { kind: "Stateless", properties }));

    const made = await admin.must("POST", path(), object("s", { status: { ready: 1 } }));
    const patched = await admin.must("PATCH", `${path()}/s`, { status: { ready: 2 } }, MERGE);
    const absent = await admin.request("PATCH", `${path()}/s/status`, { body: {}, contentType: MERGE });

    assert.deepEqual(made["status"], { ready: 1 });
    assert.equal(patched.metadata.generation, 2);
    assertStatus(absent, { code: 404, reason: "NotFound" });
  });

  test("a finalizer holds what is deleted until it is taken away", async () => {
    const { admin } = area();
    await make("held", {}, { finalizers: ["hawser.test/hold"] });

    const deleted = await admin.request("DELETE", `${configMaps()}/held`);
    const again = await admin.request("DELETE", `${configMaps()}/held`);
    const { metadata } = await admin.must("GET", `${configMaps()}/held`);
    const added = await admin.request("PATCH", `${configMaps()}/held`, {
      body: { metadata: { finalizers: ["hawser.test/hold", "hawser.test/more"] } },
      contentType: MERGE,
    });
    const edited = await admin.must("PATCH", `${configMaps()}/held`, { data: { still: "writable" } }, MERGE);
    await admin.must("PATCH", `${configMaps()}/held`, { metadata: { finalizers: [] } }, MERGE);
    const gone = await admin.request("GET", `${configMaps()}/held`);

    assert.equal(deleted.code, 200);
    assert.equal(again.code, 200);
    assert.match(metadata.deletionTimestamp ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.equal(metadata["deletionGracePeriodSeconds"], 0);
    assertStatus(added, {
      code: 422,
      reason: "Invalid",
      message: /no new finalizers can be added if the object is being deleted/,
    });
    assert.equal(edited.metadata.deletionTimestamp, metadata.deletionTimestamp);
    assert.equal(gone.code, 404);
  });

  test("a custom object that is being deleted counts it as a generation", async (t) => {
    const { admin } = area();
    const { path, object } = await serve(t, area(), definitionOf(area(), { kind: "Leaving" }));
    await admin.must("POST", path(), { ...object("l"), metadata: { name: "l", finalizers: ["hawser.test/hold"] } });

    await admin.must("DELETE", `${path()}/l`);
    const { metadata } = await admin.must("GET", `${path()}/l`);
    await admin.must("PATCH", `${path()}/l`, { metadata: { finalizers: null } }, MERGE);

    assert.equal(metadata.generation, 2);
  });

  test("a delete answers a Status with the UID; its preconditions are kept", async () => {
    const { admin } = area();
    const { metadata } = await make("deleted");
    const remove = async (preconditions: object) =>
      await admin.request("DELETE", `${configMaps()}/deleted`, {
        body: { apiVersion: "v1", kind: "DeleteOptions", preconditions },
      });

    const otherUid = await remove({ uid: "11111111-1111-4111-8111-111111111111" });
    const otherVersion = await remove({ resourceVersion: "1" });
    const done = await remove({ uid: metadata.uid, resourceVersion: metadata.resourceVersion });
    const again = await remove({ uid: metadata.uid });

    assertStatus(otherUid, { code: 409, reason: "Conflict", message: /the UID in the precondition .* does not match/ });
    assertStatus(otherVersion, { code: 409, reason: "Conflict", message: /the ResourceVersion in the precondition/ });
    const details = { name: "deleted", kind: "configmaps", uid: metadata.uid };
    assert.deepEqual(done.json, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details });
    assertStatus(again, { code: 404, reason: "NotFound" });
  });

  test("a dry run deletes nothing", async () => {
    const { admin } = area();
    await make("dry");

    const answer = await admin.request("DELETE", `${configMaps()}/dry?dryRun=All`);

    assert.equal(answer.code, 200);
    assert.equal((await admin.request("GET", `${configMaps()}/dry`)).code, 200);
  });

  test("delete of a collection: those that match, answered as a list", async () => {
    const { admin } = area();
    for (const name of ["c1", "c2"]) await make(name, {}, { labels: { set: "c" } });
    await make("c3", {}, { labels: { set: "d" } });

    const answer = await admin.request("DELETE", `${configMaps()}?labelSelector=set%3Dc`);

    assert.equal(answer.code, 200);
    assert.deepEqual((answer.json.items ?? []).map((item) => item.metadata.name).toSorted(), ["c1", "c2"]);
    assert.equal((await admin.request("GET", `${configMaps()}/c1`)).code, 404);
    assert.equal((await admin.request("GET", `${configMaps()}/c3`)).code, 200);
  });

  test("the answer to a write is what a read then shows", async () => {
    const { admin } = area();
    const made = await make("shown", { data: { k: "v" } }, { labels: { a: "b" } });

    assert.deepEqual(await admin.must("GET", `${configMaps()}/shown`), made);
  });
}
