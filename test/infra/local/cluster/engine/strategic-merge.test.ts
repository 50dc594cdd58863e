import assert from "node:assert/strict";
import { test } from "node:test";
import { applyStrategicMergePatch } from "../../../../../infra/local/cluster/engine/strategic-merge.ts";

const service = {
  metadata: { finalizers: ["a/b"], labels: { x: "1", y: "2" } },
  spec: {
    ports: [
      { port: 80, name: "http" },
      { port: 443, name: "https" },
    ],
    externalIPs: ["10.0.0.1"],
  },
};

test("lists with a merge key are merged by it, others replaced", () => {
  const patch = { spec: { ports: [{ port: 443, targetPort: 8443 }, { port: 81 }], externalIPs: ["10.0.0.2"] } };

  const merged = applyStrategicMergePatch(service, patch);

  assert.deepEqual(merged["spec"], {
    ports: [{ port: 80, name: "http" }, { port: 443, name: "https", targetPort: 8443 }, { port: 81 }],
    externalIPs: ["10.0.0.2"],
  });
});

test("directives delete and replace", () => {
  const removed = applyStrategicMergePatch(service, { spec: { ports: [{ $patch: "delete", port: 80 }] } });
  const replaced = applyStrategicMergePatch(service, { spec: { ports: [{ port: 1 }, { $patch: "replace" }] } });
  const map = applyStrategicMergePatch(service, { metadata: { labels: { $patch: "replace", z: "3" } } });
  const finalizers = applyStrategicMergePatch(service, {
    metadata: { "$deleteFromPrimitiveList/finalizers": ["a/b"] },
  });

  assert.deepEqual(removed["spec"], { ports: [{ port: 443, name: "https" }], externalIPs: ["10.0.0.1"] });
  assert.deepEqual(replaced["spec"], { ports: [{ port: 1 }], externalIPs: ["10.0.0.1"] });
  assert.deepEqual(map["metadata"], { finalizers: ["a/b"], labels: { z: "3" } });
  assert.deepEqual(finalizers["metadata"], { finalizers: [], labels: { x: "1", y: "2" } });
});

test("null removes a field, finalizers are joined, and the old object stays as it was", () => {
  const before = structuredClone(service);

  const merged = applyStrategicMergePatch(service, { metadata: { labels: { x: null }, finalizers: ["c/d"] } });

  assert.deepEqual(merged["metadata"], { finalizers: ["a/b", "c/d"], labels: { y: "2" } });
  assert.deepEqual(service, before);
});
