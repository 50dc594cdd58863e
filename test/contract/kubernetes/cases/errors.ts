import assert from "node:assert/strict";
import { test } from "node:test";
import { assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";

const NO_SUCH_RESOURCE = {
  code: 404,
  reason: "NotFound",
  message: "the server could not find the requested resource",
  details: {},
};

/** What is wrong with a request is told by a Status (meta/v1): code, reason, message and details. */
export function errorCases(area: () => Area): void {
  const place = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const named = (name: string): object => ({ metadata: { name } });

  test("an object that is not there: 404, with its name and resource", async () => {
    for (const method of ["GET", "DELETE"]) {
      const answer = await area().admin.request(method, `${place()}/absent`);

      assert.deepEqual(answer.json, {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message: 'configmaps "absent" not found',
        reason: "NotFound",
        details: { name: "absent", kind: "configmaps" },
        code: 404,
      });
    }
  });

  test("an object of a named group that is not there: the details name the group", async () => {
    const { admin, namespace } = area();

    const answer = await admin.request("GET", `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/absent`);

    const details = { name: "absent", group: "coordination.k8s.io", kind: "leases" };
    const message = 'leases.coordination.k8s.io "absent" not found';
    assertStatus(answer, { code: 404, reason: "NotFound", message, details });
  });

  test("a resource that is not served: 404 without a name", async () => {
    const { admin, namespace } = area();
    const paths = [
      `/api/v1/namespaces/${namespace}/nonsense`,
      "/api/v1/nonsense",
      `/api/v1/namespaces/${namespace}/namespaces`,
      "/apis/coordination.k8s.io/v9/leases",
      "/api/v2",
      `${place()}/some%2Fname`,
    ];

    for (const path of paths) assertStatus(await admin.request("GET", path), NO_SUCH_RESOURCE);
  });

  test("a group that is not served, and any other path: 404 in plain text", async () => {
    for (const path of ["/apis/nonsense.hawser.test/v1/things", "/nonsense"]) {
      const answer = await area().admin.request("GET", path);

      assert.equal(answer.code, 404);
      assert.match(String(answer.headers["content-type"]), /^text\/plain/);
      assert.equal(answer.text.trim(), "404 page not found");
    }
  });

  test("an unknown subresource: 404", async () => {
    const { admin } = area();
    await admin.must("POST", place(), named("has-no-status"));

    assertStatus(await admin.request("GET", `${place()}/has-no-status/status`), NO_SUCH_RESOURCE);
  });

  test("a Namespace that is not there: its lists are empty, and nothing can be made in it", async () => {
    const { admin, token } = area();
    const absent = `/api/v1/namespaces/absent-${token}/configmaps`;

    const list = await admin.request("GET", absent);
    const made = await admin.request("POST", absent, { body: named("a") });

    assert.deepEqual([list.code, list.json.items], [200, []]);
    const details = { name: `absent-${token}`, kind: "namespaces" };
    const message = `namespaces "absent-${token}" not found`;
    assertStatus(made, { code: 404, reason: "NotFound", message, details });
  });

  test("a method that the resource has not: 405", async () => {
    const { admin } = area();
    const requests = [
      ["PUT", place()],
      ["PATCH", place()],
      ["POST", `${place()}/a`],
      ["HEAD", place()],
      ["POST", "/api/v1/configmaps"],
    ] as const;

    for (const [method, path] of requests) {
      const contentType = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const ask = method === "HEAD" ? {} : { body: named("a"), contentType };
      const answer = await admin.request(method, path, ask);

      assert.equal(answer.code, 405, `${method} ${path}: ${answer.text}`);
      const message = "the server does not allow this method on the requested resource";
      if (method !== "HEAD") assertStatus(answer, { code: 405, reason: "MethodNotAllowed", message });
    }
  });

  test("an object of that name: 409 AlreadyExists", async () => {
    const { admin } = area();
    await admin.must("POST", place(), named("twice"));

    const answer = await admin.request("POST", place(), { body: named("twice") });

    const details = { name: "twice", kind: "configmaps" };
    assertStatus(answer, { code: 409, reason: "AlreadyExists", message: 'configmaps "twice" already exists', details });
  });

  test("a body that is no JSON, or no object: 400", async () => {
    for (const body of ["{", "", "[]", '"text"']) {
      const answer = await area().admin.request("POST", place(), { body });

      assertStatus(answer, { code: 400, reason: "BadRequest" });
    }
  });

  test("a body of another kind or version: 400, and it says which", async () => {
    const { admin } = area();
    const send = async (apiVersion: string, kind: string) =>
      await admin.request("POST", place(), { body: { apiVersion, kind, ...named("other") } });

    const kind = await send("v1", "Secret");
    const version = await send("v2", "ConfigMap");

    assertStatus(kind, { code: 400, reason: "BadRequest", message: /Secret.*ConfigMap/ });
    assertStatus(version, {
      code: 400,
      reason: "BadRequest",
      message: /^ConfigMap in version "v2" cannot be handled as a ConfigMap: no kind "ConfigMap" is registered/,
    });
  });

  test("a field of another type: 400, and it says which", async () => {
    const prefix = 'ConfigMap in version "v1" cannot be handled as a ConfigMap: json: cannot unmarshal ';
    const bodies = [
      [{ ...named("typed"), data: { k: 1 } }, `${prefix}number into Go struct field ConfigMap.data of type string`],
      [{ ...named("typed"), data: [] }, `${prefix}array into Go struct field ConfigMap.data of type map[string]string`],
      [{ metadata: { name: true } }, `${prefix}bool into Go struct field ObjectMeta.metadata.name of type string`],
    ] as const;

    for (const [body, message] of bodies) {
      const answer = await area().admin.request("POST", place(), { body });

      assertStatus(answer, { code: 400, reason: "BadRequest", message });
    }
  });

  test("a time that is none: 400", async () => {
    const body = { metadata: { name: "time", creationTimestamp: "yesterday" } };

    const answer = await area().admin.request("POST", place(), { body });

    assertStatus(answer, { code: 400, reason: "BadRequest", message: /parsing time "yesterday" as/ });
  });

  test("a name or Namespace that is not the path's: 400", async () => {
    const { admin, namespace } = area();
    await admin.must("POST", place(), named("path"));

    const otherName = await admin.request("PUT", `${place()}/path`, { body: named("body") });
    const otherNamespace = await admin.request("POST", place(), {
      body: { metadata: { name: "b", namespace: "other" } },
    });

    const name = "the name of the object (body) does not match the name on the URL (path)";
    assertStatus(otherName, { code: 400, reason: "BadRequest", message: name });
    const message = `the namespace of the provided object does not match the namespace sent on the request`;
    assertStatus(otherNamespace, { code: 400, reason: "BadRequest", message });
    assert.notEqual(namespace, "other");
  });

  test("values that are not valid: 422, a cause for each field", async () => {
    const { admin } = area();
    const refused = async (metadata: object, more: object = {}) =>
      await admin.request("POST", place(), { body: { metadata, ...more } });
    const causes = (field: string, reason: string) => ({
      code: 422,
      reason: "Invalid",
      details: { kind: "ConfigMap", causes: [{ field, reason }] },
    });

    assertStatus(await refused({ name: "A_b" }), causes("metadata.name", "FieldValueInvalid"));
    assertStatus(await refused({ name: "x".repeat(254) }), causes("metadata.name", "FieldValueInvalid"));
    assertStatus(await refused({ name: "l", labels: { "a b": "c" } }), causes("metadata.labels", "FieldValueInvalid"));
    assertStatus(await refused({ name: "l", labels: { a: "-b-" } }), causes("metadata.labels", "FieldValueInvalid"));
    const annotated = await refused({ name: "l", annotations: { "a b": "c" } });
    assertStatus(annotated, causes("metadata.annotations", "FieldValueInvalid"));
    const unqualified = await refused({ name: "l", finalizers: ["nodomain"] });
    assertStatus(unqualified, causes("metadata.finalizers[0]", "FieldValueInvalid"));
    assertStatus(await refused({ name: "l" }, { data: { "k y": "x" } }), causes("data[k y]", "FieldValueInvalid"));
    const big = await refused({ name: "l" }, { data: { k: "x".repeat(1_100_000) } });
    assertStatus(big, causes("[]", "FieldValueTooLong"));
  });

  test("the message of one cause is kind, name, field and what is wrong", async () => {
    const answer = await area().admin.request("POST", place(), { body: { metadata: { name: "A_b" } } });

    const subdomain =
      "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start " +
      "and end with an alphanumeric character (e.g. 'example.com', regex used for validation is " +
      "'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
    const message = `ConfigMap "A_b" is invalid: metadata.name: Invalid value: "A_b": ${subdomain}`;
    assertStatus(answer, { code: 422, reason: "Invalid", message, details: { name: "A_b", kind: "ConfigMap" } });
  });

  test("a name that is missing: 422; a generated one is made of the prefix and five characters", async () => {
    const { admin } = area();

    const nameless = await admin.request("POST", place(), { body: { metadata: {} } });
    const generated = await admin.must("POST", place(), { metadata: { generateName: "some-" } });

    const message = 'ConfigMap "" is invalid: metadata.name: Required value: name or generateName is required';
    assertStatus(nameless, { code: 422, reason: "Invalid", message });
    assert.match(generated.metadata.name, /^some-[bcdfghjklmnpqrstvwxz2456789]{5}$/);
  });

  test("a body of a media type that is not known: 415", async () => {
    const { admin } = area();
    await admin.must("POST", place(), named("media"));

    const post = await admin.request("POST", place(), { body: "x", contentType: "text/plain" });
    const patch = await admin.request("PATCH", `${place()}/media`, { body: {}, contentType: "application/json" });

    const known = "application/json, application/yaml, application/vnd.kubernetes.protobuf";
    const message = `the body of the request was in an unknown format - accepted media types include: ${known}`;
    assertStatus(post, { code: 415, reason: "UnsupportedMediaType", message });
    assertStatus(patch, { code: 415, reason: "UnsupportedMediaType", message: "415: Unsupported Media Type" });
  });

  test("an answer in a form that the server does not have: 406", async () => {
    const answer = await area().admin.request("GET", place(), { headers: { accept: "text/html" } });

    assertStatus(answer, { code: 406, reason: "NotAcceptable", message: /^406: Not Acceptable/ });
  });

  test("JSON is sent where it stands first, and where anything will do", async () => {
    for (const accept of [
      "application/json",
      "*/*",
      "application/json, */*",
      "application/json;q=0.9, text/html;q=0.1",
    ]) {
      const answer = await area().admin.request("GET", place(), { headers: { accept } });

      assert.equal(answer.code, 200, accept);
      assert.equal(answer.headers["content-type"], "application/json", accept);
    }
  });

  test("a YAML body is taken", async () => {
    const body = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: yaml\ndata:\n  k: v\n";

    const answer = await area().admin.request("POST", place(), { body, contentType: "application/yaml" });

    assert.equal(answer.code, 201, answer.text);
    assert.deepEqual(answer.json["data"], { k: "v" });
  });

  test("unknown fields: refused by Strict, told by Warn, dropped by Ignore", async () => {
    const { admin } = area();
    const make = async (validation: string) => {
      const body = { ...named(validation.toLowerCase()), unknown: 1 };
      return await admin.request("POST", `${place()}?fieldValidation=${validation}`, { body });
    };

    const [strict, warn, ignore] = [await make("Strict"), await make("Warn"), await make("Ignore")];

    const message =
      'ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "unknown"';
    assertStatus(strict, { code: 400, reason: "BadRequest", message });
    assert.deepEqual([warn.code, warn.headers["warning"]], [201, '299 - "unknown field \\"unknown\\""']);
    assert.deepEqual([ignore.code, ignore.headers["warning"]], [201, undefined]);
    assert.equal("unknown" in ignore.json, false);
  });

  test("a dry run is validated and answered like a real one, and nothing is stored", async () => {
    const { admin } = area();

    const made = await admin.request("POST", `${place()}?dryRun=All`, { body: named("dry") });
    const invalid = await admin.request("POST", `${place()}?dryRun=All`, { body: named("A_b") });
    const unknown = await admin.request("POST", `${place()}?dryRun=Some`, { body: named("dry") });

    assert.equal(made.code, 201);
    assert.equal(typeof made.json.metadata.uid, "string");
    assert.equal((await admin.request("GET", `${place()}/dry`)).code, 404);
    assertStatus(invalid, { code: 422, reason: "Invalid" });
    assertStatus(unknown, { code: 422, reason: "Invalid" });
  });

  test("a body of over 3 MiB: 413", async () => {
    const body = { ...named("big"), data: { k: "x".repeat(3_200_000) } };

    const answer = await area().admin.request("POST", place(), { body });

    assertStatus(answer, { code: 413, reason: "RequestEntityTooLarge", message: /limit is 3145728/ });
  });

  test("an owner without UID: 422", async () => {
    const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner" }];

    const answer = await area().admin.request("POST", place(), {
      body: { metadata: { name: "owned", ownerReferences } },
    });

    assertStatus(answer, { code: 422, reason: "Invalid", message: /metadata\.ownerReferences(\[0\])?\.uid: / });
  });
}
