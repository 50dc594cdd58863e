import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiObject } from "../../../../../infra/local/cluster/types.ts";
import { Bench, configMap, widget, widgetDefinition } from "./support.ts";

const MAPS = "v1/configmaps";
const WIDGETS = "example.com/v1/widgets";
const CRDS = "apiextensions.k8s.io/v1/customresourcedefinitions";
const ns = { namespace: "default" };
const a = { ...ns, name: "a" };

async function withWidgets(): Promise<Bench> {
  const bench = new Bench();
  const spec = { size: { type: "integer" }, tags: { type: "array", items: { type: "string" } } };
  await bench.must("create", CRDS, { body: widgetDefinition(spec) });
  return bench;
}

test("create fills uid, creationTimestamp and resourceVersion, and ignores what a client says of them", async () => {
  const bench = new Bench();
  const body = configMap("a", { data: { k: "v" } });
  Object.assign(body["metadata"] as object, { uid: "mine", creationTimestamp: "2001-01-01T00:00:00Z", generation: 9 });

  const reply = await bench.ask("create", MAPS, { ...ns, body });

  const made = reply.body as ApiObject;
  assert.equal(reply.code, 201);
  assert.match(made.metadata.uid ?? "", /^[0-9a-f-]{36}$/);
  assert.equal(made.metadata.creationTimestamp, "2026-01-01T00:00:00Z");
  assert.match(made.metadata.resourceVersion ?? "", /^\d+$/);
  assert.equal(made.metadata.generation, undefined);
});

test("a second object of the name is AlreadyExists", async () => {
  const bench = new Bench();
  await bench.must("create", MAPS, { ...ns, body: configMap("a") });

  const reply = await bench.ask("create", MAPS, { ...ns, body: configMap("a") });

  assert.deepEqual(reply.body, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: 'configmaps "a" already exists',
    reason: "AlreadyExists",
    details: { name: "a", kind: "configmaps" },
    code: 409,
  });
});

test("an object that is not there is NotFound, with group and resource", async () => {
  const bench = await withWidgets();

  const reply = await bench.ask("get", WIDGETS, a);

  assert.equal(reply.code, 404);
  assert.deepEqual(reply.body["details"], { name: "a", group: "example.com", kind: "widgets" });
  assert.equal(reply.body["message"], 'widgets.example.com "a" not found');
});

test("generateName makes a name, and another one when that is taken", async () => {
  const bench = new Bench({
    random: { next: sequence([...Array<number>(10).fill(0), ...Array<number>(5).fill(0.5)]) },
  });
  const body = { kind: "ConfigMap", apiVersion: "v1", metadata: { generateName: "a-" } };

  const first = await bench.must("create", MAPS, { ...ns, body });
  const second = await bench.must("create", MAPS, { ...ns, body });

  assert.equal(first.metadata.name, "a-bbbbb");
  assert.equal(second.metadata.name, "a-rrrrr");
});

test("generateName gives up after eight names that are taken", async () => {
  const bench = new Bench({ random: { next: () => 0 } });
  const body = { kind: "ConfigMap", apiVersion: "v1", metadata: { generateName: "a-" } };
  await bench.must("create", MAPS, { ...ns, body });

  const reply = await bench.ask("create", MAPS, { ...ns, body });

  assert.equal(reply.code, 409);
  assert.equal(reply.body["reason"], "AlreadyExists");
  assert.match(String(reply.body["message"]), /was not able to generate a unique name/);
});

test("a bad name is Invalid with Kubernetes' words", async () => {
  const bench = new Bench();

  const reply = await bench.ask("create", MAPS, { ...ns, body: configMap("A_b") });

  assert.equal(reply.code, 422);
  assert.equal(
    reply.body["message"],
    `ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')`,
  );
});

test("an object of another Namespace, version or kind is a bad request", async () => {
  const bench = new Bench();
  const other = { kind: "ConfigMap", apiVersion: "v1", metadata: { name: "a", namespace: "kube-system" } };

  const namespace = await bench.ask("create", MAPS, { ...ns, body: other });
  const version = await bench.ask("create", MAPS, { ...ns, body: { ...configMap("a"), apiVersion: "v2" } });
  const kind = await bench.ask("create", MAPS, { ...ns, body: { ...configMap("a"), kind: "Secret" } });

  assert.equal(namespace.code, 400);
  assert.equal(
    namespace.body["message"],
    "the namespace of the provided object does not match the namespace sent on the request",
  );
  assert.equal(version.code, 400);
  assert.equal(
    version.body["message"],
    'ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered for version "v2" in scheme "pkg/runtime/scheme.go:110"',
  );
  assert.equal(kind.code, 400);
});

