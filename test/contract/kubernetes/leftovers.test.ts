import assert from "node:assert/strict";
import { test } from "node:test";
import { startSimulatedCluster } from "../../../infra/local/cluster/simulated-cluster.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { ContractClient } from "./contract-client.ts";
import { deleteLeftovers } from "./leftovers.ts";

test("what runs that were cut off have left is deleted, and nothing else", async (t) => {
  const cluster = await startSimulatedCluster({ name: "left", clock: new FakeClock(), random: seededRandom(1) });
  t.after(() => cluster.stop());
  const admin = ContractClient.of(cluster.adminKubeconfig());
  t.after(() => admin.close());
  const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  for (const name of ["contract-0a1b2c3d", "contract-0a1b2c3d-new", "contract-work", "my-contract-0a1b2c3d"]) {
    await admin.must("POST", "/api/v1/namespaces", { metadata: { name } });
    await admin.must("POST", roles, { metadata: { name } });
  }

  const deleted = await deleteLeftovers(cluster.adminKubeconfig());

  assert.deepEqual(
    deleted,
    [roles, "/api/v1/namespaces"].flatMap((place) => [`${place}/contract-0a1b2c3d`, `${place}/contract-0a1b2c3d-new`]),
  );
});
