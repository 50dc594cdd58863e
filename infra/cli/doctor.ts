import { Command } from "commander";
import type { TargetOptions } from "./target.ts";
import { addTargetOptions, clusterArgument } from "./target-options.ts";

/** Options of `hawser doctor`, parsed. */
export interface DoctorOptions extends TargetOptions {
  readonly json?: boolean;
}

/** `hawser doctor`: what is wrong with one membership, and what to do. */
export function doctorCommand(): Command {
  return addTargetOptions(
    new Command("doctor")
      .description(
        "Examines one membership from this machine: Hawser's own side, the way to the member, the member, the way to the " +
          "leader, the leader. Takes less than 10 seconds and changes nothing.",
      )
      .addArgument(clusterArgument())
      .option("--json", "one JSON object"),
  )
    .addHelpText("after", "\nExit code 1 when a check fails.")
    .action(async (cluster: string, options: DoctorOptions) => {
      const { runDoctor } = await import("./doctor-run.ts");
      process.exitCode = await runDoctor(cluster, options);
    });
}
