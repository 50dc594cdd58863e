import type { Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { KubeClient } from "../kube/client.ts";
import type { KubeError } from "../kube/errors.ts";
import type { Condition, ConditionKey, ObservedCondition } from "../state/condition.ts";
import type { StateError } from "../state/errors.ts";
import type { NewHistoryEvent } from "../state/history.ts";
import type { Access, Membership, MembershipKey, Summary } from "../state/membership.ts";

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

/** What the role `announce` reads and writes of the table. Every call ends by itself or soon after `signal` fires. */
export interface AnnounceStore {
  /** All memberships of a shard, strongly consistent. */
  readShardMemberships(shard: string, signal: AbortSignal): Promise<Result<readonly Membership[], StateError>>;
  /** The conditions of one area of a membership, by type; strongly consistent. */
  readConditions(
    of: MembershipKey & { readonly area: string },
    signal: AbortSignal,
  ): Promise<Result<ReadonlyMap<string, Condition>, StateError>>;
  /**
   * Writes a condition, and the membership's summary with it, ordered by assignment and fence. `unchanged`: it stood
   * there already; `outdated`: a newer writer has been there.
   */
  writeCondition(
    key: ConditionKey,
    condition: ObservedCondition,
    summary: Summary | undefined,
    signal: AbortSignal,
  ): Promise<Result<"written" | "unchanged" | "outdated", StateError>>;
  /** Notes the first success: raises the shard's revision, so that `watch` learns of it. Asking again changes nothing. */
  markConnectedOnce(of: MembershipKey, signal: AbortSignal): Promise<Result<void, StateError>>;
  /** Adds a line to the history. */
  writeEvent(cluster: string, event: NewHistoryEvent, signal: AbortSignal): Promise<Result<void, StateError>>;
}

/** The grid of beats: the part of the relay's ticker that the role uses. */
export interface BeatGrid {
  /**
   * Calls `beat` for every name at each of its grid points, first for those whose last one is over an interval old;
   * never twice at a time for one name. Names are asked for again at each interval at least. Settles when `signal` has
   * fired and no call is under way.
   */
  run(grid: {
    names(): Iterable<string>;
    beat(name: string): Promise<void>;
    /** When the predecessor's last complete round ended, in milliseconds since the epoch. */
    readonly previousRoundAt: number | undefined;
    readonly signal: AbortSignal;
  }): Promise<void>;
}

/** Who is told what happens, for logs and metrics. */
export interface AnnounceTelemetry {
  /** One beat has ended. */
  beat(of: { readonly cluster: string; readonly outcome: "ok" | "failed" | "withheld"; readonly ms: number }): void;
  /** Something changed that people want to read about; the message is constant. */
  transition(message: string, facts: Readonly<Record<string, string | number>>): void;
  /** Something threw that must not: our mistake. The other memberships go on. */
  bug(error: unknown, cluster: string): void;
}
