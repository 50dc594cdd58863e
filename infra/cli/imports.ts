import { Command } from "commander";
import type { TargetOptions } from "./target.ts";
import { addTargetOptions, clusterArgument } from "./target-options.ts";

/** Options of `hawser imports`, parsed. */
export interface ImportsOptions extends TargetOptions {
  readonly json?: boolean;
}

/** `hawser imports`: what of its leader's ResourceImports a cluster has. */
export function importsCommand(): Command {
  return addTargetOptions(
    new Command("imports")
      .description("Shows each import of a cluster: what it is about, whether it is applied, since when, and why not.")
      .addArgument(clusterArgument())
      .option("--json", "one JSON object a line"),
  ).action(async (cluster: string, options: ImportsOptions) => {
    const { showImports } = await import("./imports-show.ts");
    process.exitCode = await showImports(cluster, options);
  });
}
