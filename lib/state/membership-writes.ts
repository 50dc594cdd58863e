import { isDeepStrictEqual } from "node:util";
import { failed, ok, type Result } from "../base/result.ts";
import { untilSettled } from "./attempts.ts";
import type { StateError } from "./errors.ts";
import type { NewHistoryEvent } from "./history.ts";
import { eventWrites } from "./history-store.ts";
import { items, readItem } from "./items.ts";
import { IDENTITY_PREFIX, keys } from "./keys.ts";
import { clearLeftovers } from "./leftovers.ts";
import { type Membership, type MembershipKey, PROTOCOLS } from "./membership.ts";
import {
  decideMembershipChange,
  decideRejoin,
  type MembershipChange,
  type MembershipDecision,
  type MembershipExpectation,
} from "./membership-change.ts";
import type { CreateOutcome, JoinRequest, MembershipOutcome } from "./membership-outcome.ts";
import type { ShardStore } from "./shard-store.ts";
import { shardChanges, shardGains, shardLoses } from "./shard-writes.ts";
import type { StoreParts } from "./store-parts.ts";
import { assign, type Expression, expr, path, value } from "./table/expression.ts";
import type { Call, Item, Refusal, Write } from "./table/table.ts";
import { absent, arrivedBefore, equals, membershipItem } from "./writes.ts";

/** A membership as it was read; a write under its `version` meets no change in between. */
export interface StoredMembership {
  readonly membership: Membership;
  readonly version: number;
}

/** Reads, decides and writes memberships: each change is one transaction that meets what was read, or is decided anew. */
export class MembershipWrites {
  readonly #parts: StoreParts;
  readonly #shards: ShardStore;

  constructor(parts: StoreParts, shards: ShardStore) {
    this.#parts = parts;
    this.#shards = shards;
  }

  async read(key: MembershipKey, signal: AbortSignal): Promise<Result<StoredMembership | undefined, StateError>> {
    const call = { what: `read membership ${nameOf(key)}`, signal };
    const read = await this.#parts.table.get(keys.membership(key.cluster, key.protocol), call);
    if (!read.ok) return read;
    if (read.value === undefined) return ok(undefined);
    return storedOf(read.value);
  }

  async create(request: JoinRequest, signal: AbortSignal): Promise<Result<CreateOutcome, StateError>> {
    const call = { what: `create membership ${nameOf(request.spec)}`, signal };
    return await untilSettled<CreateOutcome>(this.#parts, call, async () => {
      const read = await this.read(request.spec, signal);
      if (!read.ok) return read;
      if (read.value === undefined) return await this.#createNew(request, call);
      const decision = decideRejoin(read.value.membership, request.spec, request.clusterUID, this.#now());
      return await this.#apply(read.value, decision, call);
    });
  }

  async update(
    key: MembershipKey,
    change: MembershipChange,
    expect: MembershipExpectation,
    signal: AbortSignal,
  ): Promise<Result<MembershipOutcome | { kind: "absent" }, StateError>> {
    const call = { what: `update membership ${nameOf(key)}`, signal };
    return await untilSettled<MembershipOutcome | { kind: "absent" }>(this.#parts, call, async () => {
      const read = await this.read(key, signal);
      if (!read.ok) return read;
      if (read.value === undefined) return ok({ kind: "absent" });
      const decision = decideMembershipChange(read.value.membership, change, expect, this.#now());
      return await this.#apply(read.value, decision, call, change.event);
    });
  }

