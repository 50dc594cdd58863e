import type { Log } from "./log.ts";
import type { RoleMetrics } from "./metrics.ts";

/** Turns what the role `watch` tells of its work into metrics and log lines: for one window of one shard. */
export interface WatchTelemetry {
  settled(of: { readonly cluster: string; readonly state: string; readonly writes: number; readonly ms: number }): void;
  compared(of: { readonly cluster: string; readonly imports: number; readonly ms: number }): void;
  transition(message: string, facts: Readonly<Record<string, string | number>>): void;
  bug(error: unknown, cluster: string): void;
}

/** @param facts role and shard, for every line */
export function createWatchTelemetry(
  { log, metrics }: { readonly log: Log; readonly metrics: RoleMetrics },
  facts: { readonly role: string; readonly shard: string; readonly protocol: string },
): WatchTelemetry {
  return {
    settled: ({ state, writes, ms }) => {
      metrics.count("ImportsSettled");
      metrics.count("ImportWrites", writes);
      if (state === "Failed") metrics.count("ImportsFailed");
      metrics.time("ImportDuration", ms);
      metrics.flushIfDue();
    },
    compared: ({ ms }) => {
      metrics.count("ImportCompares");
      metrics.time("ImportCompareDuration", ms);
      metrics.flushIfDue();
    },
    transition: (message, more) => {
      metrics.count("Transitions");
      log.info(message, { ...facts, ...more });
    },
    bug: (error, cluster) => log.error("unexpected error", error, { ...facts, cluster }),
  };
}
