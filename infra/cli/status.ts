import { Command } from "commander";
import type { TargetOptions } from "./target.ts";
import { addTargetOptions } from "./target-options.ts";

/** Options of `hawser status`, parsed. */
export interface StatusOptions extends TargetOptions {
  readonly json?: boolean;
  readonly watch?: boolean;
}

/** `hawser status`: every membership, its state and why. */
export function statusCommand(): Command {
  return addTargetOptions(
    new Command("status")
      .description("Shows every membership: its state, why, since when, and the window that works it.")
      .option("--json", "one JSON object; with --watch one a line")
      .option("--watch", "again and again until Ctrl-C"),
  ).action(async (options: StatusOptions) => {
    const { showStatus } = await import("./status-show.ts");
    process.exitCode = await showStatus(options);
  });
}