  async move(
    key: MembershipKey,
    toShard: string,
    signal: AbortSignal,
  ): Promise<Result<MembershipOutcome | { kind: "absent" | "shardFull" | "noSuchShard" }, StateError>> {
    const call = { what: `move membership ${nameOf(key)} to shard ${toShard}`, signal };
    return await untilSettled<MembershipOutcome | { kind: "absent" | "shardFull" | "noSuchShard" }>(
      this.#parts,
      call,
      async () => {
        const [read, shard] = await Promise.all([this.read(key, signal), this.#shards.readShard(toShard, signal)]);
        if (!read.ok) return read;
        if (!shard.ok) return shard;
        if (read.value === undefined) return ok({ kind: "absent" });
        const { membership } = read.value;
        if (membership.phase === "leaving" || membership.phase === "left") {
          return ok({ kind: "refused", because: "Leaving", membership });
        }
        if (membership.shard === toShard) return ok({ kind: "unchanged", membership });
        if (shard.value?.networkProfile !== membership.options.networkProfile) return ok({ kind: "noSuchShard" });
        if (shard.value.count >= shard.value.capacity) return ok({ kind: "shardFull" });
        return await this.#moveTo(read.value, membership, toShard, call);
      },
    );
  }

  async #createNew(request: JoinRequest, call: Call): Promise<Result<CreateOutcome, StateError> | "again"> {
    const { spec, createdBy, clusterUID } = request;
    // What a removed membership of this name has left would order the new one's conditions by another assignment.
    const [cleared, shard] = await Promise.all([
      clearLeftovers(this.#parts.table, spec, call),
      this.#shards.chooseShard(spec.options.networkProfile, call.signal),
    ]);
    if (cleared === "again") return "again";
    if (!cleared.ok) return cleared;
    if (cleared.value === "taken") return "again";
    if (!shard.ok) return shard;
    const now = this.#now();
    const membership: Membership = {
      ...spec,
      shard: shard.value.name,
      phase: "joining",
      assignment: 1,
      ...(clusterUID === undefined ? {} : { clusterUID }),
      connectedOnce: false,
      createdAt: now,
      createdBy,
      updatedAt: now,
      summary: { state: "Pending", since: now },
    };
    const writeId = this.#parts.ids.uuid();
    const key = keys.membership(spec.cluster, spec.protocol);
    const writes: Write[] = [
      { kind: "put", item: membershipItem(key, membership, 1, writeId), condition: absent },
      { kind: "put", item: memberItem(membership) },
      shardGains(membership.shard, writeId),
      underWayWrite(membership),
      ...sameClusterChecks(spec, clusterUID),
      ...identityWrites(spec, clusterUID),
    ];
    const answer = await this.#parts.table.transact(writes, call);
    if (!answer.ok) return answer;
    if (answer.value.kind === "written" || arrivedBefore(answer.value, writeId))
      return ok({ kind: "created", membership });
    const refusal = clusterRefusal(answer.value.refusals, writes);
    return refusal === undefined ? "again" : ok({ kind: "refused", ...refusal, membership: undefined });
  }

  async #apply(
    stored: StoredMembership,
    decision: MembershipDecision,
    call: Call,
    event?: NewHistoryEvent,
  ): Promise<Result<MembershipOutcome, StateError> | "again"> {
    const { membership } = stored;
    if (decision.kind === "unchanged") return ok({ kind: "unchanged", membership });
    if (decision.kind === "refused") return ok({ kind: "refused", because: decision.because, membership });
    const { next, raisesRevision } = decision;
    const profile = next.options.networkProfile;
    if (profile !== membership.options.networkProfile) {
      const shard = await this.#shards.chooseShard(profile, call.signal);
      return shard.ok ? await this.#moveTo(stored, next, shard.value.name, call) : shard;
    }
    const writeId = this.#parts.ids.uuid();
    // A membership that has left its shard concerns no window.
    const concerns = raisesRevision && membership.phase !== "left";
    const revision = concerns ? [shardChanges(next.shard, writeId)] : [];
    const more = [...revision, ...eventWrites(next.cluster, event, this.#parts.ids)];
    return await this.#write(stored, next, writeId, more, call);
  }

  async #moveTo(
    stored: StoredMembership,
    changed: Membership,
    toShard: string,
    call: Call,
  ): Promise<Result<MembershipOutcome, StateError> | "again"> {
    const { membership } = stored;
    const { cluster, protocol } = membership;
    const left = await this.#shards.readShard(membership.shard, call.signal);
    if (!left.ok) return left;
    if (left.value === undefined) return failed(noShard(membership));
    const assignment = membership.assignment + 1;
    const next = { ...changed, shard: toShard, assignment, updatedAt: this.#now() };
    const writeId = this.#parts.ids.uuid();
    const more: Write[] = [
      { kind: "delete", key: keys.shardMember(membership.shard, cluster, protocol) },
      { kind: "put", item: memberItem(next) },
      shardLoses(left.value, writeId, this.#now()),
      shardGains(toShard, writeId),
    ];
    return await this.#write(stored, next, writeId, more, call);
  }

  /** Writes the fields that differ; conditions may write others of the same item at the same time. */
  async #write(
    { membership, version }: StoredMembership,
    next: Membership,
    writeId: string,
    more: readonly Write[],
    call: Call,
  ): Promise<Result<MembershipOutcome, StateError> | "again"> {
    const differing = Object.entries({ ...membership, ...absentIn(next, membership), ...next }).filter(
      ([name, field]) => !isDeepStrictEqual(field, membership[name as keyof Membership]),
    );
    const reassigned = next.assignment !== membership.assignment ? { fences: {} } : {};
    const fields = { ...Object.fromEntries(differing), ...reassigned, summaryState: next.summary.state };
    const uid = next.clusterUID === membership.clusterUID ? undefined : next.clusterUID;
    const writes: Write[] = [
      {
        kind: "update",
        key: keys.membership(next.cluster, next.protocol),
        update: assign({ ...fields, version: version + 1, writeId }),
        condition: equals("version", version),
      },
      ...more,
      ...(next.phase === membership.phase ? [] : [underWayWrite(next)]),
      ...sameClusterChecks(next, uid),
      ...identityWrites(next, uid),
    ];
    const answer = await this.#parts.table.transact(writes, call);
    if (!answer.ok) return answer;
    if (answer.value.kind === "written" || arrivedBefore(answer.value, writeId))
      return ok({ kind: "updated", membership: next });
    const refusal = clusterRefusal(answer.value.refusals, writes);
    return refusal === undefined ? "again" : ok({ kind: "refused", ...refusal, membership });
  }

  #now(): number {
    return this.#parts.clock.now().getTime();
  }
}

function storedOf(item: Item): Result<StoredMembership, StateError> {
  const membership = readItem(items.membership, item);
  if (!membership.ok) return membership;
  const version = item["version"];
  if (typeof version !== "number") {
    return failed({
      kind: "invalid",
      message: `membership ${nameOf(membership.value)} has no version; restore the item`,
    });
  }
  return ok({ membership: membership.value, version });
}

/** The fields that are taken away, as `undefined`. */
function absentIn(next: Membership, previous: Membership): Readonly<Record<string, undefined>> {
  const gone = Object.keys(previous).filter((name) => !Object.hasOwn(next, name));
  return Object.fromEntries(gone.map((name) => [name, undefined]));
}

/** The table has lost a shard that memberships are in. */
export function noShard({ shard, cluster, protocol }: Membership): StateError {
  const message = `shard ${shard} of membership ${nameOf({ cluster, protocol })} is gone; restore its item`;
  return { kind: "invalid", message };
}

/** Whoever takes memberships further finds those that are on their way without reading the others. */
function underWayWrite({ cluster, protocol, phase }: Membership): Write {
  const key = keys.underWay(cluster, protocol);
  return phase === "joined" ? { kind: "delete", key } : { kind: "put", item: { ...key, cluster, protocol } };
}

function memberItem({ shard, cluster, protocol }: Membership): Item & { pk: string; sk: string } {
  return { ...keys.shardMember(shard, cluster, protocol), cluster, protocol };
}

/** A name has one cluster behind it, whatever the protocol: the other memberships of the name must agree. */
function sameClusterChecks({ cluster, protocol }: MembershipKey, clusterUID: string | undefined): Write[] {
  if (clusterUID === undefined) return [];
  const uid = path("clusterUID");
  return PROTOCOLS.filter((other) => other !== protocol).map((other) => ({
    kind: "check",
    key: keys.membership(cluster, other),
    condition: expr`attribute_not_exists(${uid}) OR ${uid} = ${value(clusterUID)}`,
  }));
}

/** A cluster has one name by a protocol: two would beat, clean up and leave for each other. */
function identityWrites({ cluster, protocol }: MembershipKey, clusterUID: string | undefined): Write[] {
  if (clusterUID === undefined) return [];
  const item = { ...keys.identity(clusterUID, protocol), cluster, protocol };
  return [{ kind: "put", item, condition: ownIdentity(cluster) }];
}

/** Nobody has it, or this name. */
export function ownIdentity(cluster: string): Expression {
  return expr`attribute_not_exists(${path("pk")}) OR ${path("cluster")} = ${value(cluster)}`;
}

/** Which cluster is in the way; undefined: another write was. */
function clusterRefusal(
  refusals: readonly Refusal[],
  writes: readonly Write[],
): { readonly because: "OtherCluster" } | { readonly because: "SameCluster"; readonly heldBy: string } | undefined {
  for (const { index, standing } of refusals) {
    const write = writes[index];
    if (write?.kind === "check") return { because: "OtherCluster" };
    if (write?.kind === "put" && write.item.pk.startsWith(IDENTITY_PREFIX)) {
      const holder = standing?.["cluster"];
      return { because: "SameCluster", heldBy: typeof holder === "string" ? holder : "another name" };
    }
  }
  return undefined;
}

function nameOf({ cluster, protocol }: MembershipKey): string {
  return `${cluster}/${protocol}`;
}
