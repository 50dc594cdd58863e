import { stringify } from "yaml";
import type { WorldMember } from "./cluster-world.ts";
import type { LocalCluster } from "./local-cluster.ts";
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

/** Applies what a leader holds before anybody joins: definitions, common area, ClusterSet, roles, its members' identities. */
export async function furnishLeader(
  cluster: LocalCluster,
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
    ...customResourceDefinitions("leader"),
    { apiVersion: "v1", kind: "Namespace", metadata: { name: namespace } },
    ...manifests.leader,
    ...(given("ClusterSet") ? [] : [clusterSet]),
    ...leaderRoles(namespace),
    ...manifests.members.flatMap((member) => leaderIdentity(member.clusterSet)),
  ]);
}

/** Applies a member's manifests, with the leader's address, CA and token in them, and Hawser's identity there. */
export async function furnishMember(
  cluster: LocalCluster,
  member: MemberManifests,
  leader: LocalCluster,
): Promise<void> {
  const { clusterSet } = member;
  const token = await leader.tokenFor(clusterSet.leaderNamespace, memberServiceAccount(clusterSet));
  const credentials = { "ca.crt": leader.caPem, token };
  await applyAll(cluster, [
    ...customResourceDefinitions("member"),
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

async function applyAll(cluster: LocalCluster, objects: readonly Manifest[]): Promise<void> {
  try {
    await cluster.applyManifests(objects.map((object) => stringify(object)).join("---\n"));
  } catch (error) {
    const problem = `the manifests cannot be applied: ${error instanceof Error ? error.message : String(error)}`;
    throw new ManifestError([{ path: cluster.name, problem, remedy: "Mend or remove that object" }]);
  }
}

/** The furnished member as the world sees it. */
export async function worldMember(member: MemberManifests, cluster: LocalCluster): Promise<WorldMember> {
  return {
    cluster: member.cluster,
    protocol: "antrea",
    announce: announceOf(member.clusterSet),
    kubeconfig: await cluster.kubeconfigFor({ serviceAccount: { namespace: "kube-system", name: "hawser" } }),
    antrea: { namespace: member.clusterSet.namespace, clusterSet: member.clusterSet.name },
  };
}

/** Name of the announce by which a ClusterSet's member shows itself. */
export function announceOf(clusterSet: MemberClusterSet): string {
  return announceName(clusterSet.clusterId);
}

/** Name of the announce for a cluster ID. */
export function announceName(clusterId: string): string {
  return `member-announce-from-${clusterId}`;
}

/** Who a ClusterSet's member is in the leader. */
export function userOf(clusterSet: MemberClusterSet): string {
  return `system:serviceaccount:${clusterSet.leaderNamespace}:${memberServiceAccount(clusterSet)}`;
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
