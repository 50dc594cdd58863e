import { ok, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";
import type { Membership, MembershipKey } from "./membership.ts";
import type { Departure, MembershipChange, MembershipExpectation } from "./membership-change.ts";
import { type DepartureOutcome, MembershipDepartures } from "./membership-departures.ts";
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
  /**
   * Takes the membership out of its shard, into the phase `left`. With the last one the shard's schedules are not needed
   * any more: their generation is retired by the same write. Repeatable.
   */
  detachMembership(
    key: MembershipKey,
    departure: Departure,
    signal: AbortSignal,
  ): Promise<Result<DepartureOutcome, StateError>>;
  /** Removes the membership with its conditions, cursors and imports; its history stays. Repeatable. */
  removeMembership(
    key: MembershipKey,
    departure: Departure,
    signal: AbortSignal,
  ): Promise<Result<DepartureOutcome, StateError>>;
  /** Gives the membership to another shard of its network profile that has room, under a new assignment. */
  moveMembership(
    key: MembershipKey,
    toShard: string,
    signal: AbortSignal,
  ): Promise<Result<MembershipOutcome | { readonly kind: "absent" | "shardFull" | "noSuchShard" }, StateError>>;
}

/** Memberships in the table. */
export function membershipStore(parts: StoreParts, shards: ShardStore): MembershipStore {
  const store = new MembershipWrites(parts, shards);
  const departures = new MembershipDepartures(parts, shards, store);
  return {
    readMembership: async (cluster, protocol, signal) => {
      const stored = await store.read({ cluster, protocol }, signal);
      return stored.ok ? ok(stored.value?.membership) : stored;
    },
    createMembership: async (request, signal) => await store.create(request, signal),
    updateMembership: async (key, change, expect, signal) => await store.update(key, change, expect, signal),
    detachMembership: async (key, departure, signal) => await departures.detach(key, departure, signal),
    removeMembership: async (key, departure, signal) => await departures.remove(key, departure, signal),
    moveMembership: async (key, toShard, signal) => await store.move(key, toShard, signal),
  };
}
