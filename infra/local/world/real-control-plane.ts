import type { Clock } from "../../../lib/base/clock.ts";
import { createCertificateAuthority } from "../cluster/certificates.ts";
import { type ControlPlane, startControlPlane } from "../control-plane/control-plane.ts";
import type { RealCluster } from "../control-plane/real-cluster.ts";
import { type Leader, startLeader } from "../leader/leader.ts";
import { CONTROLLER_SERVICE_ACCOUNT } from "../leader/resources.ts";
import { type BeatLedger, beatsFromWatch } from "./beats.ts";
import type { ClusterWorld, WorldMember } from "./cluster-world.ts";
import { announceName, furnishLeader, furnishMember, worldMember } from "./furnish.ts";
import type { WorldManifests } from "./manifests.ts";

/** What clusters on a real control plane are made of. */
export interface RealControlPlaneOptions {
  /** Folder with Kubernetes' programs. */
  readonly assets: string;
  readonly manifests: WorldManifests;
  readonly clock: Clock;
  readonly ledger: BeatLedger;
  readonly progress: (message: string) => void;
  readonly signal: AbortSignal;
}

/** Starts Kubernetes' own API servers and controllers for a leader and its members, and applies the manifests. */
export async function startOnControlPlane(options: RealControlPlaneOptions): Promise<ClusterWorld> {
  const { assets, manifests, clock, progress, signal } = options;
  const leaderId = manifests.members[0]?.clusterSet.leaderId ?? "";
  // Two clusters may have one name, but not one place in etcd.
  const names = ["leader", ...manifests.members.map((member) => `member-${member.cluster}`)];
  progress(`Starting a real control plane: ${names.length} API servers`);
  const controlPlane = await startControlPlane({ assets, clusters: names, clock, progress, signal });
  try {
    const member = (cluster: string): RealCluster => controlPlane.cluster(`member-${cluster}`);
    const furnished = await furnishRealClusters({ ...options, leader: controlPlane.cluster("leader"), member });
    progress(`leader ${leaderId}: ${controlPlane.cluster("leader").url}`);
    for (const { cluster } of furnished.members) progress(`member ${cluster}: ${member(cluster).url}`);
    return { ...furnished, stop: () => stopAll(furnished, controlPlane) };
  } catch (error) {
    await controlPlane.stop();
    throw error;
  }
}

async function stopAll(furnished: ClusterWorld, controlPlane: ControlPlane): Promise<void> {
  await furnished.stop();
  await controlPlane.stop();
}

/** A world on real API servers. */
export interface FurnishedClusters extends ClusterWorld {
  readonly leader: Leader;
}

/**
 * Makes a leader, with its controllers and webhook, and members out of API servers that run already.
 * `stop` ends the controllers and leaves what was applied.
 */
export async function furnishRealClusters(
  options: Omit<RealControlPlaneOptions, "assets" | "signal" | "progress"> & {
    readonly leader: RealCluster;
    readonly member: (cluster: string) => RealCluster;
  },
): Promise<FurnishedClusters> {
  const { manifests, clock, ledger } = options;
  const first = manifests.members[0]?.clusterSet;
  if (first === undefined) throw new Error("a world needs a member");
  const namespace = first.leaderNamespace;
  await furnishLeader(options.leader, manifests, first);
  const authority = await createCertificateAuthority("hawser-leader-webhook", clock);
  const tls = await authority.issueServer(["127.0.0.1"]);
  const controller = { namespace, name: CONTROLLER_SERVICE_ACCOUNT };
  const leader = await startLeader({
    kubeconfig: await options.leader.kubeconfigFor({ serviceAccount: controller }),
    namespace,
    clock,
    webhookTls: { ...tls, ca: authority.caPem },
  });
  const ended = new AbortController();
  const watching = beatsFromWatch(options.leader.admin, namespace, ledger, clock, ended.signal);
  const stop = async (): Promise<void> => {
    ended.abort();
    await watching;
    await leader.stop();
  };
  try {
    const members: WorldMember[] = [];
    for (const member of manifests.members) {
      const cluster = options.member(member.cluster);
      await furnishMember(cluster, member, options.leader);
      members.push(await worldMember(member, cluster));
    }
    const isConnected = (member: WorldMember): boolean =>
      leader.members().some((m) => announceName(m.clusterId) === member.announce && m.connected);
    return { members, isConnected, leader, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
