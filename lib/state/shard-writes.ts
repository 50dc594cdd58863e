import { keys } from "./keys.ts";
import type { Shard } from "./shard.ts";
import { assign, type Expression, expr, path, value } from "./table/expression.ts";
import type { Write } from "./table/table.ts";
import { equals, present } from "./writes.ts";

/**
 * A shard's part of the transactions by which memberships come, change and go: its count and revision always agree with
 * who is in it.
 */

type Update = Extract<Write, { readonly kind: "update" }>;

const oneMore = expr`${path("revision")} = ${path("revision")} + ${value(1)}`;

/** One of the shard's memberships has changed. */
export function shardChanges(shard: string, writeId: string): Update {
  return update(shard, { writeId }, [oneMore], present);
}

/** A membership comes; refused when the shard is full. */
export function shardGains(shard: string, writeId: string): Update {
  const counted = expr`${path("count")} = ${path("count")} + ${value(1)}`;
  const room = expr`${present} AND ${path("count")} < ${path("capacity")}`;
  return update(shard, { writeId }, [oneMore, counted], room);
}

/**
 * A membership goes. With the last one goes the need for the shard's schedules: their generation is retired by the same
 * write. It is refused when what was read does not hold any more: the other memberships went meanwhile, or one came.
 * @param now milliseconds since the epoch
 */
export function shardLoses({ name, count, generation, retired }: Shard, writeId: string, now: number): Update {
  if (count > 1) {
    const counted = expr`${path("count")} = ${path("count")} - ${value(1)}`;
    return update(name, { writeId }, [oneMore, counted], expr`${path("count")} > ${value(1)}`);
  }
  const fields = {
    writeId,
    count: 0,
    generation: generation + 1,
    retired: [...retired, { generation, at: now }],
    disabledRoles: [],
  };
  const last = expr`${path("count")} = ${value(1)} AND ${path("generation")} = ${value(generation)}`;
  return update(name, fields, [oneMore], last);
}

/** Retired generations that are forgotten; refused when another was retired meanwhile. */
export function shardForgets(
  { name, generation, retired }: Shard,
  generations: ReadonlySet<number>,
  writeId: string,
): Update {
  const rest = retired.filter((each) => !generations.has(each.generation));
  return update(name, { writeId, retired: rest }, [], equals("generation", generation));
}

/** What was seen of the shard's schedules; no window works by it, so that the revision stays. */
export function shardShows({ name, generation }: Shard, disabledRoles: readonly string[], writeId: string): Update {
  return update(name, { writeId, disabledRoles }, [], equals("generation", generation));
}

function update(
  shard: string,
  fields: Readonly<Record<string, unknown>>,
  more: readonly Expression[],
  condition: Expression,
): Update {
  return { kind: "update", key: keys.shard(shard), update: assign(fields, more), condition };
}
