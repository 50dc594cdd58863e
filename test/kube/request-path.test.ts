import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { collectionPath, objectPath } from "../../lib/kube/request-path.ts";

const PODS = { group: "", version: "v1", resource: "pods" };
const LEASES = { group: "coordination.k8s.io", version: "v1", resource: "leases" };

test("builds the paths of the API", () => {
  assert.equal(collectionPath(PODS, undefined), "/api/v1/pods");
  assert.equal(objectPath(PODS, "n", "p"), "/api/v1/namespaces/n/pods/p");
  assert.equal(objectPath(LEASES, "n", "l", "status"), "/apis/coordination.k8s.io/v1/namespaces/n/leases/l/status");
  assert.equal(objectPath(PODS, undefined, "system:node"), "/api/v1/pods/system%3Anode");
});

test("no name leads out of its place in the path", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "grapheme" }), (namespace, name) => {
      const path = objectPath(PODS, namespace, name);
      if (path === undefined) return;
      const url = new URL(path, "https://h");
      assert.equal(url.pathname, path);
      assert.equal(url.search + url.hash, "");
      assert.match(path, /^\/api\/v1\/namespaces\/[^/]+\/pods\/[^/]+$/);
    }),
  );
});
