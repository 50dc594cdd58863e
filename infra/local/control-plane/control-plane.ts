import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import type { Clock } from "../../../lib/base/clock.ts";
import { createCertificateAuthority } from "../cluster/certificates.ts";
import { Watchdog } from "../lambda/watchdog.ts";
import { type ClusterPartOptions, startApiServer } from "./api-server.ts";
import type { Child } from "./child.ts";
import { startControllerManager } from "./controller-manager.ts";
import { writeCredentials } from "./credentials.ts";
import { startEtcd } from "./etcd.ts";
import { RealCluster } from "./real-cluster.ts";

/** What a control plane is started with. */
export interface ControlPlaneOptions {
  /** Folder with the programs; see `findAssets`. */
  readonly assets: string;
  /** A cluster is made for each name. */
  readonly clusters: readonly string[];
  readonly clock: Clock;
  readonly progress: (message: string) => void;
  /** Ends the start early. */
  readonly signal: AbortSignal;
}

/** Real clusters on this machine: Kubernetes' own API servers and controllers, without nodes. */
export interface ControlPlane {
  readonly clusters: readonly RealCluster[];
  /** By name. @throws when there is none */
  cluster(name: string): RealCluster;
  /** URL of the etcd below all of them. */
  readonly etcd: string;
  /** The processes, by what they are: `etcd`, `kube-apiserver NAME`, `kube-controller-manager NAME`. */
  readonly processes: ReadonlyMap<string, Child>;
  stop(): Promise<void>;
}

/**
 * Starts one etcd and, for each name, an API server and a controller manager with a certificate authority of their own;
 * all on 127.0.0.1. Nothing is left when it fails, nor when this process is killed.
 * @throws with the end of the log of the program that failed
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const { assets, clock, progress } = options;
  const failing = new AbortController();
  const signal = AbortSignal.any([options.signal, failing.signal]);
  const folder = mkdtempSync(join(tmpdir(), "hawser-control-plane-"));
  const watchdog = new Watchdog(folder);
  const processes = new Map<string, Child>();
  const clusters: RealCluster[] = [];
  const stop = async (): Promise<void> => {
    for (const cluster of clusters) await cluster.close();
    for (const child of [...processes.values()].toReversed()) await child.stop();
    await watchdog.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const began = clock.monotonicMs();
  try {
    const etcd = await startEtcd({ assets, folder, name: basename(folder), clock, watchdog, signal });
    processes.set("etcd", etcd.child);
    const common = { assets, etcd: etcd.url, clock, watchdog, signal };
    const start = async (name: string): Promise<RealCluster | undefined> => {
      try {
        return await startCluster({ ...common, name, folder: join(folder, name) }, processes);
      } catch (error) {
        // The others need not become ready first. The first reason is the one that is told.
        failing.abort(error);
        return undefined;
      }
    };
    const started = await Promise.all(options.clusters.map(start));
    clusters.push(...started.filter((cluster) => cluster !== undefined));
    signal.throwIfAborted();
    const seconds = ((clock.monotonicMs() - began) / 1_000).toFixed(1);
    progress(`control plane: ${clusters.length} API servers ready after ${seconds} s`);
    const cluster = (name: string): RealCluster => {
      const found = clusters.find((c) => c.name === name);
      if (found === undefined) throw new Error(`the control plane has no cluster ${name}`);
      return found;
    };
    return { clusters, cluster, etcd: etcd.url, processes, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function startCluster(
  options: Omit<ClusterPartOptions, "authority" | "files">,
  processes: Map<string, Child>,
): Promise<RealCluster> {
  const { name, clock, folder } = options;
  const authority = await createCertificateAuthority(`${name}-ca`, clock);
  const parts = { ...options, authority, files: await writeCredentials(folder, authority) };
  const server = await startApiServer(parts);
  processes.set(`kube-apiserver ${name}`, server.child);
  processes.set(`kube-controller-manager ${name}`, await startControllerManager(parts, server.url));
  return new RealCluster(name, server.adminKubeconfig, clock, authority);
}
