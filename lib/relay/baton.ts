import type { BatonChange, BatonExpectation, BatonRecord } from "./ports.ts";
import { type RelayTiming, renewEveryMs } from "./timing.ts";

/** A change of the baton that is still without the id of its write. */
export interface PlannedChange {
  readonly expect: BatonExpectation;
  readonly change: Omit<BatonChange, "writeId">;
}

/** A window that does not hold the baton. */
export interface Candidate {
  readonly id: string;
  /** Deployment time of its code. */
  readonly deployedAt: number;
  readonly standby: "cold" | "hot";
  /** Its work could begin at once. */
  readonly prepared: boolean;
  /** Revision of the shard that it is prepared by. */
  readonly seenRevision: number | undefined;
  /** Until when it has reserved the next take; undefined when it has not. */
  readonly claimedUntil: number | undefined;
  /** Until it would have to release the baton. */
  readonly remainingMs: number;
  /** The whole length of its window. */
  readonly windowMs: number;
  /** For how long it has seen the count of renewals stand still, by its monotonic clock and without a break. */
  readonly unchangedMs: number;
}

/** What a candidate does next. */
export type EntryDecision =
  /** `heldByOther`: a living holder, and nothing to do; `relieved`: another has the claim; `outOfTime`: no time left to serve. */
  | { readonly kind: "leave"; readonly because: "heldByOther" | "relieved" | "notNeeded" | "outOfTime" }
  /** Reserve the next take; with `yieldTo` also ask the holder of an older deployment to yield. */
  | ({ readonly kind: "claim"; readonly until: number } & PlannedChange)
  | { readonly kind: "prepare" }
  | ({
      readonly kind: "take";
      readonly fence: number;
      /** A predecessor may still write until this moment (wall clock), unless it says earlier that it stopped. */
      readonly exclusiveFrom: number | undefined;
    } & PlannedChange)
  | { readonly kind: "look" };

/**
 * What a window that does not hold the baton does next. Pure: the window calls it with every record it sees.
 *
 * Two windows and one baton, the race that everything here is about (cold, times in seconds; A is paused at 3):
 *
 *   time      0        10       20       25       30                38
 *   A         renews   |paused ...                                  | resumes: mayWrite() false since 20 (own clocks),
 *             (until 25)        writes no more after 20             | its renewal is refused (fence 7): A ends
 *   store     fence 7, expiresAt 25 ----------------> fence 8 ----------------------------------------------------->
 *   B                  |looks: held                   | expired + 5: takes with {fence 7, renewals, holder A}
 *   C                                                 | takes with the same expectation: refused, sees B: leaves
 *
 * - a take expects the fence, the count and the holder that were read: of B and C one wins, and A's renewal in between
 *   refuses both. The fence rises with every take, so no write under fence 7 is accepted after one under fence 8.
 * - between 20 and 30 nobody writes: A stops 5 before the expiry, B waits 5 after it, so clocks may be 10 apart.
 *
 * At a handover A lives and goes on. B claims the next take (so that of several only one prepares), prepares, and then
 * takes; A beats until its next renewal is refused, so that no beat is missed:
 *
 *   A         yielding, beats . . . . . . . . . . . . . . | renewal refused: ends, writes stoppedFence 7
 *   B           | claims | prepares . . . . | takes, beats . . . . . . . . . . | sees stoppedFence: mayWrite()
 *
 * Beats may overlap between B's take and A's end (a doubled beat is harmless); other writes may not: B's `mayWrite()`
 * stays false until A has said that it stopped, or until A's expiry is over, margin included.
 */
export function decideEntry(
  record: BatonRecord | undefined,
  own: Candidate,
  nowMs: number,
  timing: RelayTiming,
): EntryDecision {
  if (own.remainingMs <= 0) return { kind: "leave", because: "outOfTime" };
  // A hot standby does not judge by the expiry: after an outage of the store it would take the baton from a holder that
  // was only unable to renew. It looks on, and takes it when the count goes on standing still.
  const watches = own.standby === "hot" && own.claimedUntil !== undefined && record?.holder !== undefined;
  if (record === undefined || (isFree(record, nowMs, timing) && !watches)) return take(record, own, nowMs, timing);
  if (own.claimedUntil !== undefined) return decideClaimed(record, own, nowMs, timing);
  if (isOlder(record, own) && (record.yieldTo ?? 0) < own.deployedAt) {
    return claim(record, own, nowMs, timing, own.deployedAt);
  }
  const wanted = own.standby === "hot" || isWantedCold(record, own, nowMs, timing);
  if (wanted && mayClaim(record, own, nowMs, timing)) return claim(record, own, nowMs, timing);
  return { kind: "leave", because: "heldByOther" };
}

function decideClaimed(record: BatonRecord, own: Candidate, nowMs: number, timing: RelayTiming): EntryDecision {
  if (record.standby?.id !== own.id) return { kind: "leave", because: "relieved" };
  const yields = yieldsTo(record, own, nowMs, timing);
  if (own.standby === "cold" && !yields) {
    if (nowMs >= (own.claimedUntil ?? 0)) return { kind: "leave", because: "outOfTime" };
    if (!isWantedCold(record, own, nowMs, timing)) return { kind: "leave", because: "notNeeded" };
  }
  if (!own.prepared) return { kind: "prepare" };
  const gone = own.standby === "hot" && own.unchangedMs >= timing.hot.takeAfterMs;
  if (gone || (yields && lastsLongEnough(own, timing))) return take(record, own, nowMs, timing);
  return { kind: "look" };
}

