import assert from "node:assert/strict";
import { test } from "node:test";
import { assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { definitionOf, serve } from "../custom-definition.ts";

/** Label and field selectors, to their grammar's edges. */
export function selectorCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const ask = async (path: string, kind: "label" | "field", selector: string) =>
    await area().admin.request("GET", `${path}?${kind}Selector=${encodeURIComponent(selector)}`);
  const names = async (path: string, kind: "label" | "field", selector: string): Promise<string[]> => {
    const answer = await ask(path, kind, selector);
    assert.equal(answer.code, 200, `${selector}: ${answer.text}`);
    return (answer.json.items ?? []).map((item) => item.metadata.name).toSorted();
  };
  const make = async (path: string, name: string, content: object, labels: object = {}) =>
    await area().admin.must("POST", path, { metadata: { name, labels }, ...content });

  test("spaces, empty values, numbers and prefixes in label selectors", async () => {
    const labels = { "a.example.com/key": "x", empty: "", size: "10" };
    await make(configMaps(), "edge-1", {}, { edge: "1", ...labels });
    await make(configMaps(), "edge-2", {}, { edge: "2" });
    const select = async (selector: string) => await names(configMaps(), "label", `edge,${selector}`);

    assert.deepEqual(await select(" a.example.com/key = x "), ["edge-1"]);
    assert.deepEqual(await select("empty="), ["edge-1"]);
    assert.deepEqual(await select("empty in (,x)"), ["edge-1"]);
    assert.deepEqual(await select("size>9"), ["edge-1"]);
    assert.deepEqual(await select("size<9"), []);
    assert.deepEqual(await select("edge notin(1,3)"), ["edge-2"]);
    assert.deepEqual(await select("! empty"), ["edge-2"]);
    assert.deepEqual(await select("edge in (1,2),edge!=1"), ["edge-2"]);
  });

  test("a label selector that cannot be read: 400, with the place where it stops to be one", async () => {
    const refused = async (selector: string, message: string) =>
      assertStatus(await ask(configMaps(), "label", selector), { code: 400, reason: "BadRequest", message });

    await refused("a=b,", "found '', expected: identifier after ','");
    await refused("a,,b", "found ',', expected: identifier after ','");
    await refused("a=b c", "found 'c', expected: ',' or 'end of string'");
    await refused("=a", "found '=', expected: !, identifier, or 'end of string'");
    await refused("a===b", "unable to parse requirement: found '=', expected: identifier");
    await refused("a in b", "unable to parse requirement: found 'b' expected: '('");
    await refused("a in (b", "unable to parse requirement: found '', expected: ',' or ')'");
  });

  test("a key or value that is no label: 400", async () => {
    for (const selector of ["-a", "a/b/c", `a=${"x".repeat(64)}`, "a=b/c"]) {
      const answer = await ask(configMaps(), "label", selector);

      assertStatus(answer, {
        code: 400,
        reason: "BadRequest",
        message: /^unable to parse requirement: .*Invalid value/,
      });
    }
  });

  test("field selectors: equals signs and commas in values are escaped", async () => {
    assert.deepEqual(await names(configMaps(), "field", "metadata.name=a\\,b"), []);
    const unescaped = await ask(configMaps(), "field", "metadata.name=a=b");
    const bare = await ask(configMaps(), "field", "metadata.name");

    assertStatus(unescaped, {
      code: 400,
      reason: "BadRequest",
      message: /^invalid field selector: unescaped character in value/,
    });
    assertStatus(bare, {
      code: 400,
      reason: "BadRequest",
      message: "invalid selector: 'metadata.name'; can't understand 'metadata.name'",
    });
  });

  test("Events are selected by what they are about", async () => {
    const { namespace } = area();
    const events = `/api/v1/namespaces/${namespace}/events`;
    const about = { apiVersion: "v1", kind: "ConfigMap", name: "a", namespace, uid: "u-a", fieldPath: "data" };
    const source = { component: "hawser" };
    await make(events, "e-a", { involvedObject: about, reason: "First", type: "Warning", source });
    await make(events, "e-b", {
      involvedObject: { ...about, name: "b", uid: "u-b" },
      reason: "Second",
      type: "Normal",
    });

    assert.deepEqual(await names(events, "field", "involvedObject.name=a"), ["e-a"]);
    assert.deepEqual(await names(events, "field", "involvedObject.kind=ConfigMap,reason=Second"), ["e-b"]);
    assert.deepEqual(await names(events, "field", "involvedObject.uid=u-a,type=Warning"), ["e-a"]);
    assert.deepEqual(await names(events, "field", "source=hawser"), ["e-a"]);
    assertStatus(await ask(events, "field", "message=x"), {
      code: 400,
      reason: "BadRequest",
      message: "field label not supported: message",
    });
  });

  test("Namespaces, Secrets and Services are selected by fields of their own", async () => {
    const { namespace } = area();
    const [secrets, services] = ["secrets", "services"].map(
      (resource) => `/api/v1/namespaces/${namespace}/${resource}`,
    );
    await make(secrets ?? "", "opaque", {});
    await make(services ?? "", "headless", { spec: { clusterIP: "None", ports: [{ port: 80 }] } });
    await make(services ?? "", "usual", { spec: { ports: [{ port: 80 }] } });

    const active = `status.phase=Active,metadata.name=${namespace}`;
    assert.deepEqual(await names("/api/v1/namespaces", "field", active), [namespace]);
    assert.ok((await names(secrets ?? "", "field", "type=Opaque")).includes("opaque"));
    assert.equal((await names(secrets ?? "", "field", "type!=Opaque")).includes("opaque"), false);
    assert.deepEqual(await names(services ?? "", "field", "spec.clusterIP=None"), ["headless"]);
    assert.deepEqual(await names(services ?? "", "field", "spec.type=ClusterIP"), ["headless", "usual"]);
  });

  test("what has no fields of its own is selected by name and Namespace alone", async () => {
    const { namespace } = area();
    const leases = `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;

    for (const path of [leases, "/apis/rbac.authorization.k8s.io/v1/clusterroles"]) {
      assertStatus(await ask(path, "field", "spec.holderIdentity=a"), {
        code: 400,
        reason: "BadRequest",
        message: /"spec\.holderIdentity" is not a known field selector: only "metadata\.name", "metadata\.namespace"/,
      });
    }
  });

  test("custom resources: fields within fields, numbers and truth values can be selected by", async (t) => {
    const { admin } = area();
    const definition = definitionOf(area(), {
      kind: "Nested",
      properties: {
        spec: { type: "object", properties: { hub: { type: "string" }, rank: { type: "integer" } } },
        ready: { type: "boolean" },
      },
      version: { selectableFields: [{ jsonPath: ".spec.hub" }, { jsonPath: ".spec.rank" }, { jsonPath: ".ready" }] },
    });
    const { path, object } = await serve(t, area(), definition);
    await admin.must("POST", path(), object("n-a", { spec: { hub: "north", rank: 1 }, ready: true }));
    await admin.must("POST", path(), object("n-b", {}));

    assert.deepEqual(await names(path(), "field", "spec.hub=north"), ["n-a"]);
    assert.deepEqual(await names(path(), "field", "spec.rank=1,ready=true"), ["n-a"]);
    assert.deepEqual(await names(path(), "field", "spec.hub="), ["n-b"]);
    assert.deepEqual(await names(path(), "field", "spec.hub!=north"), ["n-b"]);
  });

  test("both selectors at once; a selector that cannot be read is looked at even where one object is asked for a delete", async () => {
    const { admin } = area();
    await make(configMaps(), "both-1", {}, { both: "yes" });
    await make(configMaps(), "both-2", {}, { both: "yes" });

    const list = await admin.must("GET", `${configMaps()}?labelSelector=both&fieldSelector=metadata.name%3Dboth-2`);
    const removal = await admin.request("DELETE", `${configMaps()}?labelSelector=a%20b`);

    assert.deepEqual(
      (list.items ?? []).map((item) => item.metadata.name),
      ["both-2"],
    );
    assertStatus(removal, { code: 400, reason: "BadRequest" });
    assert.equal((await admin.request("GET", `${configMaps()}/both-1`)).code, 200);
  });

  test("a selector may be long", async () => {
    await make(configMaps(), "long", {}, { long: "n4000" });
    const values = Array.from({ length: 5_000 }, (_, i) => `n${i}`).join(",");

    assert.deepEqual(await names(configMaps(), "label", `long in (${values})`), ["long"]);
  });
}
