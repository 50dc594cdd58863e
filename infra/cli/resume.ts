import { Command } from "commander";
import type { TargetOptions } from "./target.ts";
import { addTargetOptions, clusterArgument } from "./target-options.ts";

/** `hawser resume`: ends a cluster's rest. */
export function resumeCommand(): Command {
  return addTargetOptions(
    new Command("resume")
      .description("Ends a cluster's rest: its beats begin again within 20 seconds.")
      .addArgument(clusterArgument()),
  ).action(async (cluster: string, options: TargetOptions) => {
    const { pauseOne } = await import("./pause-one.ts");
    process.exitCode = await pauseOne(cluster, false, options);
  });
}
