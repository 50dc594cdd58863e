import type { Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { KubeClient } from "../kube/client.ts";
import type { KubeError } from "../kube/errors.ts";
import type { Condition, ConditionKey } from "../state/condition.ts";
import type { StateError } from "../state/errors.ts";
import type { Access, Membership, Protocol, Summary } from "../state/membership.ts";

/** The member, seen with the access that its membership names. Closed after use. */
export type MemberCluster = Pick<KubeClient, "cluster" | "get" | "list" | "mergePatchStatus" | "close">;

/** The leader, seen with the token of the member's Secret. Kept for as long as it is beaten to. */
export type LeaderCluster = Pick<KubeClient, "cluster" | "mergePatch" | "create" | "close">;

/** Where and as whom a leader is reached. Holds a secret: never logged, never stored. */
export interface LeaderEndpoint {
  /** The leader's name in messages. */
  readonly cluster: string;
  readonly server: string;
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

/** Makes clients. Neither call sends anything to the cluster. */
export interface ClusterConnector {
  /** Reads what the access refers to; a reference that leads nowhere is the user's mistake. */
  connectMember(
    member: { readonly cluster: string; readonly access: Access },
    signal: AbortSignal,
  ): Promise<Result<MemberCluster, KubeError | UserError>>;
  connectLeader(endpoint: LeaderEndpoint): Result<LeaderCluster, UserError>;
}

/** Who writes a condition: newer assignments and fences win. */
export interface Writer {
  readonly assignment: number;
  readonly fence: number;
}

/** What the role `announce` reads and writes of the table. Every call ends by itself or when `signal` fires. */
export interface AnnounceStore {
  /** All memberships of a shard, strongly consistent. */
  readShardMemberships(shard: string, signal: AbortSignal): Promise<Result<readonly Membership[], StateError>>;
  /** The conditions of one area of a membership, by type; strongly consistent. */
  readConditions(
    of: Omit<ConditionKey, "type">,
    signal: AbortSignal,
  ): Promise<Result<ReadonlyMap<string, Condition>, StateError>>;
  /**
   * Writes a condition, and the membership's summary with it, unless a newer writer has been there: `superseded`.
   * `written` also when it stood there already.
   */
  writeCondition(
    key: ConditionKey,
    condition: Condition,
    summary: Summary | undefined,
    signal: AbortSignal,
  ): Promise<Result<"written" | "superseded", StateError>>;
  /** Notes the first success: raises the shard's revision, so that `watch` learns of it. Done once, asked again harmless. */
  markConnectedOnce(cluster: string, protocol: Protocol, signal: AbortSignal): Promise<Result<void, StateError>>;
  /** Adds a line to the history. */
  writeEvent(cluster: string, event: AnnounceEvent, signal: AbortSignal): Promise<Result<void, StateError>>;
}

/** A transition, for people. */
export interface AnnounceEvent {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly protocol: Protocol;
  readonly kind: string;
  readonly message: string;
  readonly cause?: Condition["cause"];
}
