import { fileURLToPath } from "node:url";
import { Command, InvalidArgumentError, Option } from "commander";
import { systemClock } from "../../lib/base/clock.ts";
import { systemRandom } from "../../lib/base/random.ts";
import { ManifestError } from "../local/world/manifests.ts";
import { dataFolder } from "../local/world/state-file.ts";
import { startWorld, type World, WorldError } from "../local/world/world.ts";
import { parseDuration } from "./duration.ts";
import { CommandError, EXIT } from "./exit-codes.ts";
import { Display } from "./up-display.ts";
import { observe } from "./up-observe.ts";

interface UpOptions {
  readonly manifests?: string;
  readonly config?: string;
  readonly for?: number;
  readonly json?: boolean;
  readonly data?: string;
  readonly window: number;
  readonly standby: "cold" | "hot";
}

const MANIFESTS = fileURLToPath(new URL("../local/manifests", import.meta.url));

/** `hawser up`: the whole product on this machine. */
export function upCommand(): Command {
  return new Command("up")
    .description("Runs Hawser on this machine: embedded AWS services, the real functions, simulated or real clusters.")
    .option(
      "--manifests <dir>",
      "folder with a ClusterSet and a token Secret for each member (default: the ones shipped)",
    )
    .option("--config <file>", "real clusters instead of simulated ones, named by kubeconfigs (form below)")
    .option("--for <duration>", "end so long after all memberships have joined: 90s, 2m, 1h", parseDuration)
    .option("--json", "one JSON object a line, the last one a summary")
    .option("--data <dir>", "folder for what the local world writes (default: .hawser)")
    .option("--window <duration>", "longest run of one window, as Lambda's timeout: 30s to 15m", parseWindow, 900_000)
    .addOption(
      new Option("--standby <mode>", "whether a second window stands ready").choices(["cold", "hot"]).default("cold"),
    )
    .addHelpText("after", CONFIG_HELP)
    .action(async (options: UpOptions) => {
      process.exitCode = await up(options);
    });
}

const CONFIG_HELP = `
The file of --config (YAML; paths are relative to it):
  leader:
    kubeconfig: leader.kubeconfig      # to watch the announces from the leader's side
    namespace: antrea-multicluster     # the common area
    simulatedController: false         # true: for an API server without Antrea's own controller
  members:
    - cluster: east                    # Hawser's name for it
      kubeconfig: east.kubeconfig      # with the rights of infra/kubernetes/member/hawser.yaml
      namespace: kube-system           # where its ClusterSet and token Secret are
`;

function parseWindow(text: string): number {
  const ms = parseDuration(text);
  if (ms < 30_000 || ms > 900_000) throw new InvalidArgumentError("a window lasts from 30s to 15m");
  return ms;
}

async function up(options: UpOptions): Promise<number> {
  if (options.manifests !== undefined && options.config !== undefined) {
    throw new CommandError("--manifests and --config exclude each other: simulated clusters or real ones", EXIT.usage);
  }
  const ended = new AbortController();
  const end = (): void => ended.abort();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.on(signal, end);
  const display = new Display(options.json === true ? "json" : process.stdout.isTTY ? "live" : "lines");
  let world: World | undefined;
  try {
    world = await startWorld({
      dataDir: dataFolder(options.data),
      clusters:
        options.config === undefined ? { manifests: options.manifests ?? MANIFESTS } : { config: options.config },
      windowMs: options.window,
      standby: options.standby,
      clock: systemClock,
      random: systemRandom,
      onEvent: (event) => display.event(event),
      signal: ended.signal,
    });
    return await observe({ world, display, clock: systemClock, forMs: options.for, signal: ended.signal });
  } catch (error) {
    if (ended.signal.aborted) return EXIT.ok;
    if (error instanceof ManifestError || error instanceof WorldError) throw new CommandError(error.message);
    throw error;
  } finally {
    display.close();
    await world?.stop();
    for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.off(signal, end);
  }
}