test("an update with an old resourceVersion is a conflict", async () => {
  const bench = new Bench();
  const first = await bench.must("create", MAPS, { ...ns, body: configMap("a", { data: { k: "1" } }) });
  await bench.must("update", MAPS, { ...a, body: { ...first, data: { k: "2" } } });

  const reply = await bench.ask("update", MAPS, { ...a, body: { ...first, data: { k: "3" } } });

  assert.equal(reply.code, 409);
  assert.equal(reply.body["reason"], "Conflict");
  assert.equal(
    reply.body["message"],
    'Operation cannot be fulfilled on configmaps "a": the object has been modified; please apply your changes to the latest version and try again',
  );
});

test("built-in objects can be updated without a resourceVersion, custom ones cannot", async () => {
  const bench = await withWidgets();
  await bench.must("create", MAPS, { ...ns, body: configMap("a") });
  await bench.must("create", WIDGETS, { ...ns, body: widget("a", { size: 1 }) });

  const builtIn = await bench.ask("update", MAPS, { ...a, body: configMap("a", { data: { k: "2" } }) });
  const custom = await bench.ask("update", WIDGETS, { ...a, body: widget("a", { size: 2 }) });

  assert.equal(builtIn.code, 200);
  assert.equal(custom.code, 422);
  assert.equal(
    custom.body["message"],
    'widgets.example.com "a" is invalid: metadata.resourceVersion: Invalid value: 0: must be specified for an update',
  );
});

test("an update that changes nothing keeps the resourceVersion and sends no event", async () => {
  const bench = new Bench();
  const first = await bench.must("create", MAPS, { ...ns, body: configMap("a", { data: { k: "1" } }) });
  const watcher = await bench.watch(MAPS, { ...ns, query: { resourceVersion: first.metadata.resourceVersion ?? "" } });

  const put = await bench.must("update", MAPS, { ...a, body: first });
  const patched = await bench.patch(MAPS, { ...a, body: { data: { k: "1" } } });

  assert.equal(put.metadata.resourceVersion, first.metadata.resourceVersion);
  assert.deepEqual(patched.body, first);
  assert.deepEqual(await watcher.seen(), []);
  watcher.stop();
});

test("what an update may not change is put back or refused", async () => {
  const bench = await withWidgets();
  const first = await bench.must("create", WIDGETS, { ...ns, body: widget("a", { size: 1 }) });

  const stamp = { ...first.metadata, creationTimestamp: "2001-01-01T00:00:00Z", generation: 77 };
  const put = await bench.must("update", WIDGETS, { ...a, body: { ...first, metadata: stamp } });
  const uid = await bench.ask("update", WIDGETS, {
    ...a,
    body: { ...first, metadata: { ...first.metadata, uid: "x" } },
  });
  const patchedUid = await bench.patch(WIDGETS, { ...a, body: { metadata: { uid: "x" } } });
  const name = await bench.ask("update", WIDGETS, {
    ...a,
    body: { ...first, metadata: { ...first.metadata, name: "b" } },
  });

  assert.equal(put.metadata.creationTimestamp, first.metadata.creationTimestamp);
  assert.equal(put.metadata.generation, 1);
  assert.equal(uid.code, 409);
  assert.match(String(uid.body["message"]), /Precondition failed: UID in precondition: x, UID in object meta: /);
  assert.equal(patchedUid.code, 422);
  assert.equal(
    patchedUid.body["message"],
    'Widget.example.com "a" is invalid: metadata.uid: Invalid value: "x": field is immutable',
  );
  assert.equal(name.code, 400);
  assert.equal(name.body["message"], "the name of the object (b) does not match the name on the URL (a)");
});

test("generation counts changes of spec, not of metadata or status", async () => {
  const bench = await withWidgets();
  await bench.must("create", WIDGETS, { ...ns, body: widget("a", { size: 1 }) });

  const labelled = await bench.patch(WIDGETS, { ...a, body: { metadata: { labels: { x: "y" } } } });
  const status = await bench.patch(WIDGETS, { ...a, subresource: "status", body: { status: { ok: true } } });
  const changed = await bench.patch(WIDGETS, { ...a, body: { spec: { size: 2 } } });

  assert.deepEqual(
    [labelled, status, changed].map((r) => (r.body as ApiObject).metadata.generation),
    [1, 1, 2],
  );
});

