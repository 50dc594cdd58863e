import { keptLeaderReference } from "../../lib/antrea/kept-leader.ts";
import type { LeaveDependencies } from "../../lib/antrea/leave-ports.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { failed, ok } from "../../lib/base/result.ts";
import type { CredentialError } from "../../lib/credentials/errors.ts";
import { connectionFromKubeconfig } from "../../lib/kube/access/kubeconfig.ts";
import { createKubeClient } from "../../lib/kube/http-kube-client.ts";
import { type AntreaWorld, startAntreaWorld } from "./antrea-world.ts";

const PREFIX = "/hawser/test/";
const GROUP = "multicluster.crd.antrea.io";

/** An Antrea world with what leaving needs: a credential store, and the kinds that importing makes. */
export interface LeaveWorld extends AntreaWorld {
  readonly deps: LeaveDependencies;
  /** What is kept, by reference. */
  readonly kept: Map<string, string>;
  /** When set, every read of the store fails so. */
  storeFault: CredentialError | undefined;
  /** Makes the announce of a member, as its first beat would. */
  announce(cluster: string): Promise<void>;
  /** The announce that stands in the leader and is not on its way out. */
  announced(cluster: string): boolean;
  /** The text to keep of a member's leader. */
  leaderText(cluster: string, more?: Record<string, string>): string;
  keep(cluster: string, text: string): void;
}

/** Starts one. */
export async function startLeaveWorld(...names: readonly string[]): Promise<LeaveWorld> {
  const world = await startAntreaWorld(...names);
  for (const cluster of world.memberClusters.values()) await cluster.applyManifests(IMPORT_KINDS);
  const kubeconfigs = new Map(world.members.map(({ cluster, kubeconfig }) => [cluster, kubeconfig]));
  const kept = new Map<string, string>();
  const { connections, leaderCluster } = world;
  const spec = world.spec("any");
  const of: LeaveWorld = {
    ...world,
    kept,
    storeFault: undefined,
    deps: {
      clock: systemClock,
      parameterPrefix: PREFIX,
      timeoutMs: 10_000,
      credentials: {
        read: async (reference) => {
          if (of.storeFault !== undefined) return failed(of.storeFault);
          const text = kept.get(reference);
          return text === undefined ? failed({ kind: "notFound", problem: "none", remedy: "none" }) : ok(text);
        },
      },
      connector: {
        connectMember: async ({ cluster }) => {
          const connection = await connectionFromKubeconfig(kubeconfigs.get(cluster) ?? "", {});
          if (!connection.ok) return connection;
          return ok(createKubeClient({ cluster, connection: connection.value, purpose: "member", connections }));
        },
        connectLeader: (cluster, connection) => createKubeClient({ cluster, connection, purpose: "beat", connections }),
      },
    },
    announce: async (cluster) => {
      await leaderCluster.engine.apply({
        apiVersion: `${GROUP}/v1alpha1`,
        kind: "MemberClusterAnnounce",
        metadata: { name: `member-announce-from-${cluster}`, namespace: spec.commonArea },
        clusterID: cluster,
        clusterSetID: spec.clusterSetID,
        leaderClusterID: spec.leaderClusterID,
      });
    },
    announced: (cluster) => {
      const name = `member-announce-from-${cluster}`;
      const found = leaderCluster.engine.readOne(GROUP, "memberclusterannounces", spec.commonArea, name);
      return found !== undefined && found.metadata["deletionTimestamp"] === undefined;
    },
    leaderText: (cluster, more = {}) =>
      JSON.stringify({
        server: leaderCluster.url,
        ca: leaderCluster.caPem,
        token: leaderCluster.tokenFor(spec.commonArea, `member-${cluster}`),
        commonArea: spec.commonArea,
        clusterID: cluster,
        leaderClusterID: spec.leaderClusterID,
        clusterSetID: spec.clusterSetID,
        ...more,
      }),
    keep: (cluster, text) => void kept.set(keptLeaderReference(PREFIX, cluster), text),
  };
  return of;
}

/** Definitions of the kinds that Antrea imports into, as far as deleting needs them. */
const IMPORT_KINDS = [
  ["multicluster.x-k8s.io", "v1alpha1", "serviceimports", "ServiceImport", "Namespaced"],
  ["crd.antrea.io", "v1beta1", "clusternetworkpolicies", "ClusterNetworkPolicy", "Cluster"],
]
  .map(
    ([group, version, plural, kind, scope]) => `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: ${plural}.${group}}
spec:
  group: ${group}
  scope: ${scope}
  names: {kind: ${kind}, plural: ${plural}}
  versions:
    - name: ${version}
      served: true
      storage: true
      schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}
`,
  )
  .join("---\n");
