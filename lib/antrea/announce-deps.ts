import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Membership } from "../state/membership.ts";
import type { KeptLeader } from "./kept-leader.ts";
import { ANNOUNCE_INTERVAL_MS } from "./names.ts";
import type { AnnounceStore, AnnounceTelemetry, ClusterConnector } from "./ports.ts";

/** What the role `announce` works with. */
export interface AnnounceDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly store: AnnounceStore;
  readonly connector: ClusterConnector;
  readonly telemetry: AnnounceTelemetry;
  /**
   * Asked, while this window may write, before an announce is made where there is none: false for a membership that is
   * leaving.
   */
  mayCreate(membership: Membership, signal: AbortSignal): Promise<boolean>;
  /** Keeps what it takes to leave, for the life of the membership; false where that did not succeed. */
  keepLeader(cluster: string, kept: KeptLeader, signal: AbortSignal): Promise<boolean>;
  /** What was kept; undefined where there is nothing, or where it cannot be read now. */
  readKeptLeader(cluster: string, signal: AbortSignal): Promise<KeptLeader | undefined>;
}

/** The numbers of the role. All durations in milliseconds. */
export interface AnnounceTiming {
  readonly intervalMs: number;
  /** Beats under way at a time, shared out among the leaders. */
  readonly concurrency: number;
  /** One beat, connection included: shorter than the interval, so that a slow leader delays no second beat. */
  readonly beatTimeoutMs: number;
  /** One visit to a member, connection included. */
  readonly visitTimeoutMs: number;
  /** A member with a working connection is looked at again after a time between these two. */
  readonly rereadMinMs: number;
  readonly rereadMaxMs: number;
  /** A member without one is looked at again after this. */
  readonly lookAgainMs: number;
  /** How often another agent that announces the same member is looked for. */
  readonly rivalMs: number;
  /** How long `prepare` waits for members; those that take longer join later. */
  readonly prepareMs: number;
}

/**
 * With looks at grid points, every 10 s, a changed ClusterSet or Secret is in force within a minute, and a member that was
 * mended beats within 20 s.
 */
export const DEFAULT_ANNOUNCE_TIMING: AnnounceTiming = {
  intervalMs: ANNOUNCE_INTERVAL_MS,
  concurrency: 1_000,
  beatTimeoutMs: 8_000,
  visitTimeoutMs: 8_000,
  rereadMinMs: 29_000,
  rereadMaxMs: 45_000,
  lookAgainMs: 9_000,
  rivalMs: 600_000,
  prepareMs: 10_000,
};