test("without a status subresource generation counts every change but those of metadata", async () => {
  const bench = new Bench();
  await bench.must("create", CRDS, { body: widgetDefinition({}, { status: false }) });
  await bench.must("create", WIDGETS, { ...ns, body: widget("a", {}, { status: { ok: 1 } }) });

  const status = await bench.patch(WIDGETS, { ...a, body: { status: { ok: 2 } } });
  const labelled = await bench.patch(WIDGETS, { ...a, body: { metadata: { labels: { x: "y" } } } });
  const subresource = await bench.ask("get", WIDGETS, { ...a, subresource: "status" });

  assert.equal((status.body as ApiObject).metadata.generation, 2);
  assert.deepEqual((status.body as ApiObject)["status"], { ok: 2 });
  assert.equal((labelled.body as ApiObject).metadata.generation, 2);
  assert.equal(subresource.code, 404);
});

test("the main endpoint leaves the status alone and the status endpoint everything else", async () => {
  const bench = await withWidgets();
  const made = await bench.must("create", WIDGETS, { ...ns, body: widget("a", { size: 1 }, { status: { ok: true } }) });
  const stored = await bench.must("update", WIDGETS, {
    ...a,
    subresource: "status",
    body: { ...made, metadata: { ...made.metadata, labels: { x: "y" } }, spec: { size: 9 }, status: { ok: true } },
  });

  const main = await bench.patch(WIDGETS, { ...a, body: { spec: { size: 2 }, status: { ok: false } } });

  assert.equal(made["status"], undefined);
  assert.deepEqual(stored["spec"], { size: 1 });
  assert.equal(stored.metadata.labels, undefined);
  assert.deepEqual(stored["status"], { ok: true });
  assert.deepEqual((main.body as ApiObject)["status"], { ok: true });
  assert.deepEqual((main.body as ApiObject)["spec"], { size: 2 });
});

test("a delete answers with a Status that names the object, or with the object for some built-in types", async () => {
  const bench = new Bench();
  const made = await bench.must("create", MAPS, { ...ns, body: configMap("a") });
  await bench.must("create", "v1/serviceaccounts", { ...ns, body: { metadata: { name: "a" } } });

  const map = await bench.ask("delete", MAPS, a);
  const account = await bench.ask("delete", "v1/serviceaccounts", a);

  assert.deepEqual(map.body, {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: "a", kind: "configmaps", uid: made.metadata.uid },
  });
  assert.equal(account.body["kind"], "ServiceAccount");
  assert.equal((await bench.ask("get", MAPS, a)).code, 404);
});

test("finalizers hold a deleted object until the last one goes", async () => {
  const bench = await withWidgets();
  const body = widget("a", { size: 1 });
  Object.assign(body["metadata"] as object, { finalizers: ["example.com/one", "example.com/two"] });
  await bench.must("create", WIDGETS, { ...ns, body });
  bench.clock.setWall(new Date("2026-01-01T00:00:05Z"));

  const deleted = await bench.must("delete", WIDGETS, a);
  const again = await bench.must("delete", WIDGETS, a);
  const added = await bench.patch(WIDGETS, {
    ...a,
    body: { metadata: { finalizers: ["example.com/one", "example.com/two", "example.com/three"] } },
  });
  await bench.patch(WIDGETS, { ...a, body: { metadata: { finalizers: ["example.com/one"] } } });
  const held = await bench.ask("get", WIDGETS, a);
  const last = await bench.patch(WIDGETS, { ...a, body: { metadata: { finalizers: null } } });

  assert.equal(deleted.metadata.deletionTimestamp, "2026-01-01T00:00:05Z");
  assert.equal(deleted.metadata.deletionGracePeriodSeconds, 0);
  assert.equal(deleted.metadata.generation, 2);
  assert.equal(again.metadata.resourceVersion, deleted.metadata.resourceVersion);
  assert.equal(added.code, 422);
  assert.match(
    String(added.body["message"]),
    /metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers \[\]string{"example.com\/three"}/,
  );
  assert.equal(held.code, 200);
  assert.equal(last.code, 200);
  assert.equal((await bench.ask("get", WIDGETS, a)).code, 404);
});

