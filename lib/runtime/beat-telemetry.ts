import type { Clock } from "../base/clock.ts";
import { gridOffsetMs, gridPointAtOrBefore } from "../base/grid.ts";
import type { Log } from "./log.ts";
import type { RoleMetrics } from "./metrics.ts";

/**
 * How one beat ended. `throttled`: the hub asked to be left alone for a while; `withheld`: it was not sent for that reason,
 * or because this window may not.
 */
export interface BeatReport {
  readonly cluster: string;
  readonly outcome: "ok" | "failed" | "throttled" | "withheld";
  /** From the first byte of the request to its answer, in milliseconds. */
  readonly ms: number;
}

/** Turns what a role that beats tells of its work into metrics and log lines: for one window of one shard. */
export interface BeatTelemetry {
  beat(report: BeatReport): void;
  transition(message: string, facts: Readonly<Record<string, string | number>>): void;
  bug(error: unknown, cluster: string): void;
}

/** A cluster as its last beat left it. */
interface Seen {
  readonly connected: boolean;
  /** Grid point of the last beat that succeeded, in milliseconds since the epoch. */
  readonly succeededAt: number | undefined;
  /** Where its grid points lie; kept, as it is a hash. */
  readonly offsetMs: number;
}

/**
 * Lateness is how long after its grid point a beat that succeeded was sent. Missed is every grid point between two
 * successes of one window, so that a beat which failed and was made good before the next point still counts as one
 * missed only if nothing got through in its interval.
 * @param facts role and shard, for every line
 */
export function createBeatTelemetry(
  { clock, log, metrics }: { readonly clock: Clock; readonly log: Log; readonly metrics: RoleMetrics },
  facts: { readonly role: string; readonly shard: string; readonly protocol: string },
  intervalMs: number,
): BeatTelemetry {
  const seen = new Map<string, Seen>();
  let connected = 0;
  const before = (cluster: string): Seen =>
    seen.get(cluster) ?? { connected: false, succeededAt: undefined, offsetMs: gridOffsetMs(cluster, intervalMs) };
  const note = (cluster: string, previous: Seen, change: Partial<Seen>): void => {
    const next = { ...previous, ...change };
    connected += Number(next.connected) - Number(previous.connected);
    seen.set(cluster, next);
  };
  const succeed = ({ cluster, ms }: BeatReport): void => {
    const last = before(cluster);
    const sentAt = clock.now().getTime() - ms;
    const point = gridPointAtOrBefore(sentAt, last.offsetMs, intervalMs);
    const previous = last.succeededAt;
    metrics.time("BeatLateness", sentAt - point);
    metrics.time("BeatDuration", ms);
    if (previous !== undefined)
      metrics.count("BeatsMissed", Math.max(0, Math.round((point - previous) / intervalMs) - 1));
    note(cluster, last, { connected: true, succeededAt: point });
  };
  return {
    beat: (report) => {
      metrics.count("Beats");
      if (report.outcome === "ok") succeed(report);
      if (report.outcome === "throttled") metrics.count("BeatsThrottled");
      if (report.outcome === "withheld") metrics.count("BeatsWithheld");
      if (report.outcome === "failed") {
        metrics.count("BeatsFailed");
        note(report.cluster, before(report.cluster), { connected: false });
      }
      metrics.gauge("Memberships", seen.size);
      metrics.gauge("Connected", connected);
      metrics.flushIfDue();
    },
    transition: (message, more) => {
      metrics.count("Transitions");
      log.info(message, { ...facts, ...more });
    },
    bug: (error, cluster) => log.error("unexpected error", error, { ...facts, cluster }),
  };
}
