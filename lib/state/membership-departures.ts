import { failed, ok, type Result } from "../base/result.ts";
import { untilSettled } from "./attempts.ts";
import type { StateError } from "./errors.ts";
import { eventWrites } from "./history-store.ts";
import { keys } from "./keys.ts";
import { clearLeftovers } from "./leftovers.ts";
import type { MembershipKey } from "./membership.ts";
import { type Departure, decideMembershipChange } from "./membership-change.ts";
import { type MembershipWrites, noShard, ownIdentity, type StoredMembership } from "./membership-writes.ts";
import type { ShardStore } from "./shard-store.ts";
import { shardLoses } from "./shard-writes.ts";
import type { StoreParts } from "./store-parts.ts";
import { assign } from "./table/expression.ts";
import type { Write } from "./table/table.ts";
import { arrivedBefore, equals } from "./writes.ts";

/** What came of a departure. */
export interface DepartureOutcome {
  readonly kind: "removed" | "absent" | "refused";
}

/** How memberships go: first out of their shard, then out of the table. */
export class MembershipDepartures {
  readonly #parts: StoreParts;
  readonly #shards: ShardStore;
  readonly #memberships: Pick<MembershipWrites, "read">;

  constructor(parts: StoreParts, shards: ShardStore, memberships: Pick<MembershipWrites, "read">) {
    this.#parts = parts;
    this.#shards = shards;
    this.#memberships = memberships;
  }

  /** Out of the shard, into the phase `left`: what is still to be done for it concerns no window any more. */
  async detach(
    key: MembershipKey,
    departure: Departure,
    signal: AbortSignal,
  ): Promise<Result<DepartureOutcome, StateError>> {
    return await this.#depart(key, departure, signal, ({ membership, version }, writeId) =>
      membership.phase === "left"
        ? []
        : [
            {
              kind: "update",
              key: keys.membership(key.cluster, key.protocol),
              update: assign({ phase: "left", version: version + 1, updatedAt: this.#now(), writeId }),
              condition: equals("version", version),
            },
            { kind: "put", item: { ...keys.underWay(key.cluster, key.protocol), ...key } },
          ],
    );
  }

  /** Out of the table, and out of the shard where it still is in one; then what belonged to it. */
  async remove(
    key: MembershipKey,
    departure: Departure,
    signal: AbortSignal,
  ): Promise<Result<DepartureOutcome, StateError>> {
    const removed = await this.#depart(key, departure, signal, ({ version, membership: { clusterUID } }) => [
      { kind: "delete", key: keys.membership(key.cluster, key.protocol), condition: equals("version", version) },
      { kind: "delete", key: keys.underWay(key.cluster, key.protocol) },
      ...(clusterUID === undefined
        ? []
        : [
            {
              kind: "delete",
              key: keys.identity(clusterUID, key.protocol),
              condition: ownIdentity(key.cluster),
            } as const,
          ]),
    ]);
    if (!removed.ok || removed.value.kind === "refused") return removed;
    const call = { what: `clear membership ${key.cluster}/${key.protocol}`, signal };
    const cleared = await untilSettled(
      this.#parts,
      call,
      async () => await clearLeftovers(this.#parts.table, key, call),
    );
    return cleared.ok ? removed : cleared;
  }

  async #depart(
    key: MembershipKey,
    departure: Departure,
    signal: AbortSignal,
    own: (stored: StoredMembership, writeId: string) => readonly Write[],
  ): Promise<Result<DepartureOutcome, StateError>> {
    const call = { what: `remove membership ${key.cluster}/${key.protocol}`, signal };
    return await untilSettled<DepartureOutcome>(this.#parts, call, async () => {
      const read = await this.#memberships.read(key, signal);
      if (!read.ok) return read;
      if (read.value === undefined) return ok({ kind: "absent" });
      const decision = decideMembershipChange(read.value.membership, {}, departure, this.#now());
      if (decision.kind === "refused") return ok({ kind: "refused" });
      const writeId = this.#parts.ids.uuid();
      const fromShard = await this.#leaveShard(read.value, writeId, signal);
      if (!fromShard.ok) return fromShard;
      const writes = [...own(read.value, writeId), ...fromShard.value];
      if (writes.length === 0) return ok({ kind: "removed" });
      writes.push(...eventWrites(key.cluster, departure.event, this.#parts.ids));
      const answer = await this.#parts.table.transact(writes, call);
      if (!answer.ok) return answer;
      return answer.value.kind === "written" || arrivedBefore(answer.value, writeId)
        ? ok({ kind: "removed" })
        : "again";
    });
  }

  async #leaveShard(
    { membership }: StoredMembership,
    writeId: string,
    signal: AbortSignal,
  ): Promise<Result<readonly Write[], StateError>> {
    if (membership.phase === "left") return ok([]);
    const shard = await this.#shards.readShard(membership.shard, signal);
    if (!shard.ok) return shard;
    if (shard.value === undefined) return failed(noShard(membership));
    const { cluster, protocol } = membership;
    return ok([
      { kind: "delete", key: keys.shardMember(membership.shard, cluster, protocol) },
      shardLoses(shard.value, writeId, this.#now()),
    ]);
  }

  #now(): number {
    return this.#parts.clock.now().getTime();
  }
}