test("preconditions of a delete must hold", async () => {
  const bench = new Bench();
  const made = await bench.must("create", MAPS, { ...ns, body: configMap("a") });
  const { uid, resourceVersion } = made.metadata;

  const wrongUid = await bench.ask("delete", MAPS, { ...a, body: { preconditions: { uid: "x" } } });
  const wrongVersion = await bench.ask("delete", MAPS, { ...a, body: { preconditions: { resourceVersion: "1" } } });
  const right = await bench.ask("delete", MAPS, { ...a, body: { preconditions: { uid, resourceVersion } } });

  assert.equal(wrongUid.code, 409);
  assert.equal(
    wrongUid.body["message"],
    `Operation cannot be fulfilled on ConfigMap "a": the UID in the precondition (x) does not match the UID in record (${uid}). The object might have been deleted and then recreated`,
  );
  assert.equal(wrongVersion.code, 409);
  assert.equal(right.code, 200);
});

test("deletecollection removes what is selected and answers with the list", async () => {
  const bench = new Bench();
  for (const [name, x] of [
    ["a", "1"],
    ["b", "2"],
    ["c", "1"],
  ] as const) {
    await bench.must("create", MAPS, { ...ns, body: configMap(name, { labels: { x } }) });
  }

  const reply = await bench.ask("deletecollection", MAPS, { ...ns, query: { labelSelector: "x=1" } });

  const names = (of: unknown): unknown => (of as { items: ApiObject[] }).items.map((o) => o.metadata.name);
  assert.deepEqual(names(reply.body), ["a", "c"]);
  assert.deepEqual(names((await bench.ask("list", MAPS, ns)).body), ["b"]);
});

test("dryRun=All answers as if, and stores nothing", async () => {
  const bench = new Bench();
  const query = { dryRun: "All" };

  const made = await bench.ask("create", MAPS, { ...ns, query, body: configMap("a") });
  const missing = await bench.ask("get", MAPS, a);
  await bench.must("create", MAPS, { ...ns, body: configMap("a") });
  const patched = await bench.patch(MAPS, { ...a, query, body: { data: { k: "v" } } });
  const deleted = await bench.ask("delete", MAPS, { ...a, query });
  const odd = await bench.ask("create", MAPS, { ...ns, query: { dryRun: "Some" }, body: configMap("b") });

  assert.equal(made.code, 201);
  assert.equal(missing.code, 404);
  assert.deepEqual((patched.body as ApiObject)["data"], { k: "v" });
  assert.equal(deleted.code, 200);
  assert.equal((await bench.must("get", MAPS, a))["data"], undefined);
  assert.equal(odd.code, 422);
  assert.equal(
    odd.body["message"],
    'CreateOptions.meta.k8s.io "" is invalid: dryRun: Unsupported value: ["Some"]: supported values: "All"',
  );
});

test("unknown fields are warned of, refused or dropped in silence", async () => {
  const bench = await withWidgets();
  const body = widget("a", { size: 1, more: { x: 1 } });

  const warned = await bench.ask("create", WIDGETS, { ...ns, body, query: { dryRun: "All" } });
  const strict = await bench.ask("create", WIDGETS, { ...ns, body, query: { fieldValidation: "Strict" } });
  const ignored = await bench.ask("create", WIDGETS, { ...ns, body, query: { fieldValidation: "Ignore" } });
  const patched = await bench.patch(WIDGETS, { ...a, body: { spec: { y: 1 } }, query: { fieldValidation: "Strict" } });

  assert.deepEqual(warned.headers, { Warning: '299 - "unknown field \\"spec.more\\""' });
  assert.deepEqual((warned.body as ApiObject)["spec"], { size: 1 });
  assert.equal(strict.code, 400);
  assert.equal(
    strict.body["message"],
    'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.more"',
  );
  assert.equal(ignored.headers, undefined);
  assert.equal(patched.code, 422);
  assert.match(
    String(patched.body["message"]),
    /^ "" is invalid: patch: Invalid value: .*strict decoding error: unknown field "spec.y"$/,
  );
});

test("a merge patch removes by null and keeps what it does not name", async () => {
  const bench = await withWidgets();
  const made = await bench.must("create", WIDGETS, { ...ns, body: widget("a", { size: 1, tags: ["x"] }) });

  const patched = await bench.patch(WIDGETS, {
    ...a,
    body: { metadata: { labels: { l: "1" } }, spec: { size: null } },
  });
  const stale = await bench.patch(WIDGETS, {
    ...a,
    body: { metadata: { resourceVersion: made.metadata.resourceVersion }, spec: { size: 5 } },
  });

  assert.deepEqual((patched.body as ApiObject)["spec"], { tags: ["x"] });
  assert.equal(stale.code, 409);
});

