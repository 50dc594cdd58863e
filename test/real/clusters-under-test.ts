import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { compactEtcd } from "../../infra/local/control-plane/etcd.ts";
import { RealCluster } from "../../infra/local/control-plane/real-cluster.ts";
import { systemClock } from "../../lib/base/clock.ts";

/** Names the file in which the runner tells the test files about the clusters; set by `npm run test:real` alone. */
export const CLUSTERS_FILE = "HAWSER_TEST_CLUSTERS";

/** The clusters that tests run on, as the runner writes them down. */
export interface ClustersFile {
  /** In the order of their parts: leader, two members, the contract's. With fewer, the last has the other parts too. */
  readonly clusters: readonly { readonly name: string; readonly adminKubeconfig: string }[];
  /** URL of the etcd below them; absent where it is not ours. */
  readonly etcd?: string;
}

/** Writes it; answers its path. The kubeconfigs in it may do everything: it is for its owner alone. */
export function writeClustersFile(folder: string, content: ClustersFile): string {
  const file = join(folder, "clusters.json");
  writeFileSync(file, JSON.stringify(content), { mode: 0o600 });
  return file;
}

/** Real clusters, for a test file. */
export interface ClustersUnderTest {
  readonly leader: RealCluster;
  readonly members: readonly [RealCluster, RealCluster];
  /** The one that the contract is held against. */
  readonly contract: RealCluster;
  /** Makes the servers forget all history up to now; undefined where that is not ours to do. */
  readonly compact: (() => Promise<void>) | undefined;
  close(): Promise<void>;
}

/** @throws outside of `npm run test:real` */
export function clustersUnderTest(): ClustersUnderTest {
  const file = process.env[CLUSTERS_FILE];
  if (file === undefined) throw new Error(`${CLUSTERS_FILE} is not set: run these tests by "npm run test:real"`);
  const { clusters, etcd } = JSON.parse(readFileSync(file, "utf8")) as ClustersFile;
  const all = clusters.map(({ name, adminKubeconfig }) => new RealCluster(name, adminKubeconfig, systemClock));
  const at = (index: number): RealCluster => {
    const cluster = all[Math.min(index, all.length - 1)];
    if (cluster === undefined) throw new Error(`${file} names no cluster`);
    return cluster;
  };
  return {
    leader: at(0),
    members: [at(1), at(2)],
    contract: at(3),
    compact: etcd === undefined ? undefined : () => compactEtcd(etcd),
    close: async () => {
      for (const cluster of all) await cluster.close();
    },
  };
}
