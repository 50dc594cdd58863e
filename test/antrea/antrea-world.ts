import { BeatLedger } from "../../infra/local/world/beats.ts";
import { type SimulatedWorld, startSimulated } from "../../infra/local/world/simulated.ts";
import type { ClusterSetSpec } from "../../lib/antrea/cluster-set.ts";
import type { ClusterConnector, LeaderCluster } from "../../lib/antrea/ports.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { connectionFromKubeconfig } from "../../lib/kube/access/kubeconfig.ts";
import type { KubeClient } from "../../lib/kube/client.ts";
import { createKubeClient } from "../../lib/kube/http-kube-client.ts";
import { Connections } from "../../lib/kube/pool.ts";
import { parseServerUrl } from "../../lib/kube/server-url.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { countedConnector } from "./counted-connector.ts";
import { COMMON_AREA, NAMESPACE } from "./role-harness.ts";

/** A simulated leader with its controllers and webhook, and members, over HTTPS; their clock stands still. */
export interface AntreaWorld extends SimulatedWorld {
  readonly clock: FakeClock;
  readonly connections: Connections;
  readonly connector: ClusterConnector;
  /** What a member's ClusterSet says. */
  spec(cluster: string, more?: Partial<ClusterSetSpec>): ClusterSetSpec;
  /** The leader as a ServiceAccount of its sees it. */
  leaderAs(serviceAccount: string, namespace?: string): LeaderCluster;
  /** The leader for a client with a certificate of its administrator. */
  leaderAsAdmin(): Promise<KubeClient>;
  /** A member for a client with a certificate of its administrator. */
  memberAsAdmin(cluster: string): Promise<KubeClient>;
  /**
   * Lets time pass no faster than the connector's calls are answered: limits of the servers run by the same clock.
   * @param stepMs how far the clock moves at a time, a second unless told otherwise
   */
  pass(ms: number, stepMs?: number): Promise<void>;
  end(): Promise<void>;
}

/** Starts one; certificates are checked by the machine's clock, so the world's clock begins there. */
export async function startAntreaWorld(...names: readonly string[]): Promise<AntreaWorld> {
  const clock = new FakeClock(new Date());
  const random = seededRandom(7);
  const members = names.map((cluster) => {
    const clusterSet = {
      name: "set",
      namespace: NAMESPACE,
      clusterId: cluster,
      leaderId: "north",
      leaderNamespace: COMMON_AREA,
      secret: "leader-token",
    };
    return { cluster, clusterSet, objects: [secret(), clusterSetManifest(cluster)] };
  });
  const manifests = { leader: [], members };
  const ledger = new BeatLedger(() => undefined);
  const world = await startSimulated({ manifests, clock, random, ledger, progress: () => undefined });
  const connections = new Connections({ clock: systemClock, random, version: "test" });
  const kubeconfigs = new Map(world.members.map(({ cluster, kubeconfig }) => [cluster, kubeconfig]));
  const { connector, pass } = countedConnector(kubeconfigs, connections, clock);
  const { leaderCluster } = world;
  const asAdmin = async (cluster: string, kubeconfig: string): Promise<KubeClient> => {
    const connection = await connectionFromKubeconfig(kubeconfig, {});
    if (!connection.ok) throw new Error(connection.error.problem);
    return createKubeClient({ cluster, connection: connection.value, purpose: "beat", connections });
  };
  return {
    ...world,
    clock,
    connections,
    connector,
    spec: (cluster, more = {}) => ({
      clusterID: cluster,
      clusterSetID: "set",
      leaderClusterID: "north",
      server: leaderCluster.url,
      secret: "leader-token",
      commonArea: COMMON_AREA,
      ...more,
    }),
    leaderAs: (serviceAccount, namespace = COMMON_AREA) => {
      const server = parseServerUrl(leaderCluster.url);
      if (!server.ok) throw new Error(server.error.problem);
      const token = leaderCluster.tokenFor(namespace, serviceAccount);
      const connection = {
        server: server.value,
        ca: leaderCluster.caPem,
        credential: { kind: "token", token },
      } as const;
      return createKubeClient({ cluster: "leader", connection, purpose: "beat", connections });
    },
    leaderAsAdmin: async () => await asAdmin("leader", leaderCluster.adminKubeconfig()),
    memberAsAdmin: async (cluster) =>
      await asAdmin(cluster, world.memberClusters.get(cluster)?.adminKubeconfig() ?? ""),
    pass,
    end: async () => {
      await connections.close();
      await world.stop();
    },
  };
}

function secret(): Record<string, unknown> & { kind: string } {
  return {
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "leader-token", namespace: NAMESPACE },
    type: "Opaque",
    data: { "ca.crt": "", token: "" },
  };
}

function clusterSetManifest(cluster: string): Record<string, unknown> & { kind: string } {
  return {
    apiVersion: "multicluster.crd.antrea.io/v1alpha2",
    kind: "ClusterSet",
    metadata: { name: "set", namespace: NAMESPACE },
    spec: {
      clusterID: cluster,
      leaders: [{ clusterID: "north", server: "https://replaced", secret: "leader-token" }],
      namespace: COMMON_AREA,
    },
  };
}
