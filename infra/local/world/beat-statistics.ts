import { gridOffsetMs, gridPointAfter, gridPointAtOrBefore } from "../../../lib/base/grid.ts";

/** How often a member announces, in milliseconds. */
export const BEAT_INTERVAL_MS = 10_000;

/** How far two clocks of one machine may differ, in milliseconds: a beat this early still counts for its grid point. */
const TOLERANCE_MS = 50;

/** What the receiver saw of one member's beats. Durations in milliseconds. */
export interface BeatStatistics {
  /** Successful beats. */
  readonly beats: number;
  /** Grid points without a success within the interval that follows; the last, unfinished one is not judged. */
  readonly missed: number;
  /** Longest time from a grid point to its first success. */
  readonly maxLatenessMs: number;
  /** Longest time between two successes. */
  readonly maxGapMs: number;
}

/**
 * Judges the beats that a leader received from one member.
 * @param cluster the member's name, by which its grid is known
 * @param successes when a beat succeeded, in milliseconds since the epoch, in order
 * @param from beginning of the time judged, in milliseconds since the epoch
 * @param to its end
 */
export function judgeBeats(cluster: string, successes: readonly number[], from: number, to: number): BeatStatistics {
  const offset = gridOffsetMs(cluster, BEAT_INTERVAL_MS);
  const within = successes.filter((at) => at >= from && at <= to);
  const latenessOf = new Map<number, number>();
  for (const at of within) {
    const point = gridPointAtOrBefore(at + TOLERANCE_MS, offset, BEAT_INTERVAL_MS);
    if (!latenessOf.has(point)) latenessOf.set(point, Math.max(0, at - point));
  }
  let missed = 0;
  let maxLatenessMs = 0;
  for (
    let point = gridPointAfter(from, offset, BEAT_INTERVAL_MS);
    point + BEAT_INTERVAL_MS <= to;
    point += BEAT_INTERVAL_MS
  ) {
    const lateness = latenessOf.get(point);
    if (lateness === undefined) missed += 1;
    else maxLatenessMs = Math.max(maxLatenessMs, lateness);
  }
  return { beats: within.length, missed, maxLatenessMs, maxGapMs: longestGap(within) };
}

function longestGap(moments: readonly number[]): number {
  let longest = 0;
  for (const [index, at] of moments.entries()) {
    const before = moments[index - 1];
    if (before !== undefined) longest = Math.max(longest, at - before);
  }
  return longest;
}
