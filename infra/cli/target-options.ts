import type { Command } from "commander";

/** Adds the options by which a command says which Hawser it means. */
export function addTargetOptions(command: Command): Command {
  return command
    .option("--stage <stage>", "a deployed stage (default: the local world that runs)")
    .option("--region <region>", "the stage's AWS region (default: AWS_REGION)")
    .option("--data <dir>", "folder of the local world (default: .hawser)");
}
