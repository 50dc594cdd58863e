import { Command } from "commander";
import type { TargetOptions } from "./target.ts";
import { addTargetOptions } from "./target-options.ts";

/** Options of `hawser join`, parsed. */
export interface JoinOptions extends TargetOptions {
  readonly file: string;
  readonly json?: boolean;
}

/** `hawser join`: joins the clusters of a file, one after the other; may be repeated. */
export function joinCommand(): Command {
  return addTargetOptions(
    new Command("join")
      .description("Joins clusters to their hubs, as a membership file asks. May be repeated: what is done stays done.")
      .requiredOption("-f, --file <file>", "membership documents, YAML or JSON, one or several; - reads standard input")
      .option("--json", "one JSON object for each membership"),
  )
    .addHelpText("after", DOCUMENT_HELP)
    .action(async (options: JoinOptions) => {
      const { joinAll } = await import("./join-all.ts");
      process.exitCode = await joinAll(options);
    });
}

const DOCUMENT_HELP = `
A membership document:
  cluster: east                   # Hawser's name for the cluster
  protocol: antrea
  access:
    kubeconfig:
      ssm: /hawser/prod/east      # or, in the local world, file: east.kubeconfig
  antrea:
    namespace: kube-system        # where the ClusterSet and the token Secret are
  options:
    failureThreshold: 3           # failed beats in a row before it shows as disconnected
The schema is lib/state/membership.schema.json.
`;
