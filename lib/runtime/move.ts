import * as v from "valibot";
import { failed, ok, type Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { ShortHold } from "../relay/short-run.ts";
import type { Membership, MembershipKey } from "../state/membership.ts";
import type { MembershipStore } from "../state/membership-store.ts";
import type { Shard } from "../state/shard.ts";
import type { ShardStore } from "../state/shard-store.ts";
import type { JoinPorts } from "./join-ports.ts";
import { keepSchedules, removeRetired, type ShardScheduleSettings } from "./shard-schedules.ts";
import { startRole } from "./shard-start.ts";

/** What `bootstrap` is asked for when a membership is to move. */
export interface MoveRequest extends MembershipKey {
  /** Absent: any other shard of the network profile that has room. */
  readonly shard?: string;
}

/** What a move answers. */
export type MoveAnswer =
  | { readonly ok: true; readonly cluster: string; readonly from: string; readonly to: string }
  | { readonly ok: false; readonly errors: readonly UserError[] };

/** What a move reads and writes. */
export interface MovePorts extends Pick<JoinPorts, "scheduler" | "isWorked" | "invoke"> {
  readonly memberships: Pick<MembershipStore, "readMembership" | "moveMembership">;
  readonly shards: JoinPorts["shards"] & Pick<ShardStore, "chooseShard">;
  /** Milliseconds since the epoch. */
  now(): number;
}

const label = v.pipe(
  v.string("must be a name"),
  v.regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "is not a name of lower-case letters, digits and dashes"),
);

const EVENT = v.strictObject({
  move: v.strictObject({
    cluster: label,
    protocol: v.optional(v.picklist(["antrea"], "must be antrea"), "antrea"),
    shard: v.exactOptional(label),
  }),
});

/** Reads `{move: {cluster, protocol?, shard?}}`; undefined for an event that asks for something else. */
export function parseMoveEvent(event: unknown): Result<MoveRequest, readonly UserError[]> | undefined {
  if (typeof event !== "object" || event === null || !("move" in event)) return undefined;
  const parsed = v.safeParse(EVENT, event);
  if (parsed.success) return ok(parsed.output.move);
  const remedy = 'Send {"move": {"cluster": "NAME", "shard": "NAME"}}; without shard any other one with room is taken.';
  return failed(parsed.issues.map((issue) => ({ path: v.getDotPath(issue) ?? "", problem: issue.message, remedy })));
}

/**
 * Moves a membership to another shard: the table first, then the new shard's schedules, and a window for it at once where
 * none is at work, so that no more than one or two beats are late. May be repeated; a move that is cut off after the table
 * is completed by the sweep.
 */
export async function move(
  { shard: wanted, ...key }: MoveRequest,
  settings: ShardScheduleSettings,
  ports: MovePorts,
  { signal }: Pick<ShortHold, "signal">,
): Promise<MoveAnswer> {
  const read = await ports.memberships.readMembership(key.cluster, key.protocol, signal);
  if (!read.ok) return refused("", read.error.message, "Try again.");
  if (read.value === undefined)
    return refused("cluster", "there is no such membership", "hawser status lists them all.");
  const target = await chooseTarget(read.value, wanted, ports, signal);
  if (!target.ok) return { ok: false, errors: [target.error] };
  const from = read.value.shard;
  const moved = await ports.memberships.moveMembership(key, target.value, signal);
  if (!moved.ok) return refused("", moved.error.message, "Try again.");
  const { kind } = moved.value;
  if (kind !== "updated" && kind !== "unchanged") return { ok: false, errors: [{ path: "shard", ...REFUSALS[kind] }] };
  const served = await serve(target.value, from, settings, ports, signal);
  if (!served.ok)
    return refused("", served.error.message, "The sweep completes it within two minutes; or move it again.");
  return { ok: true, cluster: key.cluster, from, to: target.value };
}

const OTHER = "Name another one, or none: a shard with room is taken.";

const REFUSALS = {
  absent: { problem: "the membership is gone", remedy: "hawser status lists them all." },
  refused: { problem: "the membership is being left", remedy: "Wait until it has left." },
  shardFull: { problem: "the shard is full", remedy: OTHER },
  noSuchShard: { problem: "there is no such shard in the membership's network profile", remedy: OTHER },
} as const;

async function chooseTarget(
  { shard, options }: Membership,
  wanted: string | undefined,
  { shards }: MovePorts,
  signal: AbortSignal,
): Promise<Result<string, UserError>> {
  if (wanted !== undefined) return ok(wanted);
  const chosen: Result<Shard, { readonly message: string }> = await shards.chooseShard(
    options.networkProfile,
    signal,
    shard,
  );
  return chosen.ok ? ok(chosen.value.name) : failed({ path: "", problem: chosen.error.message, remedy: "Try again." });
}

async function serve(
  to: string,
  from: string,
  settings: ShardScheduleSettings,
  ports: MovePorts,
  signal: AbortSignal,
): Promise<Result<void, { readonly message: string }>> {
  const kept = await keepSchedules(to, settings, ports, signal);
  if (!kept.ok) return kept;
  for (const { role, paused } of kept.value) {
    const started = paused ? ok(undefined) : await startRole({ role, shard: to }, ports, signal);
    if (!started.ok) return started;
  }
  const left = await ports.shards.readShard(from, signal);
  if (!left.ok) return left;
  if (left.value === undefined) return ok(undefined);
  const removed = await removeRetired(left.value, settings, ports, { now: ports.now(), signal });
  return removed.ok ? ok(undefined) : removed;
}

function refused(path: string, problem: string, remedy: string): MoveAnswer {
  return { ok: false, errors: [{ path, problem, remedy }] };
}