/** Nobody holds the baton: never taken, released, or expired by the margin. */
export function isFree(record: BatonRecord, nowMs: number, timing: RelayTiming): boolean {
  return record.holder === undefined || nowMs >= (record.expiresAt ?? 0) + timing.skewMarginMs;
}

function isOlder(record: BatonRecord, own: Candidate): boolean {
  return (record.deployedAt ?? 0) < own.deployedAt;
}

/**
 * The holder wants to be relieved, and by a window of this deployment: of its own or a later one, or of any when its end is
 * near and none of its own has come. A rollback that the platform makes by itself brings the time of an older deployment
 * back, and its windows would otherwise have to wait until the newer one's baton is released.
 */
function yieldsTo(record: BatonRecord, own: Candidate, nowMs: number, timing: RelayTiming): boolean {
  if (record.yielding !== true || own.deployedAt < (record.yieldTo ?? 0)) return false;
  if (own.deployedAt >= (record.deployedAt ?? 0)) return true;
  return record.endsAt !== undefined && record.endsAt - nowMs < timing.anySuccessorRemainingMs;
}

/** A standby that must soon be relieved itself leaves a yielding baton to a fresh one. */
function lastsLongEnough(own: Candidate, timing: RelayTiming): boolean {
  return own.standby === "cold" || own.remainingMs >= Math.min(timing.hot.takeRemainingMs, own.windowMs / 3);
}

/**
 * In a cold relay a candidate stays only for a reason: the holder yields, has been asked to by this deployment, or has
 * missed a renewal. The last one shortens the gap after a killed holder: the firing that comes before the expiry waits
 * for it instead of leaving it to the next one, up to 119 s later.
 */
function isWantedCold(record: BatonRecord, own: Candidate, nowMs: number, timing: RelayTiming): boolean {
  if (yieldsTo(record, own, nowMs, timing)) return true;
  if (own.claimedUntil !== undefined && isOlder(record, own) && record.yieldTo === own.deployedAt) return true;
  const sinceRenewalMs = nowMs - ((record.expiresAt ?? 0) - timing.expiryMs);
  return sinceRenewalMs > 1.5 * renewEveryMs(timing, own.standby);
}

function mayClaim(record: BatonRecord, own: Candidate, nowMs: number, timing: RelayTiming): boolean {
  if (record.standby === undefined || record.standby.id === own.id) return true;
  const leftMs = record.standby.until - nowMs;
  if (leftMs <= 0) return true;
  return own.standby === "hot" && leftMs < timing.hot.relieveRemainingMs && own.remainingMs > leftMs;
}

function claim(
  record: BatonRecord,
  own: Candidate,
  nowMs: number,
  timing: RelayTiming,
  yieldTo?: number,
): EntryDecision {
  const until = claimUntil(record, own, nowMs, timing);
  return {
    kind: "claim",
    until,
    expect: { fence: record.fence, standbyId: record.standby?.id ?? null, yieldTo: record.yieldTo },
    change: { standby: { id: own.id, until }, ...(yieldTo === undefined ? {} : { yieldTo }) },
  };
}

/** A standby of an older deployment claims so little that the next invocation relieves it. */
function claimUntil(record: BatonRecord, own: Candidate, nowMs: number, timing: RelayTiming): number {
  const { hot } = timing;
  const wishMs =
    own.standby === "cold"
      ? timing.candidateMs
      : own.deployedAt < (record.deployedAt ?? 0)
        ? hot.relieveRemainingMs - 1
        : hot.claimMs;
  return Math.floor(nowMs + Math.min(own.remainingMs, wishMs));
}

/** A standby tells that it lives, so that a dead one is replaced soon. */
export function planClaimRefresh(
  record: BatonRecord,
  own: Candidate,
  nowMs: number,
  timing: RelayTiming,
): PlannedChange {
  return {
    expect: { fence: record.fence, standbyId: own.id },
    change: { standby: { id: own.id, until: claimUntil(record, own, nowMs, timing) } },
  };
}

function take(record: BatonRecord | undefined, own: Candidate, nowMs: number, timing: RelayTiming): EntryDecision {
  const fence = (record?.fence ?? 0) + 1;
  const keepsYieldTo = (record?.yieldTo ?? 0) > own.deployedAt;
  return {
    kind: "take",
    fence,
    exclusiveFrom: exclusiveFrom(record, timing),
    expect: record === undefined ? "absent" : { fence: record.fence, renewals: record.renewals, holder: record.holder },
    change: {
      fence,
      renewals: (record?.renewals ?? 0) + 1,
      holder: own.id,
      expiresAt: nowMs + timing.expiryMs,
      yielding: undefined,
      endsAt: undefined,
      deployedAt: own.deployedAt,
      seenRevision: own.seenRevision,
      ...(keepsYieldTo ? {} : { yieldTo: undefined }),
      ...(record?.standby?.id === own.id ? { standby: undefined } : {}),
    },
  };
}

function exclusiveFrom(record: BatonRecord | undefined, timing: RelayTiming): number | undefined {
  if (record?.expiresAt === undefined || (record.stoppedFence ?? 0) >= record.fence) return undefined;
  return record.expiresAt + timing.skewMarginMs;
}
