import type { Clock } from "../../../lib/base/clock.ts";
import type { Random } from "../../../lib/base/random.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../cluster/simulated-cluster.ts";
import { type Leader, startLeader } from "../leader/leader.ts";
import { CONTROLLER_SERVICE_ACCOUNT } from "../leader/resources.ts";
import { type BeatLedger, beatsFromRequestLog } from "./beats.ts";
import type { ClusterWorld, WorldMember } from "./cluster-world.ts";
import { announceName, announceOf, furnishLeader, furnishMember, userOf, worldMember } from "./furnish.ts";
import type { WorldManifests } from "./manifests.ts";

/** What simulated clusters are made of. */
export interface SimulatedOptions {
  readonly manifests: WorldManifests;
  readonly clock: Clock;
  readonly random: Random;
  readonly ledger: BeatLedger;
  readonly progress: (message: string) => void;
}

/** A world of simulated clusters, for tests that want to reach into them. */
export interface SimulatedWorld extends ClusterWorld {
  readonly leaderCluster: SimulatedCluster;
  readonly leader: Leader;
  readonly memberClusters: ReadonlyMap<string, SimulatedCluster>;
}

/** Starts a leader and a cluster for each member, and applies the manifests. */
export async function startSimulated(options: SimulatedOptions): Promise<SimulatedWorld> {
  const { manifests, clock, random } = options;
  const first = manifests.members[0]?.clusterSet;
  if (first === undefined) throw new Error("a world needs a member");
  const started: { stop(): Promise<void> }[] = [];
  const stop = async (): Promise<void> => {
    for (const each of started.toReversed()) await each.stop();
  };
  try {
    const leaderCluster = await startSimulatedCluster({ name: first.leaderId, clock, random });
    started.push(leaderCluster);
    await furnishLeader(leaderCluster, manifests, first);
    const leader = await startLeader({
      kubeconfig: await leaderCluster.kubeconfigFor({
        serviceAccount: { namespace: first.leaderNamespace, name: CONTROLLER_SERVICE_ACCOUNT },
      }),
      namespace: first.leaderNamespace,
      clock,
      webhookTls: { ...(await leaderCluster.authority.issueServer(["127.0.0.1"])), ca: leaderCluster.caPem },
    });
    started.push(leader);
    options.progress(`leader ${first.leaderId}: ${leaderCluster.url}`);

    const users = new Map(manifests.members.map(({ clusterSet }) => [userOf(clusterSet), announceOf(clusterSet)]));
    const unsubscribe = beatsFromRequestLog(
      leaderCluster.requestLog,
      first.leaderNamespace,
      (user) => users.get(user),
      options.ledger,
    );
    started.push({ stop: () => Promise.resolve(unsubscribe()) });

    const memberClusters = new Map<string, SimulatedCluster>();
    const members: WorldMember[] = [];
    for (const member of manifests.members) {
      const cluster = await startSimulatedCluster({ name: member.cluster, clock, random });
      started.push(cluster);
      memberClusters.set(member.cluster, cluster);
      await furnishMember(cluster, member, leaderCluster);
      members.push(await worldMember(member, cluster));
      options.progress(`member ${member.cluster}: ${cluster.url}`);
    }
    const isConnected = (member: WorldMember): boolean =>
      leader.members().some((m) => announceName(m.clusterId) === member.announce && m.connected);
    return { members, isConnected, stop, leaderCluster, leader, memberClusters };
  } catch (error) {
    await stop();
    throw error;
  }
}
