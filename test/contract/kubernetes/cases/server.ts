import assert from "node:assert/strict";
import { test } from "node:test";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { definitionOf, serve } from "../custom-definition.ts";
import { accountOf } from "../identity.ts";

/** What the server says of itself. */
export function serverCases(area: () => Area): void {
  test("health is told in plain text, in parts where it is asked for", async () => {
    const { admin } = area();

    for (const path of ["/livez", "/readyz", "/healthz", "/livez/ping", "/readyz/ping"]) {
      const answer = await admin.request("GET", path);
      assert.deepEqual([answer.code, answer.text], [200, "ok"], path);
      assert.match(String(answer.headers["content-type"]), /^text\/plain/);
    }
    const verbose = await admin.request("GET", "/livez?verbose");
    assert.match(verbose.text, /^\[\+\]ping ok\n[^]*livez check passed\n$/);
    assert.equal((await admin.request("GET", "/livez/no-such-check")).code, 404);
  });

  test("anybody who is known may ask for health, version and discovery", async (t) => {
    const { client } = await accountOf(t, area(), "anybody");

    for (const path of ["/livez", "/readyz", "/healthz", "/version", "/api", "/apis", "/api/v1"]) {
      assert.equal((await client.request("GET", path)).code, 200, path);
    }
  });

  test("the version is that of Kubernetes", async () => {
    const { json } = await area().admin.request("GET", "/version");

    assert.match(String(json["gitVersion"]), /^v1\.\d+\.\d+/);
    assert.equal(json["major"], "1");
    assert.match(String(json["minor"]), /^\d+\+?$/);
    assert.equal(typeof json["platform"], "string");
  });

  test("each answer carries the server's time", async () => {
    const { headers } = await area().admin.request("GET", "/version");

    assert.ok(Math.abs(Date.parse(String(headers["date"])) - Date.now()) < 5_000, String(headers["date"]));
  });

  test("discovery: groups, versions and resources, with what they are called and what can be done", async () => {
    const { admin } = area();

    assertHas((await admin.request("GET", "/api")).json, { kind: "APIVersions", versions: ["v1"] });
    assertHas((await admin.request("GET", "/apis/coordination.k8s.io")).json, {
      kind: "APIGroup",
      apiVersion: "v1",
      name: "coordination.k8s.io",
      preferredVersion: { groupVersion: "coordination.k8s.io/v1", version: "v1" },
    });
    const { json } = await admin.request("GET", "/api/v1");
    assertHas(json, { kind: "APIResourceList", groupVersion: "v1" });
    const resources = json["resources"] as { name: string }[];
    assertHas(
      resources.find(({ name }) => name === "configmaps"),
      { name: "configmaps", singularName: "configmap", namespaced: true, kind: "ConfigMap", shortNames: ["cm"] },
    );
    const sub = resources.find(({ name }) => name === "serviceaccounts/token");
    assertHas(sub, { kind: "TokenRequest", group: "authentication.k8s.io", version: "v1", verbs: ["create"] });
  });

  test("custom resources are discovered with their definition", async (t) => {
    const { admin } = area();
    const { group, plural, kind } = await serve(t, area(), definitionOf(area(), { kind: "Found", status: true }));

    const { json } = await admin.request("GET", `/apis/${group}/v1`);

    const resources = json["resources"] as { name: string; verbs: string[] }[];
    assertHas(
      resources.find(({ name }) => name === plural),
      { singularName: kind.toLowerCase(), namespaced: true, kind },
    );
    const names = resources.map(({ name }) => name);
    assert.ok(names.includes(`${plural}/status`), names.join(" "));
  });

  test("a request's own time limit: 504 Timeout when it is over, 400 when it is none", async () => {
    const { admin } = area();

    const none = await admin.request("GET", "/api/v1/namespaces?timeout=abc");
    const long = await admin.request("GET", "/api/v1/namespaces?timeout=20s");

    assertStatus(none, { code: 400, reason: "BadRequest", message: /^invalid timeout specified in the request URL/ });
    assert.equal(long.code, 200);
  });
}
