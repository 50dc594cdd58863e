import { Command } from "commander";
import type { TargetOptions } from "./target.ts";
import { addTargetOptions, clusterArgument, parseName } from "./target-options.ts";

/** Options of `hawser move`, parsed. */
export interface MoveOptions extends TargetOptions {
  readonly to?: string;
  readonly json?: boolean;
}

/** `hawser move`: gives a cluster to another shard. */
export function moveCommand(): Command {
  return addTargetOptions(
    new Command("move")
      .description("Gives a cluster to another shard of its network profile; its beats go on.")
      .addArgument(clusterArgument())
      .option("--to <shard>", "this shard (default: any other one with room)", parseName)
      .option("--json", "one JSON object"),
  ).action(async (cluster: string, options: MoveOptions) => {
    const { moveOne } = await import("./move-one.ts");
    process.exitCode = await moveOne(cluster, options);
  });
}
