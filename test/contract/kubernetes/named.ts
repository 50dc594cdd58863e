// Holds the contract against the API server that `npm run test:contract` names.
import { kubernetesContract } from "./kubernetes-contract.ts";
import { namedCluster } from "./named-cluster.ts";

const cluster = namedCluster();
kubernetesContract(cluster.name, async () => cluster);
