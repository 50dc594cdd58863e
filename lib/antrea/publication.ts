import type { Connectivity, ConnectivityCondition } from "./connectivity.ts";

/** What stays unhealthy is shown anew at most this often, in milliseconds. */
const REPUBLISH_MS = 60_000;

/**
 * What others are shown: the table and the member's ClusterSet follow it. A change of status, reason or "is there
 * a fault at all" is published at once; another text or cause of the same state at most once a minute; counters and
 * times of observation alone never, so that neither a healthy nor an unhealthy beat costs a write of its own.
 *
 * @param published what is shown now; `undefined`: nothing yet
 * @param now milliseconds since the epoch
 * @returns `published` itself, the same object, when nothing is to be shown anew
 */
export function publish(published: Connectivity | undefined, live: Connectivity, now: number): Connectivity {
  if (published === undefined) return live;
  const ready = publishOne(published.ready, live.ready, now);
  const isLeader = publishOne(published.isLeader, live.isLeader, now);
  return ready === published.ready && isLeader === published.isLeader ? published : { ready, isLeader };
}

function publishOne(published: ConnectivityCondition, live: ConnectivityCondition, now: number): ConnectivityCondition {
  if (published.status !== live.status || published.reason !== live.reason) return live;
  if (published.lastTransitionTime !== live.lastTransitionTime) return live;
  if ((published.cause === undefined) !== (live.cause === undefined)) return live;
  if (published.cause === live.cause && published.message === live.message) return published;
  // A wall clock that was set back must not silence the condition until it has caught up.
  const age = now - published.observedAt;
  return age >= REPUBLISH_MS || age < 0 ? live : published;
}
