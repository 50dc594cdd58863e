import assert from "node:assert/strict";
import { test } from "node:test";
import { paths } from "../../../../infra/local/leader/resources.ts";
import { AREA, LeaderUnderTest } from "./leader-under-test.ts";

/** The leader tries again by its own clock what met another's write. */
async function untilPassing(leader: LeaderUnderTest, condition: () => boolean): Promise<void> {
  while (!condition()) await leader.pass(1_000, 1_000);
}

const FINALIZER = "resourceexport.antrea.io/finalizer";

const exported = (cluster: string, kind: "Service" | "Endpoints", payload: object): object => ({
  apiVersion: "multicluster.crd.antrea.io/v1alpha1",
  kind: "ResourceExport",
  metadata: { name: `${cluster}-shop-web-${kind.toLowerCase()}`, namespace: AREA, finalizers: [FINALIZER] },
  spec: { clusterID: cluster, kind, namespace: "shop", name: "web", ...payload },
});
const service = (cluster: string, port: number): object =>
  exported(cluster, "Service", { service: { serviceSpec: { ports: [{ port, protocol: "TCP" }] } } });

test("an export becomes an import and is told so, and one that does not fit is told why", {
  timeout: 20_000,
}, async (t) => {
  const leader = await LeaderUnderTest.prepare(t, "east", "west");
  await leader.start();

  await (await leader.as("east")).request("POST", paths.exports(AREA), service("east", 80));
  await untilPassing(leader, () => leader.read("resourceimports", "shop-web-service") !== undefined);
  await (await leader.as("west")).request("POST", paths.exports(AREA), service("west", 81));
  const conditionOf = (cluster: string): unknown => {
    const status = leader.read("resourceexports", `${cluster}-shop-web-service`)?.["status"];
    return (status as { conditions?: { type: string; reason?: string }[] } | undefined)?.conditions?.[0];
  };
  await untilPassing(leader, () => conditionOf("west") !== undefined);

  assert.partialDeepStrictEqual(conditionOf("east"), { type: "Succeeded", status: "True" });
  assert.partialDeepStrictEqual(conditionOf("west"), {
    type: "Failure",
    status: "False",
    reason: "ConvergeFailure",
    message: "ResourceExport can't be converged to ResourceImport",
  });
});

test("an administrator's list of clusters stays when the import changes, and the import says who contributed", {
  timeout: 20_000,
}, async (t) => {
  const leader = await LeaderUnderTest.prepare(t, "east");
  await leader.start();
  const east = await leader.as("east");
  await east.request("POST", paths.exports(AREA), service("east", 80));
  await untilPassing(leader, () => leader.read("resourceimports", "shop-web-service") !== undefined);
  const path = `${paths.imports(AREA)}/shop-web-service`;
  const admin = await leader.as();
  await admin.request("PATCH", path, { spec: { clusterID: ["west"] } }, "application/merge-patch+json");

  const patch = { spec: { service: { serviceSpec: { ports: [{ port: 82, protocol: "TCP" }] } } } };
  const exportPath = `${paths.exports(AREA)}/east-shop-web-service`;
  await east.request("PATCH", exportPath, patch, "application/merge-patch+json");
  const read = (): Record<string, unknown> | undefined => leader.read("resourceimports", "shop-web-service");
  await untilPassing(leader, () => read()?.["status"] !== undefined);

  assert.partialDeepStrictEqual(read()?.["spec"], {
    clusterID: ["west"],
    serviceImport: { spec: { ports: [{ port: 82 }] } },
  });
  assert.partialDeepStrictEqual(read()?.["status"], {
    clusterStatuses: [{ clusterID: "east", conditions: [{ type: "Succeeded", message: "update is successful" }] }],
  });
});

test("a deleted export goes when its import has gone", { timeout: 20_000 }, async (t) => {
  const leader = await LeaderUnderTest.prepare(t, "east");
  await leader.start();
  const east = await leader.as("east");
  await east.request("POST", paths.exports(AREA), service("east", 80));
  await untilPassing(leader, () => leader.read("resourceimports", "shop-web-service") !== undefined);

  await east.request("DELETE", `${paths.exports(AREA)}/east-shop-web-service`);
  await untilPassing(leader, () => leader.read("resourceexports", "east-shop-web-service") === undefined);

  assert.equal(leader.read("resourceimports", "shop-web-service"), undefined);
});
