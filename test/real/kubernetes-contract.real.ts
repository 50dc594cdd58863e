import { kubernetesContract } from "../contract/kubernetes/kubernetes-contract.ts";
import { clustersUnderTest } from "./clusters-under-test.ts";

kubernetesContract("real", async () => {
  const clusters = clustersUnderTest();
  const { contract, compact } = clusters;
  return {
    name: contract.name,
    kubeconfig: contract.adminKubeconfig(),
    ...(compact === undefined ? {} : { compact }),
    // The API servers that run for these tests are on this machine.
    reachesUs: ["127.0.0.1", "localhost"].includes(new URL(contract.url).hostname),
    stop: () => clusters.close(),
  };
});
