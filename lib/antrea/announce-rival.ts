import type { Hold } from "../relay/ports.ts";
import type { AnnounceDependencies, AnnounceTiming } from "./announce-deps.ts";
import type { AnnouncedMembership, LeaderLink } from "./announced-membership.ts";
import { announceName, TOUCH_ANNOTATION } from "./names.ts";
import { announceRef } from "./resources.ts";

/** Somebody else's stamps in a row that are no chance any more: a rival beats as often as we do. */
const SIGHTINGS = 2;
const INTERVAL_MS = 10_000;
/** How long the question before a beat may take: the beat is not to be late for it. */
const QUESTION_MS = 1_000;

/** Another agent that announces the same member. */
export interface Rival {
  readonly sightings: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** It has been written into the history. */
  readonly told: boolean;
}

/** What a look at the announce, just before a beat of ours, makes of what was seen before. */
export function decideRival(previous: Rival | undefined, isForeign: boolean, now: number): Rival | undefined {
  if (!isForeign) return undefined;
  return { sightings: (previous?.sightings ?? 0) + 1, since: previous?.since ?? now, told: previous?.told ?? false };
}

/** True once it is sure. */
export function isRival(rival: Rival | undefined): rival is Rival {
  return rival !== undefined && rival.sightings >= SIGHTINGS;
}

/**
 * Asks, before a beat is sent, whether the announce still carries the stamp of the last one. An in-cluster agent
 * (antrea-mc-controller) that still runs writes one of its own between any two of ours. Asked soon after the connection and
 * every ten minutes, and at
 * the very next beat when there was one: a beat costs one request as a rule.
 */
export async function lookForRival(
  m: AnnouncedMembership,
  link: LeaderLink,
  hold: Hold,
  deps: AnnounceDependencies,
  timing: AnnounceTiming,
): Promise<void> {
  const { clock, store, telemetry } = deps;
  const { signal } = m.controller;
  const { cluster, protocol } = m.membership;
  m.rivalDueMs = clock.monotonicMs() + timing.rivalMs;
  const ref = announceRef(link.spec.commonArea, link.spec.clusterID);
  const read = await link.client.get(ref, { timeoutMs: QUESTION_MS, signal });
  if (!read.ok || m.link !== link || signal.aborted) return;
  const stamp = read.value.object.metadata.annotations?.[TOUCH_ANNOTATION];
  const before = m.rival;
  m.rival = decideRival(before, stamp !== undefined && stamp !== link.touchTs, clock.now().getTime());
  if (m.rival !== undefined && !isRival(m.rival)) m.rivalDueMs = clock.monotonicMs() + INTERVAL_MS / 2;
  if (!isRival(m.rival) || m.rival.told || !hold.mayWrite()) return;
  const message =
    `MemberClusterAnnounce ${ref.namespace ?? ""}/${announceName(link.spec.clusterID)} is also written by another agent: it ` +
    `carried touch-ts ${stamp}, Hawser's last one was ${link.touchTs}. An in-cluster agent still announces ${cluster}; ` +
    "stop its Deployment antrea-mc-controller there";
  telemetry.transition("another agent announces the member", { cluster });
  const event = { at: clock.now().getTime(), protocol, kind: "InClusterAgentRunning", message };
  const written = await store.writeEvent(cluster, event, signal);
  if (written.ok && m.rival !== undefined) m.rival = { ...m.rival, told: true };
}
