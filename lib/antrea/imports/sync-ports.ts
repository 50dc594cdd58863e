import type { Clock } from "../../base/clock.ts";
import type { Random } from "../../base/random.ts";
import type { Result } from "../../base/result.ts";
import type { UserError } from "../../base/user-error.ts";
import type { KubeClient } from "../../kube/client.ts";
import type { Connection } from "../../kube/connection.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { Hold } from "../../relay/ports.ts";
import type { ConditionStore } from "../../state/condition-store.ts";
import type { CursorStore } from "../../state/cursor-store.ts";
import type { HistoryStore } from "../../state/history-store.ts";
import type { ImportStore } from "../../state/import-store.ts";
import type { Access } from "../../state/membership.ts";
import type { ShardStore } from "../../state/shard-store.ts";
import type { MemberCluster } from "../ports.ts";
import type { ImportMember } from "./reconciler.ts";

/** The member, seen by who imports into it. Closed after use. */
export type SyncedMember = MemberCluster & ImportMember;

/** The leader, seen by who imports from it. Kept for as long as it is watched. */
export type WatchedLeader = Pick<KubeClient, "cluster" | "get" | "list" | "watch" | "create" | "close">;

/** Makes clients. Neither call sends anything to the cluster. */
export interface SyncConnector {
  connectMember(
    member: { readonly cluster: string; readonly access: Access },
    signal: AbortSignal,
  ): Promise<Result<SyncedMember, KubeError | UserError>>;
  /** @param cluster the leader's name in messages */
  watchLeader(cluster: string, connection: Connection): WatchedLeader;
}

/** What the role `watch` reads and writes of the table: its shard, and cursor, imports, condition and history of each member. */
export type WatchStore = Pick<ShardStore, "readShardMemberships"> &
  Pick<CursorStore, "readCursor" | "writeCursor"> &
  Pick<ImportStore, "listImports" | "writeImport" | "deleteImport"> &
  Pick<ConditionStore, "writeCondition"> &
  Pick<HistoryStore, "writeEvent">;

/** Who is told what happens, for logs and metrics. */
export interface WatchTelemetry {
  /** An import was brought to rest; `ms` since it had come. */
  settled(of: { readonly cluster: string; readonly state: string; readonly writes: number; readonly ms: number }): void;
  /** A complete compare has ended. */
  compared(of: { readonly cluster: string; readonly imports: number; readonly ms: number }): void;
  /** Something changed that people want to read about; the message is constant. */
  transition(message: string, facts: Readonly<Record<string, string | number>>): void;
  /** Something threw that must not: our mistake. The other memberships go on. */
  bug(error: unknown, cluster: string): void;
}

/** What the role `watch` works with. */
export interface WatchDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: WatchStore;
  readonly connector: SyncConnector;
  readonly telemetry: WatchTelemetry;
}

/** The numbers of the role. All durations in milliseconds. */
export interface WatchTiming {
  /** Imports of one member under way at a time. */
  readonly concurrency: number;
  /** One call to member or leader. */
  readonly callMs: number;
  /** A complete list. */
  readonly listMs: number;
  /** Between two complete compares. */
  readonly compareMs: number;
  /** The longest time without a stored cursor. */
  readonly cursorMs: number;
  /** Between two looks at the member's ClusterSet and Secret. */
  readonly rereadMs: number;
  /** The same while there is nothing to watch with. */
  readonly lookAgainMs: number;
  /** One watch; the server is asked to end it then. */
  readonly watchMs: number;
  /** A watch that is silent for this long is given up; API servers send bookmarks every minute. */
  readonly idleMs: number;
}

/** With these an import is applied within seconds, a leader that changed is followed within a minute. */
export const DEFAULT_WATCH_TIMING: WatchTiming = {
  concurrency: 4,
  callMs: 8_000,
  listMs: 60_000,
  compareMs: 600_000,
  cursorMs: 300_000,
  rereadMs: 50_000,
  lookAgainMs: 9_000,
  watchMs: 240_000,
  idleMs: 150_000,
};

/** The part of a hold that a member's sync goes by. */
export type SyncHold = Pick<Hold, "fence" | "mayWrite">;
