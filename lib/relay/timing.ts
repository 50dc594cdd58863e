import type { BackoffPolicy } from "../base/backoff.ts";

/** The numbers of the relay. All in milliseconds. */
export interface RelayTiming {
  /** The grid of beats, and how often a holder renews when its standby is cold. */
  readonly intervalMs: number;
  /** How long a renewal is good for. */
  readonly expiryMs: number;
  /** An expired baton is taken only this long after its expiry: the clocks of two windows differ. */
  readonly skewMarginMs: number;
  /** A holder stops writing to clusters this long before its expiry. */
  readonly stopWritingMarginMs: number;
  /** A holder asks to be relieved with this much left, but at most with a third of its window left. */
  readonly yieldRemainingMs: number;
  /**
   * A holder with less than this left, and no successor yet, may also be relieved by an older deployment: after a
   * rollback to one there is no other. Longer than two firings can be apart, and a preparation.
   */
  readonly anySuccessorRemainingMs: number;
  /** Without a successor, work ends and the baton is released this long before the deadline of the invocation. */
  readonly releaseBeforeDeadlineMs: number;
  /** How long work may take to settle after it was told to end. */
  readonly settleMs: number;
  /** How often a candidate or a standby looks at the baton. */
  readonly lookEveryMs: number;
  /** For how long a candidate of a cold relay reserves the next take. */
  readonly candidateMs: number;
  /** Limit of one call of the store. */
  readonly storeTimeoutMs: number;
  /** Between two tries of a call that the store throttled or did not answer. */
  readonly storeBackoff: BackoffPolicy;
  /** Between two tries to prepare. */
  readonly prepareBackoff: BackoffPolicy;
  readonly hot: HotTiming;
}

/** The numbers of a hot standby. */
export interface HotTiming {
  /** How often the holder renews. */
  readonly renewEveryMs: number;
  /** A standby takes the baton when the count of renewals has stood still this long, by its own monotonic clock. */
  readonly takeAfterMs: number;
  /** For how long a standby claims its place at a time; it renews the claim, so that a dead one is replaced soon. */
  readonly claimMs: number;
  /** How often a standby renews its claim. */
  readonly refreshClaimMs: number;
  /** A standby whose claim has less than this left is relieved by the next invocation. */
  readonly relieveRemainingMs: number;
  /** A standby takes a yielding baton only with this much left itself, but at most a third of its window. */
  readonly takeRemainingMs: number;
}

/** What the README promises rests on these numbers: a beat every 10 s, disconnected after 30 s (Antrea Multi-cluster). */
export const DEFAULT_TIMING: RelayTiming = {
  intervalMs: 10_000,
  expiryMs: 25_000,
  skewMarginMs: 5_000,
  stopWritingMarginMs: 5_000,
  yieldRemainingMs: 300_000,
  anySuccessorRemainingMs: 180_000,
  releaseBeforeDeadlineMs: 10_000,
  settleMs: 4_000,
  lookEveryMs: 1_000,
  candidateMs: 45_000,
  storeTimeoutMs: 1_500,
  storeBackoff: { baseMs: 100, capMs: 2_000 },
  prepareBackoff: { baseMs: 500, capMs: 5_000 },
  hot: {
    renewEveryMs: 3_000,
    takeAfterMs: 6_500,
    claimMs: 240_000,
    refreshClaimMs: 30_000,
    relieveRemainingMs: 180_000,
    takeRemainingMs: 300_000,
  },
};

/** How often the holder renews. */
export function renewEveryMs(timing: RelayTiming, standby: "cold" | "hot"): number {
  return standby === "hot" ? timing.hot.renewEveryMs : timing.intervalMs;
}

/**
 * What is wrong with the numbers, one sentence each; empty when they hold together. A broken relation is a fault of the
 * configuration, found where the relay is wired and not by a lost beat.
 */
export function timingFaults(timing: RelayTiming): readonly string[] {
  const { hot } = timing;
  const valid = timing.expiryMs - timing.stopWritingMarginMs;
  const relations: readonly (readonly [boolean, string])[] = [
    [durations(timing).every((ms) => Number.isFinite(ms) && ms > 0), "every duration must be a positive number"],
    [
      valid > timing.intervalMs,
      "a renewal must stay good for writing (expiryMs - stopWritingMarginMs) longer than intervalMs",
    ],
    [hot.renewEveryMs <= timing.intervalMs, "hot.renewEveryMs must not exceed intervalMs"],
    [hot.takeAfterMs > 2 * hot.renewEveryMs, "hot.takeAfterMs must leave room for two renewals (hot.renewEveryMs)"],
    [hot.takeAfterMs < timing.expiryMs, "hot.takeAfterMs must be under expiryMs"],
    [timing.lookEveryMs < hot.takeAfterMs, "lookEveryMs must be under hot.takeAfterMs"],
    [timing.storeTimeoutMs < timing.intervalMs, "storeTimeoutMs must be under intervalMs"],
    [
      timing.settleMs + 3 * timing.storeTimeoutMs < timing.releaseBeforeDeadlineMs,
      "releaseBeforeDeadlineMs must leave room for settleMs and three calls of the store",
    ],
    [timing.yieldRemainingMs > timing.releaseBeforeDeadlineMs, "yieldRemainingMs must exceed releaseBeforeDeadlineMs"],
    [
      timing.anySuccessorRemainingMs < timing.yieldRemainingMs,
      "anySuccessorRemainingMs must leave the first part of the handover (yieldRemainingMs) to the present deployment",
    ],
    [
      hot.refreshClaimMs < hot.claimMs - hot.relieveRemainingMs,
      "hot.refreshClaimMs must keep a claim above hot.relieveRemainingMs",
    ],
  ];
  return relations.filter(([holds]) => !holds).map(([, fault]) => fault);
}

function durations(timing: RelayTiming): readonly number[] {
  const { storeBackoff, prepareBackoff, hot, ...plain } = timing;
  return [plain, hot, storeBackoff, prepareBackoff].flatMap((group) => Object.values<number>({ ...group }));
}
