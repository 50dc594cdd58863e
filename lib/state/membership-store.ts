import { ok, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";
import type { Membership, MembershipKey } from "./membership.ts";
import type { MembershipChange, MembershipExpectation } from "./membership-change.ts";
import type { CreateOutcome, JoinRequest, MembershipOutcome } from "./membership-outcome.ts";
import { MembershipWrites } from "./membership-writes.ts";
import type { ShardStore } from "./shard-store.ts";
import type { StoreParts } from "./store-parts.ts";

/** Memberships one by one. */
export interface MembershipStore {
  /** Strongly consistent; undefined when there is none. */
  readMembership(
    cluster: string,
    protocol: MembershipKey["protocol"],
    signal: AbortSignal,
  ): Promise<Result<Membership | undefined, StateError>>;
  /**
   * Writes what the document asks for: a new membership in the first shard of its network profile that has room, or the
   * difference to the one that exists. The same document again changes nothing.
   */
  createMembership(request: JoinRequest, signal: AbortSignal): Promise<Result<CreateOutcome, StateError>>;
  /** Changes single fields, and the shard's revision with them. */
  updateMembership(
    key: MembershipKey,
    change: MembershipChange,
    expect: MembershipExpectation,
    signal: AbortSignal,
  ): Promise<Result<MembershipOutcome | { readonly kind: "absent" }, StateError>>;
  /** Removes the membership with its conditions, cursors and imports; its history stays. Repeatable. */
  removeMembership(
    key: MembershipKey,
    expect: MembershipExpectation,
    signal: AbortSignal,
  ): Promise<Result<{ readonly kind: "removed" | "absent" | "refused" }, StateError>>;
  /** Gives the membership to another shard with room, under a new assignment. */
  moveMembership(
    key: MembershipKey,
    toShard: string,
    signal: AbortSignal,
  ): Promise<Result<MembershipOutcome | { readonly kind: "absent" | "shardFull" | "noSuchShard" }, StateError>>;
}

/** Memberships in the table. */
export function membershipStore(parts: StoreParts, shards: ShardStore): MembershipStore {
  const store = new MembershipWrites(parts, shards);
  return {
    readMembership: async (cluster, protocol, signal) => {
      const stored = await store.read({ cluster, protocol }, signal);
      return stored.ok ? ok(stored.value?.membership) : stored;
    },
    createMembership: async (request, signal) => await store.create(request, signal),
    updateMembership: async (key, change, expect, signal) => await store.update(key, change, expect, signal),
    removeMembership: async (key, expect, signal) => await store.remove(key, expect, signal),
    moveMembership: async (key, toShard, signal) => await store.move(key, toShard, signal),
  };
}
