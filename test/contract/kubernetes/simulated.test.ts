import { startSimulatedCluster } from "../../../infra/local/cluster/simulated-cluster.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { systemRandom } from "../../../lib/base/random.ts";
import { kubernetesContract } from "./kubernetes-contract.ts";

kubernetesContract("simulated", async () => {
  const cluster = await startSimulatedCluster({ name: "contract", clock: systemClock, random: systemRandom });
  return {
    name: "simulated",
    kubeconfig: cluster.adminKubeconfig(),
    compact: async () => cluster.engine.compact(),
    reachesUs: true,
    stop: () => cluster.stop(),
  };
});
