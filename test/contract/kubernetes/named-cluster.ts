import { readFileSync } from "node:fs";
import { compactEtcd } from "../../../infra/local/control-plane/etcd.ts";
import type { ContractCluster } from "./contract-cluster.ts";

/** Names the file that says which API server to hold the contract against. */
export const CONTRACT_CLUSTER = "HAWSER_CONTRACT_CLUSTER";

/** That file's content. */
export interface ContractClusterFile {
  readonly name: string;
  readonly kubeconfig: string;
  /** URL of the etcd below it, where it is ours to compact. */
  readonly etcd?: string;
  readonly reachesUs: boolean;
}

/** @throws where no cluster is named */
export function namedCluster(): ContractCluster {
  const file = process.env[CONTRACT_CLUSTER];
  if (file === undefined) throw new Error(`${CONTRACT_CLUSTER} is not set: run this by "npm run test:contract"`);
  const { etcd, ...cluster } = JSON.parse(readFileSync(file, "utf8")) as ContractClusterFile;
  return {
    ...cluster,
    ...(etcd === undefined ? {} : { compact: () => compactEtcd(etcd) }),
    stop: async () => {},
  };
}
