import { Command } from "commander";
import type { TargetOptions } from "./target.ts";
import { addTargetOptions, clusterArgument } from "./target-options.ts";

/** `hawser pause`: lets a cluster rest. */
export function pauseCommand(): Command {
  return addTargetOptions(
    new Command("pause")
      .description(
        "Lets a cluster rest: its beats stop within 20 seconds, and its hub counts it as disconnected. Nothing is deleted.",
      )
      .addArgument(clusterArgument()),
  ).action(async (cluster: string, options: TargetOptions) => {
    const { pauseOne } = await import("./pause-one.ts");
    process.exitCode = await pauseOne(cluster, true, options);
  });
}
