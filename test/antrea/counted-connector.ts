import type { ClusterConnector, LeaderCluster, MemberCluster } from "../../lib/antrea/ports.ts";
import { failed, ok } from "../../lib/base/result.ts";
import { connectionFromKubeconfig } from "../../lib/kube/access/kubeconfig.ts";
import type { Connection, Purpose } from "../../lib/kube/connection.ts";
import { createKubeClient } from "../../lib/kube/http-kube-client.ts";
import type { Connections } from "../../lib/kube/pool.ts";
import type { FakeClock } from "../support/fake-clock.ts";
import { settleIo, until } from "../support/until.ts";

/** A connector over HTTPS that counts its calls, and time that waits for them. */
export interface CountedConnector {
  readonly connector: ClusterConnector;
  /**
   * Lets time pass no faster than the connector's calls are answered: limits of the servers run by the same clock.
   * @param stepMs how far the clock moves at a time: less than the time limits that are at play
   */
  readonly pass: (ms: number, stepMs?: number) => Promise<void>;
}

/** @param kubeconfigs of the members, by cluster */
export function countedConnector(
  kubeconfigs: ReadonlyMap<string, string>,
  connections: Connections,
  clock: FakeClock,
): CountedConnector {
  const underWay = new Set<Promise<unknown>>();
  const counted = async <T>(call: Promise<T>): Promise<T> => {
    underWay.add(call);
    try {
      return await call;
    } finally {
      underWay.delete(call);
    }
  };
  const clientOf = (cluster: string, connection: Connection, purpose: Purpose): MemberCluster & LeaderCluster => {
    const client = createKubeClient({ cluster, connection, purpose, connections });
    return {
      cluster,
      get: (ref, options) => counted(client.get(ref, options)),
      list: (type, namespace, options) => counted(client.list(type, namespace, options)),
      create: (type, namespace, object, options) => counted(client.create(type, namespace, object, options)),
      mergePatch: (ref, patch, options) => counted(client.mergePatch(ref, patch, options)),
      delete: (ref, preconditions, options) => counted(client.delete(ref, preconditions, options)),
      mergePatchStatus: (ref, patch, options) => counted(client.mergePatchStatus(ref, patch, options)),
      close: () => counted(client.close()),
    };
  };
  return {
    connector: {
      connectMember: async ({ cluster }) => {
        const connection = await connectionFromKubeconfig(kubeconfigs.get(cluster) ?? "", {});
        if (!connection.ok) return failed(connection.error);
        return ok(clientOf(cluster, connection.value, "member"));
      },
      connectLeader: (cluster, connection) => clientOf(cluster, connection, "beat"),
    },
    pass: async (ms, stepMs = 1_000) => {
      for (let passed = 0; passed < ms; passed += stepMs) {
        await clock.advance(stepMs);
        do {
          await until(() => underWay.size === 0);
          await settleIo();
        } while (underWay.size > 0);
      }
    },
  };
}
