import { Command, InvalidArgumentError, Option } from "commander";
import { parseDuration } from "./duration.ts";

/** Options of `hawser up`, parsed. */
export interface UpOptions {
  readonly manifests?: string;
  readonly config?: string;
  readonly real?: boolean;
  readonly for?: number;
  readonly json?: boolean;
  readonly data?: string;
  readonly window: number;
  readonly standby: "cold" | "hot";
}

/** `hawser up`: the whole product on this machine. */
export function upCommand(): Command {
  return new Command("up")
    .description("Runs Hawser on this machine: embedded AWS services, the real functions, simulated or real clusters.")
    .option(
      "--manifests <dir>",
      "folder with a ClusterSet and a token Secret for each member (default: the ones shipped)",
    )
    .option("--config <file>", "real clusters instead of simulated ones, named by kubeconfigs (form below)")
    .option("--real", "Kubernetes' own API servers instead of simulated ones (programs: npm run assets)")
    .option("--for <duration>", "end so long after all memberships have joined: 90s, 2m, 1h", parseDuration)
    .option("--json", "one JSON object a line, the last one a summary")
    .option("--data <dir>", "folder for what the local world writes (default: .hawser)")
    .option(
      "--window <duration>",
      "longest run of one window: 45s to 15m; schedules fire as much faster",
      parseWindow,
      900_000,
    )
    .addOption(
      new Option("--standby <mode>", "whether a second window stands ready").choices(["cold", "hot"]).default("cold"),
    )
    .addHelpText("after", CONFIG_HELP)
    .action(async (options: UpOptions) => {
      // The world is loaded only where it is needed: help and mistakes answer at once.
      const { up } = await import("./up-world.ts");
      process.exitCode = await up(options);
    });
}

const CONFIG_HELP = `
The file of --config (YAML; paths are relative to it):
  leader:
    kubeconfig: leader.kubeconfig      # to watch the announces from the leader's side
    namespace: antrea-multicluster     # the common area
    simulatedController: false         # true: for an API server without Antrea's own controller; the kubeconfig is
                                       # then an administrator's
  members:
    - cluster: east                    # Hawser's name for it
      kubeconfig: east.kubeconfig      # with the rights of infra/kubernetes/member/hawser.yaml
      namespace: kube-system           # where its ClusterSet and token Secret are
`;

function parseWindow(text: string): number {
  const ms = parseDuration(text);
  if (ms < 45_000 || ms > 900_000) throw new InvalidArgumentError("a window lasts from 45s to 15m");
  return ms;
}
