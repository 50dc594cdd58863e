import { stringify } from "yaml";
import type { Clock } from "../../../lib/base/clock.ts";
import type { Random } from "../../../lib/base/random.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../cluster/simulated-cluster.ts";
import { type Leader, startLeader } from "../leader/leader.ts";
import { CONTROLLER_SERVICE_ACCOUNT } from "../leader/resources.ts";
import { type BeatLedger, beatsFromRequestLog } from "./beats.ts";
import type { ClusterWorld, WorldMember } from "./cluster-world.ts";
import {
  type Manifest,
  ManifestError,
  type MemberClusterSet,
  type MemberManifests,
  type WorldManifests,
} from "./manifests.ts";
import {
  customResourceDefinitions,
  leaderIdentity,
  leaderRoles,
  memberIdentity,
  memberServiceAccount,
} from "./onboarding.ts";

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

async function furnishLeader(
  cluster: SimulatedCluster,
  manifests: WorldManifests,
  first: MemberClusterSet,
): Promise<void> {
  const namespace = first.leaderNamespace;
  const given = (kind: string): boolean => manifests.leader.some((object) => object.kind === kind);
  const clusterSet: Manifest = {
    apiVersion: "multicluster.crd.antrea.io/v1alpha2",
    kind: "ClusterSet",
    metadata: { name: first.name, namespace },
    spec: { clusterID: first.leaderId, leaders: [{ clusterID: first.leaderId }] },
  };
  await applyAll(cluster, [
    ...customResourceDefinitions(),
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    ...manifests.leader,
    ...(given("ClusterSet") ? [] : [clusterSet]),
    ...leaderRoles(namespace),
    ...manifests.members.flatMap((member) => leaderIdentity(member.clusterSet)),
  ]);
}

async function furnishMember(
  cluster: SimulatedCluster,
  member: MemberManifests,
  leader: SimulatedCluster,
): Promise<void> {
  const { clusterSet } = member;
  const token = leader.tokenFor(clusterSet.leaderNamespace, memberServiceAccount(clusterSet));
  const credentials = { "ca.crt": leader.caPem, token };
  await applyAll(cluster, [
    ...customResourceDefinitions(),
    ...(clusterSet.namespace === "kube-system"
      ? []
      : [{ apiVersion: "v1", kind: "Namespace", metadata: { name: clusterSet.namespace } }]),
    ...memberIdentity(clusterSet),
    ...member.objects.map((object) => localise(object, clusterSet, leader.url, credentials)),
  ]);
}

/** Puts the simulated leader's address, CA and token where the manifest names those of its own leader. */
function localise(
  object: Manifest,
  clusterSet: MemberClusterSet,
  server: string,
  credentials: Readonly<Record<string, string>>,
): Manifest {
  if (object.kind === "Secret" && object.metadata?.name === clusterSet.secret) {
    const before = (object["data"] ?? {}) as Record<string, string>;
    const text = (object["stringData"] ?? {}) as Record<string, string>;
    // Only what the manifest has is filled in: a Secret without `ca.crt` stays without.
    const data = Object.fromEntries(
      [...Object.entries(before), ...Object.entries(text).map(([key, value]) => [key, base64(value)] as const)].map(
        ([key, value]) => [key, credentials[key] === undefined ? value : base64(credentials[key])],
      ),
    );
    const { stringData: _, ...rest } = object;
    return { ...rest, metadata: { ...object.metadata, namespace: clusterSet.namespace }, data };
  }
  if (object.kind !== "ClusterSet") return object;
  const spec = object["spec"] as { leaders?: object[] };
  return {
    ...object,
    metadata: { ...object.metadata, namespace: clusterSet.namespace },
    spec: { ...spec, leaders: [{ ...spec.leaders?.[0], server }] },
  };
}

async function applyAll(cluster: SimulatedCluster, objects: readonly Manifest[]): Promise<void> {
  try {
    await cluster.applyManifests(objects.map((object) => stringify(object)).join("---\n"));
  } catch (error) {
    const problem = `the manifests cannot be applied: ${error instanceof Error ? error.message : String(error)}`;
    throw new ManifestError([{ path: cluster.name, problem, remedy: "Mend or remove that object" }]);
  }
}

async function worldMember(member: MemberManifests, cluster: SimulatedCluster): Promise<WorldMember> {
  return {
    cluster: member.cluster,
    protocol: "antrea",
    announce: announceOf(member.clusterSet),
    kubeconfig: await cluster.kubeconfigFor({ serviceAccount: { namespace: "kube-system", name: "hawser" } }),
    antrea: { namespace: member.clusterSet.namespace, clusterSet: member.clusterSet.name },
  };
}

function announceOf(clusterSet: MemberClusterSet): string {
  return announceName(clusterSet.clusterId);
}

function announceName(clusterId: string): string {
  return `member-announce-from-${clusterId}`;
}

function userOf(clusterSet: MemberClusterSet): string {
  return `system:serviceaccount:${clusterSet.leaderNamespace}:${memberServiceAccount(clusterSet)}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
