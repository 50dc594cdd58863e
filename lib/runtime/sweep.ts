import { isDeepStrictEqual } from "node:util";
import pLimit from "p-limit";
import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import type { ShortHold } from "../relay/short-run.ts";
import type { StateError } from "../state/errors.ts";
import type { Membership } from "../state/membership.ts";
import type { MembershipListStore } from "../state/membership-list.ts";
import type { MembershipStore } from "../state/membership-store.ts";
import type { Shard } from "../state/shard.ts";
import type { ShardStore } from "../state/shard-store.ts";
import type { StepFault } from "./join-ports.ts";
import {
  keepSchedules,
  removeRetired,
  type ShardSchedulePorts,
  type ShardScheduleSettings,
} from "./shard-schedules.ts";

/** Leaves at work at a time: each waits most of its time for a member or a leader. */
const CONCURRENCY = 16;

/** What a sweep reads and writes. */
export interface SweepPorts extends ShardSchedulePorts {
  readonly clock: Clock;
  readonly shards: ShardSchedulePorts["shards"] & Pick<ShardStore, "listShards" | "noteDisabledRoles">;
  readonly memberships: Pick<MembershipListStore, "listUnderWay"> & Pick<MembershipStore, "updateMembership">;
  /** Takes a leave that is under way further. `busy`: another is at it. */
  leaveOn(membership: Membership, signal: AbortSignal): Promise<"left" | "busy" | StepFault>;
}

/** What a sweep did. */
export interface SweepReport {
  /** Shards with memberships. */
  readonly shards: number;
  /** Names of the schedules that were made, put right, or deleted. */
  readonly schedules: readonly string[];
  /** Clusters whose leave came to its end, or whose join did. */
  readonly left: readonly string[];
  readonly joined: readonly string[];
  /** Leaves that are under way still. */
  readonly leaving: number;
  /** What did not work, and is tried again by the next sweep. */
  readonly faults: readonly string[];
}

/**
 * Makes shards and schedules agree, and takes joins and leaves that were cut off further. Idempotent; what one shard or
 * membership meets does not concern the others.
 *
 * A join needs nothing but its schedules: the role announces at every interval, and once it has connected all is done.
 */
export async function sweep(
  settings: ShardScheduleSettings,
  ports: SweepPorts,
  hold: Pick<ShortHold, "signal" | "mayWrite">,
): Promise<Result<SweepReport, StateError>> {
  const { signal } = hold;
  const listed = await ports.shards.listShards(undefined, signal);
  if (!listed.ok) return listed;
  const faults: string[] = [];
  const schedules: string[] = [];
  for (const shard of listed.value) {
    if (!hold.mayWrite()) break;
    const kept = await agree(shard, settings, ports, signal);
    if (kept.ok) schedules.push(...kept.value);
    else faults.push(kept.error.message);
  }
  const underWay = await ports.memberships.listUnderWay(signal);
  if (!underWay.ok) return underWay;
  const joined = await completeJoins(underWay.value, ports, signal);
  const leaves = await goOnWithLeaves(underWay.value, ports, hold);
  return ok({
    shards: listed.value.filter(({ count }) => count > 0).length,
    schedules,
    joined,
    left: leaves.left,
    leaving: leaves.leaving,
    faults: [...faults, ...leaves.faults],
  });
}

/** The names of the schedules that were made, put right or deleted. */
async function agree(
  shard: Shard,
  settings: ShardScheduleSettings,
  ports: SweepPorts,
  signal: AbortSignal,
): Promise<Result<readonly string[], StepFault>> {
  const kept = await keepSchedules(shard.name, settings, ports, signal);
  if (!kept.ok) return kept;
  const disabled = kept.value.filter(({ paused }) => paused).map(({ role }) => role);
  if (shard.count > 0 && !isDeepStrictEqual(disabled, shard.disabledRoles)) {
    const noted = await ports.shards.noteDisabledRoles(shard, disabled, signal);
    if (!noted.ok) return noted;
  }
  const removed = await removeRetired(shard, settings, ports, { now: ports.clock.now().getTime(), signal });
  if (!removed.ok) return removed;
  const changed = kept.value.filter(({ outcome }) => outcome !== "unchanged").map(({ name }) => name);
  return ok([...changed, ...removed.value]);
}

async function completeJoins(
  underWay: readonly Membership[],
  { memberships }: SweepPorts,
  signal: AbortSignal,
): Promise<readonly string[]> {
  const joined: string[] = [];
  for (const membership of underWay) {
    if (membership.phase !== "joining" || !membership.connectedOnce) continue;
    const expect = { phase: ["joining"], assignment: membership.assignment } as const;
    const done = await memberships.updateMembership(membership, { phase: "joined" }, expect, signal);
    // What was not written is found by the next sweep.
    if (done.ok && done.value.kind === "updated") joined.push(membership.cluster);
  }
  return joined;
}

async function goOnWithLeaves(
  underWay: readonly Membership[],
  ports: SweepPorts,
  hold: Pick<ShortHold, "signal" | "mayWrite">,
): Promise<Pick<SweepReport, "left" | "leaving" | "faults">> {
  const now = ports.clock.now().getTime();
  const going = underWay.filter(({ phase }) => phase === "leaving" || phase === "left");
  const due = going
    .filter(({ leave }) => (leave?.nextAttemptAt ?? 0) <= now)
    .toSorted((a, b) => (a.leave?.nextAttemptAt ?? 0) - (b.leave?.nextAttemptAt ?? 0));
  const left: string[] = [];
  const faults: string[] = [];
  const limit = pLimit(CONCURRENCY);
  const one = async (membership: Membership): Promise<void> => {
    if (!hold.mayWrite()) return;
    const outcome = await ports.leaveOn(membership, hold.signal);
    if (outcome === "left") left.push(membership.cluster);
    else if (outcome !== "busy") faults.push(`${membership.cluster}: ${outcome.message}`);
  };
  await Promise.all(due.map((membership) => limit(() => one(membership))));
  return { left, leaving: going.length - left.length, faults };
}
