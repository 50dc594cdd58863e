import { ok, type Result } from "../base/result.ts";
import { untilSettled } from "./attempts.ts";
import type { StateError } from "./errors.ts";
import { items, readItem, readItems } from "./items.ts";
import { keys, shardEntryPrefix } from "./keys.ts";
import type { Membership } from "./membership.ts";
import { membershipKeys, readAll, under } from "./pages.ts";
import { type Shard, shardName } from "./shard.ts";
import { shardForgets, shardShows } from "./shard-writes.ts";
import type { StoreParts } from "./store-parts.ts";
import type { Call, Write } from "./table/table.ts";
import { absent, arrivedBefore } from "./writes.ts";

/** Shards and who is in them. All reads are strongly consistent. */
export interface ShardStore {
  readShard(shard: string, signal: AbortSignal): Promise<Result<Shard | undefined, StateError>>;
  /** All shards, or those of one network profile, in the order of their making. */
  listShards(networkProfile: string | undefined, signal: AbortSignal): Promise<Result<readonly Shard[], StateError>>;
  /**
   * The first shard of the network profile that has room; one is made when there is none.
   * @param but not this one
   */
  chooseShard(networkProfile: string, signal: AbortSignal, but?: string): Promise<Result<Shard, StateError>>;
  /**
   * The memberships of a shard, by cluster name. Read the shard's revision before: a change in between is then seen at
   * the next look at the revision.
   */
  readShardMemberships(shard: string, signal: AbortSignal): Promise<Result<readonly Membership[], StateError>>;
  /** Notes which roles' schedules a person has disabled. `outdated`: the shard's generation has ended meanwhile. */
  noteDisabledRoles(
    shard: Shard,
    roles: readonly string[],
    signal: AbortSignal,
  ): Promise<Result<"written" | "outdated", StateError>>;
  /** Forgets retired generations whose schedules are gone for good. `outdated`: another was retired meanwhile. */
  forgetRetired(
    shard: Shard,
    generations: ReadonlySet<number>,
    signal: AbortSignal,
  ): Promise<Result<"written" | "outdated", StateError>>;
}

/** Shards in the table. */
export function shardStore(parts: StoreParts): ShardStore {
  return {
    readShard: async (shard, signal) => {
      const read = await parts.table.get(keys.shard(shard), { what: `read shard ${shard}`, signal });
      if (!read.ok) return read;
      return read.value === undefined ? ok(undefined) : readItem(items.shard, read.value);
    },
    listShards: async (networkProfile, signal) => await listShards(parts, networkProfile, signal),
    chooseShard: async (networkProfile, signal, but) => await chooseShard(parts, { networkProfile, but }, signal),
    readShardMemberships: async (shard, signal) => await readShardMemberships(parts, shard, signal),
    noteDisabledRoles: async (shard, roles, signal) =>
      await writeShard(parts, shardShows(shard, roles, parts.ids.uuid()), {
        what: `note what is disabled of shard ${shard.name}`,
        signal,
      }),
    forgetRetired: async (shard, generations, signal) =>
      await writeShard(parts, shardForgets(shard, generations, parts.ids.uuid()), {
        what: `forget retired schedules of shard ${shard.name}`,
        signal,
      }),
  };
}

async function writeShard(
  { table }: StoreParts,
  write: Exclude<Write, { kind: "check" }>,
  call: Call,
): Promise<Result<"written" | "outdated", StateError>> {
  const answer = await table.write(write, call);
  // What was written before an answer was lost is the same as what would be written again.
  return answer.ok ? ok(answer.value.kind === "written" ? "written" : "outdated") : answer;
}

async function listShards(
  { table }: StoreParts,
  networkProfile: string | undefined,
  signal: AbortSignal,
): Promise<Result<readonly Shard[], StateError>> {
  const call = { what: "list shards", signal };
  const prefix = networkProfile === undefined ? "PROFILE#" : shardEntryPrefix(networkProfile);
  const entries = await readAll(table, { where: under("SHARDS", prefix) }, call);
  if (!entries.ok) return entries;
  const names = entries.value.map((entry) => String(entry["name"]));
  const found = await table.getMany(names.map(keys.shard), call);
  if (!found.ok) return found;
  const shards = readItems(items.shard, found.value);
  if (!shards.ok) return shards;
  const order = new Map(names.map((name, i) => [name, i]));
  return ok(shards.value.toSorted((a, b) => (order.get(a.name) ?? 0) - (order.get(b.name) ?? 0)));
}

async function chooseShard(
  parts: StoreParts,
  { networkProfile, but }: { readonly networkProfile: string; readonly but: string | undefined },
  signal: AbortSignal,
): Promise<Result<Shard, StateError>> {
  const call = { what: `choose a shard of the network profile ${networkProfile}`, signal };
  return await untilSettled<Shard>(parts, call, async () => {
    const shards = await listShards(parts, networkProfile, signal);
    if (!shards.ok) return shards;
    const withRoom = shards.value.find((shard) => shard.count < shard.capacity && shard.name !== but);
    return withRoom === undefined
      ? await makeShard(parts, networkProfile, shards.value.length + 1, call)
      : ok(withRoom);
  });
}

async function makeShard(
  { table, ids, shardCapacity }: StoreParts,
  networkProfile: string,
  number: number,
  call: Call,
): Promise<Result<Shard, StateError> | "again"> {
  const name = shardName(networkProfile, number);
  const shard: Shard = {
    name,
    networkProfile,
    revision: 0,
    count: 0,
    capacity: shardCapacity,
    generation: 1,
    retired: [],
    disabledRoles: [],
  };
  const writeId = ids.uuid();
  const answer = await table.transact(
    [
      { kind: "put", item: { ...keys.shard(name), ...shard, writeId }, condition: absent },
      { kind: "put", item: { ...keys.shardEntry(networkProfile, number), name, writeId }, condition: absent },
    ],
    call,
  );
  if (!answer.ok) return answer;
  return answer.value.kind === "written" || arrivedBefore(answer.value, writeId) ? ok(shard) : "again";
}

async function readShardMemberships(
  { table, onUnreadable }: StoreParts,
  shard: string,
  signal: AbortSignal,
): Promise<Result<readonly Membership[], StateError>> {
  const call = { what: `read the memberships of shard ${shard}`, signal };
  const members = await readAll(table, { where: under(keys.shard(shard).pk, "MEMBER#") }, call);
  if (!members.ok) return members;
  const found = await table.getMany(members.value.flatMap(membershipKeys), call);
  if (!found.ok) return found;
  const memberships = found.value.flatMap((item) => {
    const read = readItem(items.membership, item);
    if (read.ok) return read.value.shard === shard ? [read.value] : [];
    onUnreadable(read.error);
    return [];
  });
  return ok(memberships.toSorted((a, b) => compare(a.cluster, b.cluster) || compare(a.protocol, b.protocol)));
}

function compare(a: string, b: string): number {
  return a < b ? -1 : Number(a > b);
}
