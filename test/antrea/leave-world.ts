import { readFile } from "node:fs/promises";
import { startTable } from "../../infra/local/table/table.ts";
import { createTableFromTemplate } from "../../infra/local/table/template.ts";
import { keptLeaderReference } from "../../lib/antrea/kept-leader.ts";
import type { LeaveDependencies } from "../../lib/antrea/leave-ports.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { systemIds } from "../../lib/base/ids.ts";
import { systemRandom } from "../../lib/base/random.ts";
import { failed, ok } from "../../lib/base/result.ts";
import type { CredentialError } from "../../lib/credentials/errors.ts";
import { connectionFromKubeconfig } from "../../lib/kube/access/kubeconfig.ts";
import { createKubeClient } from "../../lib/kube/http-kube-client.ts";
import { openState, type State } from "../../lib/state/state.ts";
import { type AntreaWorld, startAntreaWorld } from "./antrea-world.ts";

const PREFIX = "/hawser/test/";
const GROUP = "multicluster.crd.antrea.io";

/** An Antrea world with what leaving needs: a credential store, and a table with what was imported. */
export interface LeaveWorld extends AntreaWorld {
  readonly state: State;
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
  const table = await startTestState();
  const kubeconfigs = new Map(world.members.map(({ cluster, kubeconfig }) => [cluster, kubeconfig]));
  const kept = new Map<string, string>();
  const { connections, leaderCluster } = world;
  const spec = world.spec("any");
  const of: LeaveWorld = {
    ...world,
    state: table.state,
    end: async () => {
      await table.stop();
      await world.end();
    },
    kept,
    storeFault: undefined,
    deps: {
      clock: systemClock,
      imports: table.state,
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

/** A table of its own; it ends with the world. */
async function startTestState(): Promise<{ readonly state: State; stop(): Promise<void> }> {
  const table = await startTable({ clock: systemClock });
  const tableName = "hawser-leave";
  const template = await readFile(new URL("../../infra/aws/table.yml", import.meta.url), "utf8");
  await createTableFromTemplate(table.url, template, tableName);
  const random = systemRandom;
  const state = openState({
    tableName,
    region: "local",
    endpoint: table.url,
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
    clock: systemClock,
    random,
    ids: systemIds(systemClock, random),
  });
  return {
    state,
    stop: async () => {
      state.close();
      await table.stop();
    },
  };
}
