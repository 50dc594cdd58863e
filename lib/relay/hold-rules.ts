import type { PlannedChange } from "./baton.ts";
import type { BatonRecord, RoundException } from "./ports.ts";
import type { RelayTiming } from "./timing.ts";

/** The window that holds the baton. */
export interface Holder {
  readonly id: string;
  readonly fence: number;
  /** Deployment time of its code. */
  readonly deployedAt: number;
  /** Until the deadline of its invocation. */
  readonly remainingMs: number;
  /** The whole length of its window. */
  readonly windowMs: number;
}

/** What the role has reported of its last complete round. */
export interface Round {
  readonly roundAt?: number;
  readonly exceptions: Readonly<Record<string, RoundException>>;
  readonly moreExceptions: number;
}

/** Why a holder wants to be relieved, if it does: its time runs out, or a newer deployment has asked. */
export function decideYield(record: BatonRecord, own: Holder, timing: RelayTiming): "time" | "deployment" | undefined {
  if ((record.yieldTo ?? 0) > own.deployedAt) return "deployment";
  return own.remainingMs <= Math.min(timing.yieldRemainingMs, own.windowMs / 3) ? "time" : undefined;
}

/**
 * The next renewal. It expects the count that this holder knows, so that an earlier renewal of its own which was given up
 * and arrives late is refused: it would set the expiry back to a moment at which the holder still trusts its hold.
 * @param record the baton as this holder last saw it
 */
export function planRenewal(
  record: BatonRecord,
  own: Holder,
  carried: { readonly round: Round | undefined; readonly seenRevision: number | undefined },
  nowMs: number,
  timing: RelayTiming,
): PlannedChange {
  const yields = decideYield(record, own, timing) !== undefined;
  return {
    expect: { fence: own.fence, holder: own.id, renewals: record.renewals },
    change: {
      renewals: record.renewals + 1,
      expiresAt: nowMs + timing.expiryMs,
      yielding: yields ? true : undefined,
      endsAt: yields ? Math.floor(nowMs + own.remainingMs - timing.releaseBeforeDeadlineMs) : undefined,
      ...carried.round,
      ...(carried.seenRevision === undefined ? {} : { seenRevision: carried.seenRevision }),
    },
  };
}

/** Whether the record that stands there is this window's own: a write of its own had arrived, only the answer was lost. */
export function isMine(record: BatonRecord | undefined, own: Pick<Holder, "id" | "fence">): record is BatonRecord {
  return record?.holder === own.id && record.fence === own.fence;
}

/**
 * Gives the baton back; conditional on holder and fence, so that it never releases another's.
 * @param stopped all work of this window has ended and no predecessor can be at work: the next taker may write at once.
 *   Else the expiry stays, and the next taker waits for it before it writes.
 */
export function planRelease(
  record: BatonRecord,
  own: Holder,
  round: Round | undefined,
  stopped: boolean,
): PlannedChange {
  return {
    expect: { fence: own.fence, holder: own.id },
    change: {
      renewals: record.renewals + 1,
      holder: undefined,
      yielding: undefined,
      endsAt: undefined,
      ...(stopped ? { expiresAt: undefined, stoppedFence: own.fence } : {}),
      ...round,
    },
  };
}

/** Tells the successor that all work under the old fence has ended. */
export function planStopped(successor: BatonRecord, own: Pick<Holder, "fence">): PlannedChange {
  return { expect: { fence: successor.fence }, change: { stoppedFence: own.fence } };
}
