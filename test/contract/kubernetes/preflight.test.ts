import assert from "node:assert/strict";
import { test } from "node:test";
import { startSimulatedCluster } from "../../../infra/local/cluster/simulated-cluster.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { assertAdministrator } from "./preflight.ts";

test("who is no administrator, not known, or asks nobody, is told so at once", async (t) => {
  const cluster = await startSimulatedCluster({ name: "asked", clock: new FakeClock(), random: seededRandom(1) });
  t.after(() => cluster.stop());
  const account = await cluster.kubeconfigFor({ serviceAccount: { namespace: "default", name: "default" } });
  const stranger = await cluster.kubeconfigFor({ user: "stranger", token: "a-secret" });
  const nowhere = cluster.adminKubeconfig().replace(/127\.0\.0\.1:\d+/, "127.0.0.1:1");
  const refused = async (kubeconfig: string, words: RegExp): Promise<void> =>
    await assert.rejects(assertAdministrator(kubeconfig), (error: Error) => {
      assert.match(error.message, words);
      assert.doesNotMatch(error.message, /a-secret/);
      return true;
    });

  await assertAdministrator(cluster.adminKubeconfig());
  await refused(account, /does not let this user do everything/);
  await refused(stranger, /does not know the credential \(401\)/);
  await refused(nowhere, /cannot be asked: .*ECONNREFUSED/);
});
