import { failed, ok, type Result } from "../base/result.ts";
import { describeUserErrors } from "../base/user-error.ts";
import type { ScheduleError } from "../schedule/errors.ts";
import { type PlannedSchedule, planSchedules, type ScheduleSettings, scheduleName } from "../schedule/plan.ts";
import type { EnsuredSchedule } from "../schedule/scheduler.ts";
import type { StateError } from "../state/errors.ts";
import { RETIRED_MS, type Shard } from "../state/shard.ts";
import type { StepFault } from "./join-ports.ts";

/** Where schedules are and which roles they are for. */
export interface ShardScheduleSettings extends ScheduleSettings {
  readonly roles: readonly string[];
}

/** What keeping schedules reads and writes. Every call may be repeated. */
export interface ShardSchedulePorts {
  readonly shards: {
    readShard(shard: string, signal: AbortSignal): Promise<Result<Shard | undefined, StateError>>;
    forgetRetired(
      shard: Shard,
      generations: ReadonlySet<number>,
      signal: AbortSignal,
    ): Promise<Result<"written" | "outdated", StateError>>;
  };
  readonly scheduler: {
    ensure(planned: PlannedSchedule, signal: AbortSignal): Promise<Result<EnsuredSchedule, ScheduleError>>;
    remove(
      schedule: { readonly name: string; readonly group: string },
      signal: AbortSignal,
    ): Promise<Result<"removed" | "absent", ScheduleError>>;
  };
}

/** A schedule that is there now. */
export interface KeptSchedule extends EnsuredSchedule {
  readonly role: string;
  readonly name: string;
}

/** How often a shard that empties and fills while its schedules are made is looked at again. */
const TRIES = 3;

/**
 * Makes the schedules of a shard with memberships be there, as the plan has them.
 *
 * A shard that was emptied between the look at it and the making has retired its generation: what was made is taken back,
 * and the look repeated. Whoever is killed in between leaves a schedule that `removeRetired` finds, as a generation is
 * remembered for longer than any invocation lives.
 *
 * @returns the schedules; none when the shard is empty
 */
export async function keepSchedules(
  shardName: string,
  settings: ShardScheduleSettings,
  { shards, scheduler }: ShardSchedulePorts,
  signal: AbortSignal,
): Promise<Result<readonly KeptSchedule[], StepFault>> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const shard = await shards.readShard(shardName, signal);
    if (!shard.ok) return shard;
    if (shard.value === undefined || shard.value.count === 0) return ok([]);
    const kept = await ensureAll(shard.value, settings, scheduler, signal);
    if (!kept.ok || kept.value.every(({ outcome }) => outcome !== "created")) return kept;
    const now = await shards.readShard(shardName, signal);
    if (!now.ok) return now;
    if (now.value?.generation === shard.value.generation) return kept;
    for (const { name } of kept.value) {
      const removed = await scheduler.remove({ name, group: settings.group }, signal);
      if (!removed.ok) return removed;
    }
  }
  return failed({ message: `shard ${shardName} was emptied and filled each time its schedules were made` });
}

/**
 * Deletes the schedules of the generations that have ended, and forgets those that nobody can make any more.
 * @param now milliseconds since the epoch
 * @returns the names of what was deleted
 */
export async function removeRetired(
  shard: Shard,
  { stage, group, roles }: ShardScheduleSettings,
  { shards, scheduler }: ShardSchedulePorts,
  { now, signal }: { readonly now: number; readonly signal: AbortSignal },
): Promise<Result<readonly string[], StepFault>> {
  const deleted: string[] = [];
  for (const { generation } of shard.retired) {
    for (const role of roles) {
      const name = scheduleName(stage, role, { name: shard.name, generation });
      const removed = await scheduler.remove({ name, group }, signal);
      if (!removed.ok) return removed;
      if (removed.value === "removed") deleted.push(name);
    }
  }
  const over = shard.retired.filter(({ at }) => now - at > RETIRED_MS).map(({ generation }) => generation);
  if (over.length === 0) return ok(deleted);
  const forgotten = await shards.forgetRetired(shard, new Set(over), signal);
  return forgotten.ok ? ok(deleted) : forgotten;
}

async function ensureAll(
  shard: Shard,
  settings: ShardScheduleSettings,
  scheduler: ShardSchedulePorts["scheduler"],
  signal: AbortSignal,
): Promise<Result<readonly KeptSchedule[], StepFault>> {
  const { schedules, errors } = planSchedules(settings, shard, settings.roles);
  if (errors.length > 0) return failed({ message: describeUserErrors(errors) });
  const kept: KeptSchedule[] = [];
  for (const [i, planned] of schedules.entries()) {
    const ensured = await scheduler.ensure(planned, signal);
    if (!ensured.ok) return ensured;
    kept.push({ ...ensured.value, role: settings.roles[i] ?? "", name: planned.name });
  }
  return ok(kept);
}
