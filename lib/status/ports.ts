import type { Result } from "../base/result.ts";
import type { Condition } from "../state/condition.ts";
import type { StateError } from "../state/errors.ts";
import type { HistoryPage } from "../state/history-store.ts";
import type { ImportPage } from "../state/import-store.ts";
import type { Membership, Protocol } from "../state/membership.ts";
import type { Shard } from "../state/shard.ts";

/** One page of memberships, and where the next one starts. */
export interface MembershipPage {
  readonly memberships: readonly Membership[];
  readonly next?: string | undefined;
}

/** What a window tells of itself through its baton; moments are milliseconds since the epoch. */
export interface BatonView {
  readonly fence: number;
  readonly holder?: string;
  readonly expiresAt?: number;
  readonly yielding?: boolean;
  readonly standby?: { readonly id: string; readonly until: number };
  readonly roundAt?: number;
  readonly exceptions?: Readonly<
    Record<string, { readonly kind: string; readonly count: number; readonly since: number }>
  >;
}

/** What status reads; it writes nothing. */
export interface StatusReader {
  listMemberships(
    query: { readonly limit?: number; readonly startFrom?: string },
    signal: AbortSignal,
  ): Promise<Result<MembershipPage, StateError>>;
  readConditions(
    cluster: string,
    protocol: Protocol,
    signal: AbortSignal,
  ): Promise<Result<readonly (Condition & { readonly type: string; readonly area: string })[], StateError>>;
  readBaton(role: string, shard: string, signal: AbortSignal): Promise<Result<BatonView | undefined, StateError>>;
  readShard(shard: string, signal: AbortSignal): Promise<Result<Pick<Shard, "disabledRoles"> | undefined, StateError>>;
}

/** What the history of a cluster is read by. */
export interface EventReader {
  /** Newest first; `next` is the `before` of the page that follows. */
  readEvents(
    cluster: string,
    page: { readonly limit: number; readonly before?: string | undefined },
    signal: AbortSignal,
  ): Promise<Result<HistoryPage, StateError>>;
}

/** What the imports of a cluster are read by. */
export interface ImportReader {
  /** By name; `next` is the `startFrom` of the page that follows. */
  listImports(
    cluster: string,
    page: { readonly limit: number; readonly startFrom?: string | undefined },
    signal: AbortSignal,
  ): Promise<Result<ImportPage, StateError>>;
}
