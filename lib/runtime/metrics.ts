import { Metrics, MetricUnit } from "@aws-lambda-powertools/metrics";
import type { Clock } from "../base/clock.ts";

/** Counted since the last flush. */
export type Counter =
  | "Beats"
  | "BeatsFailed"
  | "BeatsMissed"
  | "BeatsThrottled"
  | "BeatsWithheld"
  | "ImportCompares"
  | "ImportWrites"
  | "ImportsFailed"
  | "ImportsSettled"
  | "Transitions"
  | "BatonsTaken"
  | "PreparationsFailed"
  | "StoreLosses"
  | "WindowsUnsettled";

/** Shown as they were last seen. */
export type Gauge = "Memberships" | "Connected";

/** Durations in milliseconds. */
export type Timer = "BeatLateness" | "BeatDuration" | "ImportCompareDuration" | "ImportDuration" | "RenewalDuration";

/** The numbers of one role of one shard. */
export interface RoleMetrics {
  count(counter: Counter, by?: number): void;
  gauge(gauge: Gauge, value: number): void;
  time(timer: Timer, ms: number): void;
  /** Publishes what has gathered, if a minute has passed since the last time. Cheap enough for every beat. */
  flushIfDue(): void;
  /** Publishes what has gathered. To be called before a window ends. */
  flush(): void;
}

/** At most one line of metrics in this time, in milliseconds. */
const FLUSH_INTERVAL_MS = 60_000;

/** The embedded metric format takes 100 values of one metric in a line; at the 100th the line would be sent early. */
const VALUES_PER_METRIC = 99;

/** Durations kept for one flush; beyond that the oldest are overwritten. 1,000 memberships make 6,000 beats a minute. */
const SAMPLES = 20_000;

/**
 * At most 99 numbers that stand for all: evenly spaced by rank, smallest and largest included, so that percentiles stay
 * true however many there were.
 */
export function quantileSample(values: readonly number[]): readonly number[] {
  const sorted = values.toSorted((a, b) => a - b);
  if (sorted.length <= VALUES_PER_METRIC) return sorted;
  const step = (sorted.length - 1) / (VALUES_PER_METRIC - 1);
  return Array.from({ length: VALUES_PER_METRIC }, (_, i) => sorted[Math.round(i * step)] ?? 0);
}

/**
 * Metrics as log lines (CloudWatch embedded metric format): no call to any service, and none that could fail or wait.
 * @param dimensions what CloudWatch groups by; each combination is a metric of its own and costs money
 */
export function createRoleMetrics(
  clock: Clock,
  dimensions: { readonly stage: string; readonly role: string; readonly shard: string },
): RoleMetrics {
  const counters = new Map<Counter, number>();
  const gauges = new Map<Gauge, number>();
  const timers = new Map<Timer, { values: number[]; next: number }>();
  let flushedAt = clock.monotonicMs();
  const flush = (): void => {
    flushedAt = clock.monotonicMs();
    if (counters.size + gauges.size + timers.size === 0) return;
    const metrics = new Metrics({ namespace: "Hawser", serviceName: "hawser", defaultDimensions: { ...dimensions } });
    for (const [name, value] of counters) metrics.addMetric(name, MetricUnit.Count, value);
    for (const [name, value] of gauges) metrics.addMetric(name, MetricUnit.Count, value);
    for (const [name, { values }] of timers) {
      for (const value of quantileSample(values)) metrics.addMetric(name, MetricUnit.Milliseconds, value);
    }
    metrics.publishStoredMetrics();
    counters.clear();
    gauges.clear();
    timers.clear();
  };
  return {
    count: (counter, by = 1) => void counters.set(counter, (counters.get(counter) ?? 0) + by),
    gauge: (gauge, value) => void gauges.set(gauge, value),
    time: (timer, ms) => {
      const samples = timers.get(timer) ?? { values: [], next: 0 };
      samples.values[samples.next] = ms;
      samples.next = (samples.next + 1) % SAMPLES;
      timers.set(timer, samples);
    },
    flushIfDue: () => {
      if (clock.monotonicMs() - flushedAt >= FLUSH_INTERVAL_MS) flush();
    },
    flush,
  };
}
