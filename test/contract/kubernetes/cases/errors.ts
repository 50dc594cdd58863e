import assert from "node:assert/strict";
import { test } from "node:test";
import type { Area } from "../contract-cluster.ts";

/** How refusals look: meta/v1 Status. */
export function errorCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;

  test("an object that is not there: 404, NotFound, its name and kind", async () => {
    const answer = await area().admin.request("GET", `${configMaps()}/absent`);

    assert.equal(answer.code, 404);
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
  });
}
