import { gridOffsetMs, gridPointAtOrBefore } from "../../../lib/base/grid.ts";
import type { Measured, Sample } from "../sampling.ts";
import { percentilesOf, type Spread, spreadOf } from "../statistics.ts";
import type { DriverFacts, LeaderRecord, LoggedRequest } from "./protocol.ts";

/** A beat that took longer than this from its grid point to its answer is called late, in milliseconds. */
export const LATE_MS = 500;

/** A beat this much before its grid point still counts for it: clocks and timers have their grain. */
const EARLY_MS = 50;

/** All that was seen of one driver at one size. */
export interface Observed {
  readonly clusters: readonly string[];
  readonly measured: Measured;
  /** One at each end of an interval. */
  readonly samples: readonly Sample[];
  /** At the end, after a full garbage collection. */
  readonly retained: Sample;
  /** The same of a process of the driver that has no member. */
  readonly empty: Sample;
  readonly record: LeaderRecord;
  readonly facts: DriverFacts;
}

/** What one driver did at one size. Spreads are over the intervals. */
export interface Figures {
  readonly due: number;
  readonly done: number;
  /** Done, but later than {@link LATE_MS}. */
  readonly late: number;
  /** Requests that were answered with an error. */
  readonly refused: number;
  readonly latenessP50Ms: Spread | undefined;
  readonly latenessP99Ms: Spread | undefined;
  readonly latenessMaxMs: Spread | undefined;
  readonly requestsPerBeat: Spread | undefined;
  /** On the wire, TLS included, as the leader counts them; out is what the driver sends. */
  readonly bytesOutPerBeat: Spread | undefined;
  readonly bytesInPerBeat: Spread | undefined;
  readonly cpuMsPerBeat: Spread | undefined;
  /** CPU time in percent of one core. */
  readonly corePercent: Spread | undefined;
  readonly rssMB: Spread | undefined;
  /** The largest of the samples less an empty process, by membership. */
  readonly rssKBPerMembership: number;
  /** After a full collection, less an empty process, by membership. */
  readonly heapKBPerMembership: number;
  /** Since the start. */
  readonly connectionsOpened: number;
  /** That carried requests while it was measured. */
  readonly connectionsUsed: number;
  /** True when every request came over HTTP/2. */
  readonly http2: boolean;
  readonly authorizationBytes: number | undefined;
}

/** How punctual the beats of one interval were. */
export interface Punctuality {
  /** Grid points in the interval. */
  readonly due: number;
  /** From grid point to answer in milliseconds, of those that were answered before the next grid point. */
  readonly latenessMs: readonly number[];
}

/**
 * Holds the beats that a leader saw against the grid.
 * @param beats moments of successful beats by cluster, in milliseconds since the epoch, in order
 */
export function judgeInterval(
  clusters: readonly string[],
  beats: ReadonlyMap<string, readonly number[]>,
  fromMs: number,
  intervalMs: number,
): Punctuality {
  const latenessMs: number[] = [];
  for (const cluster of clusters) {
    const pointMs = gridPointAtOrBefore(fromMs + intervalMs - 1, gridOffsetMs(cluster, intervalMs), intervalMs);
    const answeredMs = beats
      .get(cluster)
      ?.find((atMs) => atMs >= pointMs - EARLY_MS && atMs < pointMs + intervalMs - EARLY_MS);
    if (answeredMs !== undefined) latenessMs.push(Math.max(0, answeredMs - pointMs));
  }
  return { due: clusters.length, latenessMs };
}

/** The figures of one run. */
export function figuresOf(observed: Observed): Figures {
  const { clusters, measured, samples, retained, empty, record, facts } = observed;
  const beats = beatsByCluster(record.requests);
  const punctual = Array.from({ length: measured.intervals }, (_, i) =>
    judgeInterval(clusters, beats, measured.fromMs + i * measured.intervalMs, measured.intervalMs),
  );
  const percentiles = punctual.flatMap(({ latenessMs }) => percentilesOf(latenessMs) ?? []);
  const lateness = punctual.flatMap(({ latenessMs }) => latenessMs);
  const costs = costsOf(samples, record.requests);
  const perBeat = costs.filter((cost) => cost.beats > 0);
  const inWindow = costs.flatMap(({ requests }) => requests);
  const perMembership = (bytes: number): number => bytes / 1000 / clusters.length;
  return {
    due: punctual.reduce((sum, { due }) => sum + due, 0),
    done: lateness.length,
    late: lateness.filter((ms) => ms > LATE_MS).length,
    refused: inWindow.filter(({ status }) => status >= 400 || status === 0).length,
    latenessP50Ms: spreadOf(percentiles.map(({ p50 }) => p50)),
    latenessP99Ms: spreadOf(percentiles.map(({ p99 }) => p99)),
    latenessMaxMs: spreadOf(percentiles.map(({ max }) => max)),
    requestsPerBeat: spreadOf(perBeat.map((cost) => cost.requests.length / cost.beats)),
    bytesOutPerBeat: spreadOf(perBeat.map((cost) => sum(cost.requests, ({ bytesIn }) => bytesIn) / cost.beats)),
    bytesInPerBeat: spreadOf(perBeat.map((cost) => sum(cost.requests, ({ bytesOut }) => bytesOut) / cost.beats)),
    cpuMsPerBeat: spreadOf(perBeat.map((cost) => cost.cpuMs / cost.beats)),
    corePercent: spreadOf(costs.map((cost) => (cost.cpuMs / cost.elapsedMs) * 100)),
    rssMB: spreadOf(samples.slice(1).map(({ rssBytes }) => rssBytes / 1e6)),
    rssKBPerMembership: perMembership(Math.max(...samples.map(({ rssBytes }) => rssBytes)) - empty.rssBytes),
    heapKBPerMembership: perMembership(retained.heapUsedBytes - empty.heapUsedBytes),
    connectionsOpened: record.connectionsOpened,
    connectionsUsed: new Set(inWindow.map(({ connection }) => connection)).size,
    http2: inWindow.every(({ http2 }) => http2),
    authorizationBytes: facts.authorizationBytes,
  };
}

interface Cost {
  readonly requests: readonly LoggedRequest[];
  readonly beats: number;
  readonly cpuMs: number;
  readonly elapsedMs: number;
}

/** What each interval cost, between the moments at which the samples were really taken. */
function costsOf(samples: readonly Sample[], requests: readonly LoggedRequest[]): readonly Cost[] {
  return samples.slice(1).flatMap((end, i) => {
    const begin = samples[i];
    if (begin === undefined) return [];
    const within = requests.filter(({ atMs }) => atMs >= begin.atMs && atMs < end.atMs);
    return {
      requests: within,
      beats: within.filter(({ beat }) => beat).length,
      cpuMs: end.cpuMs - begin.cpuMs,
      elapsedMs: end.atMs - begin.atMs,
    };
  });
}

function beatsByCluster(requests: readonly LoggedRequest[]): ReadonlyMap<string, readonly number[]> {
  const beats = new Map<string, number[]>();
  for (const { cluster, beat, atMs } of requests) {
    if (!beat) continue;
    const moments = beats.get(cluster) ?? [];
    moments.push(atMs);
    beats.set(cluster, moments);
  }
  return beats;
}

function sum<T>(items: readonly T[], of: (item: T) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}