test("a JSON patch is applied whole or not at all", async () => {
  const bench = await withWidgets();
  await bench.must("create", WIDGETS, { ...ns, body: widget("a", { size: 1, tags: ["x"] }) });
  const contentType = "application/json-patch+json";

  const good = await bench.patch(WIDGETS, {
    ...a,
    contentType,
    body: [
      { op: "test", path: "/spec/size", value: 1 },
      { op: "add", path: "/spec/tags/-", value: "y" },
    ],
  });
  const failing = await bench.patch(WIDGETS, {
    ...a,
    contentType,
    body: [
      { op: "replace", path: "/spec/size", value: 7 },
      { op: "test", path: "/spec/size", value: 1 },
    ],
  });
  const noList = await bench.patch(WIDGETS, { ...a, contentType, body: {} });

  assert.deepEqual((good.body as ApiObject)["spec"], { size: 1, tags: ["x", "y"] });
  assert.equal(failing.code, 422);
  assert.equal(failing.body["reason"], "Invalid");
  assert.deepEqual((await bench.must("get", WIDGETS, a))["spec"], { size: 1, tags: ["x", "y"] });
  assert.equal(noList.code, 400);
});

test("unknown patch types are 415, strategic merge patch only for custom resources", async () => {
  const bench = await withWidgets();
  await bench.must("create", WIDGETS, { ...ns, body: widget("a", {}) });
  await bench.must("create", MAPS, { ...ns, body: configMap("a") });
  const contentType = "application/strategic-merge-patch+json";

  const custom = await bench.patch(WIDGETS, { ...a, contentType, body: {} });
  const builtIn = await bench.patch(MAPS, { ...a, contentType, body: { data: { k: "v" } } });
  const other = await bench.patch(MAPS, { ...a, contentType: "text/plain", body: {} });
  const apply = await bench.patch(MAPS, { ...a, contentType: "application/apply-patch+yaml", body: {} });

  assert.equal(custom.code, 415);
  assert.equal(custom.body["reason"], "UnsupportedMediaType");
  assert.equal(builtIn.code, 200);
  assert.equal(other.code, 415);
  assert.equal(apply.code, 415);
});

test("a patch of what is not there is 404, a PUT of a Lease makes it", async () => {
  const bench = new Bench();
  const leases = "coordination.k8s.io/v1/leases";

  const patched = await bench.patch(leases, { ...a, body: { spec: {} } });
  const put = await bench.ask("update", leases, {
    ...a,
    body: { metadata: { name: "a" }, spec: { holderIdentity: "me" } },
  });
  const map = await bench.ask("update", MAPS, { ...a, body: configMap("a") });

  assert.equal(patched.code, 404);
  assert.equal(put.code, 201);
  assert.equal(map.code, 404);
});

test("a request whose time is over writes nothing", async () => {
  const bench = new Bench();

  const reply = await bench.ask("create", MAPS, { ...ns, body: configMap("a"), signal: AbortSignal.abort() });

  assert.equal(reply.code, 504);
  assert.equal(reply.body["reason"], "Timeout");
  assert.equal((await bench.ask("get", MAPS, a)).code, 404);
});

test("input is not changed, and stored objects are not shared with who wrote them", async () => {
  const bench = await withWidgets();
  const body = widget("a", { size: 1, tags: ["x"], more: true });
  const before = structuredClone(body);

  await bench.must("create", WIDGETS, { ...ns, body });
  assert.deepEqual(body, before);

  (body["spec"] as { tags: string[] }).tags.push("y");
  assert.deepEqual((await bench.must("get", WIDGETS, a))["spec"], { size: 1, tags: ["x"] });
});

test("paths that are not served are 404, and verbs that a path does not know 405", async () => {
  const bench = new Bench();

  assert.equal((await bench.ask("list", "example.com/v1/widgets", ns)).code, 404);
  assert.equal((await bench.ask("create", MAPS, { body: configMap("a") })).code, 405);
  assert.equal((await bench.ask("list", "v1/namespaces", ns)).code, 404);
});

function sequence(values: readonly number[]): () => number {
  let i = 0;
  return () => values[i++ % values.length] ?? 0;
}
