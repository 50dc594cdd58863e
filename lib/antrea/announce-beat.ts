import type { Hold } from "../relay/ports.ts";
import { type BeatObservation, describeMismatch, sendBeat } from "./announce.ts";
import type { AnnounceDependencies, AnnounceTiming } from "./announce-deps.ts";
import type { AnnouncedMembership, LeaderLink } from "./announced-membership.ts";
import type { ConnectivityObservation } from "./connectivity.ts";
import { leaderFault } from "./fault.ts";
import { LEADER_CONNECTION_TIMEOUT_MS } from "./names.ts";
import { touchTime } from "./touch-time.ts";

/** Longest time for which a leader's `Retry-After` is obeyed, in milliseconds. */
const MAX_DEFERRAL_MS = 60_000;

/**
 * A leader that asks to be left alone is asked once more this long after the last success: late enough to have obeyed it
 * as long as possible, early enough to arrive before it calls us disconnected.
 */
const LAST_CHANCE_MS = LEADER_CONNECTION_TIMEOUT_MS - 3_000;

/** A leader that answers within this part of a beat's time is not slow (any more). */
const QUICK = 1 / 4;

/**
 * One beat of one membership, and what follows from it for the membership's connectivity.
 * @returns the observation of a beat whose credential was refused, which is not taken yet: the member may have another one
 */
export async function beat(
  m: AnnouncedMembership,
  link: LeaderLink,
  hold: Hold,
  deps: AnnounceDependencies,
  timing: AnnounceTiming,
): Promise<ConnectivityObservation | undefined> {
  const { clock, telemetry } = deps;
  const { signal } = m.controller;
  const startedMs = clock.monotonicMs();
  let sentMs = startedMs;
  const stamp = (): string => {
    sentMs = clock.monotonicMs();
    // Remembered of a failed try too: it may have arrived.
    link.touchTs = touchTime(clock.now().getTime(), link.touchTs);
    return link.touchTs;
  };
  const seen = await sendBeat(link.client, link.spec, stamp, {
    clock,
    timeoutMs: timing.beatTimeoutMs,
    patient: link.slow,
    signal,
    mayCreate: async (limit) => hold.mayWrite() && (await deps.mayCreate(m.membership, limit)) && hold.mayWrite(),
  });
  // What was broken off, or belongs to a connection that has been replaced, says nothing.
  if (signal.aborted || m.link !== link) return undefined;
  const nowMs = clock.monotonicMs();
  const throttled = isThrottled(seen);
  telemetry.beat({
    cluster: m.membership.cluster,
    outcome: throttled ? "throttled" : seen.kind,
    ms: nowMs - sentMs,
  });
  link.slow = isSlow(seen, link.slow, nowMs - startedMs, timing.beatTimeoutMs);
  if (seen.kind === "ok") {
    m.succeededMs = nowMs;
    link.announced = true;
  }
  m.deferredUntilMs = deferral(seen, m.succeededMs, nowMs);
  m.lastChanceMs = throttled ? lastChance(m.succeededMs, nowMs) : undefined;
  // A leader that asks for time lives, and still counts us as connected: that is no failed beat.
  if (throttled && m.succeededMs !== undefined && nowMs - m.succeededMs < LEADER_CONNECTION_TIMEOUT_MS)
    return undefined;
  const observation = observationOf(seen, link);
  if (seen.kind === "failed" && seen.error.kind === "unauthorized") return observation;
  if (observation !== undefined) m.observe(observation, clock.now().getTime());
  return undefined;
}

function observationOf(seen: BeatObservation, link: LeaderLink): ConnectivityObservation | undefined {
  if (seen.kind === "withheld") return undefined;
  if (seen.kind === "failed") return { kind: "failed", fault: leaderFault(seen.error), found: seen.found };
  // The leader's controller does not count what is on its way out; the next beat, or the one after, makes it anew.
  if (seen.terminating) return undefined;
  if (seen.mismatches.length === 0) return { kind: "announced", found: seen.found };
  const message = describeMismatch(seen.mismatches, link.spec);
  return { kind: "announced", found: seen.found, mismatch: { cause: "ConfigurationInvalid", message } };
}

/**
 * Whether the next beat is to wait the whole time for one answer. A leader that says nothing to several tries may be
 * slow, not lost: shorter tries would never hear it.
 */
function isSlow(seen: BeatObservation, before: boolean, ms: number, timeoutMs: number): boolean {
  if (seen.kind === "failed" && seen.error.kind === "timeout") return true;
  return before && ms > timeoutMs * QUICK;
}

function isThrottled(seen: BeatObservation): boolean {
  return seen.kind === "failed" && seen.error.kind === "tooManyRequests";
}

/**
 * Until when the leader is left alone after a beat, monotonic. A time that would reach beyond the last moment at which a
 * beat arrives before the leader calls us disconnected is shortened to that moment.
 */
export function deferral(seen: BeatObservation, succeededMs: number | undefined, nowMs: number): number {
  if (seen.kind !== "failed" || seen.error.kind !== "tooManyRequests") return Number.NEGATIVE_INFINITY;
  const until = nowMs + Math.min(seen.error.retryAfterMs, MAX_DEFERRAL_MS);
  const chanceMs = lastChance(succeededMs, nowMs);
  return chanceMs === undefined ? until : Math.min(until, chanceMs);
}

/** The moment for one more try, off the grid, monotonic; undefined when it has passed. */
export function lastChance(succeededMs: number | undefined, nowMs: number): number | undefined {
  if (succeededMs === undefined || succeededMs + LAST_CHANCE_MS <= nowMs) return undefined;
  return succeededMs + LAST_CHANCE_MS;
}
