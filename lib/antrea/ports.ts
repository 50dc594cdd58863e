import type { Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import type { KubeError } from "../kube/errors.ts";
import type { ConditionStore } from "../state/condition-store.ts";
import type { HistoryStore } from "../state/history-store.ts";
import type { Access } from "../state/membership.ts";
import type { MembershipStore } from "../state/membership-store.ts";
import type { ShardStore } from "../state/shard-store.ts";

/** The member, seen with the access that its membership names. Closed after use. */
export type MemberCluster = Pick<KubeClient, "cluster" | "get" | "list" | "mergePatchStatus" | "close">;

/** The leader, seen with the token of the member's Secret. Kept for as long as it is beaten to. */
export type LeaderCluster = Pick<KubeClient, "cluster" | "get" | "mergePatch" | "create" | "delete" | "close">;

/** Makes clients. Neither call sends anything to the cluster. */
export interface ClusterConnector {
  /** Reads what the access refers to; a reference that leads nowhere is the user's mistake. */
  connectMember(
    member: { readonly cluster: string; readonly access: Access },
    signal: AbortSignal,
  ): Promise<Result<MemberCluster, KubeError | UserError>>;
  /** @param cluster the leader's name in messages */
  connectLeader(cluster: string, connection: Connection): LeaderCluster;
}

/**
 * What the role `announce` reads and writes of the table: the memberships of its shard, the conditions of its area with
 * summary and history in one transaction, ordered by assignment and fence, that a membership has connected once, and lines
 * of history that no condition goes with.
 */
export type AnnounceStore = Pick<ShardStore, "readShardMemberships"> &
  Pick<ConditionStore, "readConditions" | "writeConditions" | "fenceConditions"> &
  Pick<MembershipStore, "updateMembership"> &
  Pick<HistoryStore, "writeEvent">;

/** Who is told what happens, for logs and metrics. */
export interface AnnounceTelemetry {
  /**
   * One beat has ended; `throttled`: the leader asked to be left alone for a while; `withheld`: it was not sent for that
   * reason, or because no announce may be made.
   */
  beat(of: {
    readonly cluster: string;
    readonly outcome: "ok" | "failed" | "throttled" | "withheld";
    readonly ms: number;
  }): void;
  /** Something changed that people want to read about; the message is constant. */
  transition(message: string, facts: Readonly<Record<string, string | number>>): void;
  /** Something threw that must not: our mistake. The other memberships go on. */
  bug(error: unknown, cluster: string): void;
}
