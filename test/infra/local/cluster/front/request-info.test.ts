import assert from "node:assert/strict";
import { test } from "node:test";
import { parseRequest } from "../../../../../infra/local/cluster/front/request-info.ts";

const GIVEN = ["kind", "path", "query"];

function resource(method: string, target: string): Record<string, unknown> {
  const info = parseRequest(method, target);
  assert.equal(info.kind, "resource");
  const fields = Object.entries(info).filter(([key, value]) => value !== undefined && !GIVEN.includes(key));
  return Object.fromEntries(fields);
}

test("a namespaced object of a named group", () => {
  assert.deepEqual(
    resource("PATCH", "/apis/multicluster.crd.antrea.io/v1alpha1/namespaces/ns/memberclusterannounces/a"),
    {
      verb: "patch",
      group: "multicluster.crd.antrea.io",
      version: "v1alpha1",
      resource: "memberclusterannounces",
      namespace: "ns",
      name: "a",
      pathName: "a",
      pathNamespace: "ns",
    },
  );
});

test("a collection is listed, watched, created in and deleted", () => {
  assert.equal(resource("GET", "/api/v1/pods")["verb"], "list");
  assert.equal(resource("GET", "/api/v1/pods?watch=true")["verb"], "watch");
  assert.equal(resource("GET", "/api/v1/pods?watch")["verb"], "watch");
  assert.equal(resource("GET", "/api/v1/pods?watch=false")["verb"], "list");
  assert.equal(resource("POST", "/api/v1/namespaces/a/pods")["verb"], "create");
  assert.equal(resource("DELETE", "/api/v1/namespaces/a/pods")["verb"], "deletecollection");
});

test("a Namespace counts to itself for authorisation, and its own subresources are not resources in it", () => {
  const status = resource("PUT", "/api/v1/namespaces/a/status");

  assert.deepEqual(status, {
    verb: "update",
    group: "",
    version: "v1",
    resource: "namespaces",
    subresource: "status",
    namespace: "a",
    name: "a",
    pathName: "a",
  });
});

test("a list that a field selector limits to one name is authorised under that name", () => {
  const info = resource("GET", "/api/v1/namespaces/a/secrets?watch=1&fieldSelector=metadata.name%3Dtoken");

  assert.equal(info["name"], "token");
  assert.equal(info["pathName"], undefined);
});

test("an escaped name is read as it is meant", () => {
  assert.equal(resource("GET", "/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Aa")["name"], "system:a");
});

test("methods without a verb are refused", () => {
  for (const [method, path] of [
    ["POST", "/api/v1/namespaces/a/pods/b"],
    ["PUT", "/api/v1/namespaces/a/pods"],
    ["PATCH", "/api/v1/pods"],
    ["OPTIONS", "/api/v1/pods"],
  ] as const) {
    assert.equal(parseRequest(method, path).kind, "methodNotAllowed", `${method} ${path}`);
  }
});

test("discovery, health and unknown paths are not about resources", () => {
  for (const path of ["/", "/api", "/api/v1", "/apis", "/apis/apps", "/apis/apps/v1", "/livez/ping", "/metrics"]) {
    const info = parseRequest("GET", path);
    assert.equal(info.kind, "nonResource", path);
    assert.equal(info.path, path);
  }
});
