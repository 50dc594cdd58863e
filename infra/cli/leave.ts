import { Command } from "commander";
import type { TargetOptions } from "./target.ts";
import { addTargetOptions, clusterArgument } from "./target-options.ts";

/** Options of `hawser leave`, parsed. */
export interface LeaveOptions extends TargetOptions {
  readonly force?: boolean;
  readonly json?: boolean;
}

/** `hawser leave`: takes a cluster out of its hub; may be repeated. */
export function leaveCommand(): Command {
  return addTargetOptions(
    new Command("leave")
      .description(
        "Takes a cluster out of its hub: stops its beats, cleans up in the cluster and in the hub, forgets it. " +
          "What cannot be reached now is tried again by itself until it is done.",
      )
      .addArgument(clusterArgument())
      .option("--force", "give up what cannot be reached, and name what stays behind")
      .option("--json", "one JSON object"),
  ).action(async (cluster: string, options: LeaveOptions) => {
    const { leaveOne } = await import("./leave-one.ts");
    process.exitCode = await leaveOne(cluster, options);
  });
}
