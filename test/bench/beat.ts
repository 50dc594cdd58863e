import { Command, InvalidArgumentError, Option } from "commander";

/** Options of the bench `beat`, parsed. */
export interface BeatOptions {
  readonly sizes: readonly number[];
  readonly intervals: number;
  readonly seed: number;
  readonly members: "memory" | "https";
  readonly webhook: boolean;
  readonly quick: boolean;
  readonly json: boolean;
  readonly profile?: string;
}

/** Options as they are given; `--quick` stands for others that are not. */
interface GivenOptions extends Omit<BeatOptions, "sizes" | "intervals"> {
  readonly sizes?: readonly number[];
  readonly intervals?: number;
}

/** `bench beat`: the cost and the punctuality of announces, beside those of one agent per cluster. */
export function beatCommand(): Command {
  return new Command("beat")
    .description("Announces of 1, 100 and 1,000 memberships at a 10 s beat, and a driver that does what the agents do.")
    .option("--sizes <list>", "numbers of memberships, by commas (default: 1,100,1000)", parseSizes)
    .option(
      "--intervals <n>",
      "intervals of 10 s that are measured, after one to warm up (default: 3; 6 with --members https)",
      parseCount,
    )
    .option("--quick", "sizes 1 and 50, one interval, all side by side: less exact, under 40 s", false)
    .addOption(
      new Option("--members <where>", "what Hawser reads its configuration from: in memory, or an API server")
        .choices(["memory", "https"])
        .default("memory"),
    )
    .option("--webhook", "the leader runs its controllers and its validating webhook", false)
    .option("--seed <n>", "chooses names (and with them places in the interval) and jitter", parseCount, 1)
    .option("--json", "one JSON document instead of Markdown", false)
    .option("--profile <dir>", "write CPU profiles of Hawser's process there")
    .addHelpText("after", HELP)
    .action(async (given: GivenOptions) => {
      const { runBeat } = await import("./beat/run.ts");
      await runBeat({
        ...given,
        sizes: given.sizes ?? (given.quick ? [1, 50] : [1, 100, 1000]),
        intervals: given.intervals ?? defaultIntervals(given),
      });
    });
}

const HELP = `
The leader is a simulated API server in a process of its own, with the CustomResourceDefinitions and the Role of
infra/kubernetes and a ServiceAccount with its token for each member. Each driver is a process of its own too, so that
CPU and memory are its alone. Punctuality, requests, bytes and connections are counted by the leader.
Nothing is judged: the exit code says only whether the measuring worked.`;

/** Members are looked at every 29 to 45 s: fewer intervals than six would show few looks, or none. */
function defaultIntervals({ quick, members }: GivenOptions): number {
  if (quick) return 1;
  return members === "https" ? 6 : 3;
}

function parseCount(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1) throw new InvalidArgumentError("Must be a whole number from 1.");
  return value;
}

function parseSizes(text: string): readonly number[] {
  return text.split(",").map(parseCount);
}
