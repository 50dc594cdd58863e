import { Command } from "commander";
import { parseDuration } from "./duration.ts";
import type { TargetOptions } from "./target.ts";
import { addTargetOptions, clusterArgument } from "./target-options.ts";

/** Options of `hawser events`, parsed. */
export interface EventsOptions extends TargetOptions {
  readonly json?: boolean;
  /** How far back, in milliseconds. */
  readonly since?: number;
}

/** `hawser events`: what has happened to one cluster. */
export function eventsCommand(): Command {
  return addTargetOptions(
    new Command("events")
      .description("Shows what has happened to a cluster, the latest last; kept for 30 days.")
      .addArgument(clusterArgument())
      .option("--since <duration>", "how far back: 90s, 2m, 1h (default: the last 50 events)", parseDuration)
      .option("--json", "one JSON object a line"),
  ).action(async (cluster: string, options: EventsOptions) => {
    const { showEvents } = await import("./events-show.ts");
    process.exitCode = await showEvents(cluster, options);
  });
}
