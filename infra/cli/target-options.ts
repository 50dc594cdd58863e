import { Argument, type Command, InvalidArgumentError } from "commander";

/** Adds the options by which a command says which Hawser it means. */
export function addTargetOptions(command: Command): Command {
  return command
    .option("--stage <stage>", "a deployed stage (default: the local world that runs)")
    .option("--region <region>", "the stage's AWS region (default: AWS_REGION)")
    .option("--data <dir>", "folder of the local world (default: .hawser)");
}

/** The argument by which a command says which cluster it means. */
export function clusterArgument(): Argument {
  return new Argument("<cluster>", "Hawser's name of the cluster").argParser(parseName);
}

/** A name of a cluster or shard: a DNS-1123 label. */
export function parseName(name: string): string {
  if (/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name)) return name;
  throw new InvalidArgumentError(
    "A name has lower-case letters, digits and dashes, 63 at most; hawser status lists them.",
  );
}
