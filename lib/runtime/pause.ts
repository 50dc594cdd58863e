import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import type { ConditionStore } from "../state/condition-store.ts";
import type { StateError } from "../state/errors.ts";
import type { Membership, MembershipKey, SummaryState } from "../state/membership.ts";
import type { MembershipChange } from "../state/membership-change.ts";
import type { MembershipStore } from "../state/membership-store.ts";

/** What became of a wish to pause or to resume. */
export type PauseOutcome = "paused" | "resumed" | "unchanged" | "absent" | "leaving";

/** What pausing reads and writes. */
export type PauseStore = Pick<MembershipStore, "readMembership" | "updateMembership"> &
  Pick<ConditionStore, "readConditions">;

/** What a membership shows while nothing newer is known than its condition `Ready`. */
const SHOWN: Readonly<Record<string, SummaryState>> = { True: "Connected", False: "Disconnected" };

/**
 * Lets a membership rest, or ends its rest. Its roles see it at their next look at the shard, within two intervals: they
 * stop beating, and the hub counts the cluster as disconnected. Nothing is deleted.
 */
export async function setPaused(
  key: MembershipKey,
  paused: boolean,
  { store, clock }: { readonly store: PauseStore; readonly clock: Clock },
  signal: AbortSignal,
): Promise<Result<PauseOutcome, StateError>> {
  const read = await store.readMembership(key.cluster, key.protocol, signal);
  if (!read.ok) return read;
  const membership = read.value;
  if (membership === undefined) return ok("absent");
  if (membership.phase === "leaving" || membership.phase === "left") return ok("leaving");
  if ((membership.paused ?? false) === paused) return ok("unchanged");
  const change = paused ? ok(pauseChange(membership, clock)) : await resumeChange(membership, store, clock, signal);
  if (!change.ok) return change;
  const expect = { phase: ["joining", "joined"], assignment: membership.assignment } as const;
  const updated = await store.updateMembership(key, change.value, expect, signal);
  if (!updated.ok) return updated;
  if (updated.value.kind === "absent") return ok("absent");
  if (updated.value.kind === "refused") return ok("leaving");
  return ok(paused ? "paused" : "resumed");
}

function pauseChange({ protocol }: Membership, clock: Clock): MembershipChange {
  const at = clock.now().getTime();
  return {
    paused: true,
    summary: { state: "Paused", since: at },
    event: { at, protocol, kind: "Paused", message: "Paused on request: its beats stop" },
  };
}

/** A role that has written nothing since the pause began has nothing to correct: the summary follows what stands there. */
async function resumeChange(
  { cluster, protocol }: Membership,
  store: PauseStore,
  clock: Clock,
  signal: AbortSignal,
): Promise<Result<MembershipChange, StateError>> {
  const conditions = await store.readConditions(cluster, protocol, signal);
  if (!conditions.ok) return conditions;
  const at = clock.now().getTime();
  const ready = conditions.value.find(({ type }) => type === "Ready");
  const state = SHOWN[ready?.reason === "Paused" ? "" : (ready?.status ?? "")] ?? "Pending";
  return ok({
    paused: false,
    summary: { state, since: at, ...(ready?.cause === undefined ? {} : { cause: ready.cause }) },
    event: { at, protocol, kind: "Resumed", message: "Resumed on request" },
  });
}
