import type { ContractClient } from "./contract-client.ts";

/** An API server that the contract is held against. */
export interface ContractCluster {
  /** Name, for the report. */
  readonly name: string;
  /** An administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** Makes the server forget all history up to now, as etcd's compaction does; absent where that is not ours to do. */
  readonly compact?: () => Promise<void>;
  /** Whether the server reaches this machine's 127.0.0.1, where the tests' webhooks listen. */
  readonly reachesUs: boolean;
  stop(): Promise<void>;
}

/** What the cases of one area get: the cluster, asked as its administrator, and a Namespace of their own. */
export interface Area {
  readonly cluster: ContractCluster;
  readonly admin: ContractClient;
  /** A Namespace that is made for these cases and deleted with all that is in it. */
  readonly namespace: string;
  /** Unique in this run, lower case, for the names of cluster-wide objects: what is named so is deleted by its case. */
  readonly token: string;
}

/** Registers its cases with the test runner; asks for the area only while a case runs. */
export type Cases = (area: () => Area) => void;
