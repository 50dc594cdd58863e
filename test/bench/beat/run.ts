import pLimit from "p-limit";
import { systemClock } from "../../../lib/base/clock.ts";
import type { BeatOptions } from "../beat.ts";
import { Child } from "../child.ts";
import { describeMachine } from "../machine.ts";
import type { Sample } from "../sampling.ts";
import { type Figures, figuresOf, type Observed } from "./figures.ts";
import type { DriverCalls, RunningLeader, ServerCalls } from "./protocol.ts";
import { type BeatReport, beatReport, FUNCTION_MEMORY_MB, renderBeat } from "./report.ts";

const INTERVAL_MS = 10_000;
/** Beats of the last interval may still come in for so long, in milliseconds. */
const GRACE_MS = 3000;

const SERVER = new URL("./server.ts", import.meta.url);
const DRIVERS = {
  hawser: new URL("./hawser-driver.ts", import.meta.url),
  baseline: new URL("./baseline-driver.ts", import.meta.url),
} as const;

/** The heap limit of the function as it is deployed: V8 collects by it, and without one RSS grows for no need. */
const NODE_OPTIONS = ["--expose-gc", `--max-old-space-size=${FUNCTION_MEMORY_MB}`];

type DriverName = keyof typeof DRIVERS;

/** Runs the bench and prints its report. */
export async function runBeat(options: BeatOptions): Promise<void> {
  const report = await measureBeat(options);
  console.log(options.json ? JSON.stringify(report, undefined, 2) : renderBeat(report));
}

async function measureBeat(options: BeatOptions): Promise<BeatReport> {
  const before = describeMachine();
  // Side by side only where exactness is not asked for: drivers and leaders share the cores.
  const turns = pLimit(options.quick ? Number.POSITIVE_INFINITY : 1);
  const empty = {
    hawser: turns(async () => await measureEmpty("hawser")),
    baseline: turns(async () => await measureEmpty("baseline")),
  };
  const run = async (driver: DriverName, size: number): Promise<Figures> =>
    figuresOf({ ...(await turns(measureDriver, driver, size, options)), empty: await empty[driver] });
  const sizes = options.sizes.map(async (memberships) => {
    const [hawser, baseline] = await Promise.all([run("hawser", memberships), run("baseline", memberships)]);
    return { memberships, hawser, baseline };
  });
  const measured = await Promise.all(sizes);
  return beatReport({ options, before, after: describeMachine(), sizes: measured });
}

/** A driver without members: what its process costs by itself. */
async function measureEmpty(driver: DriverName): Promise<Sample> {
  await using child = new Child<DriverCalls>(DRIVERS[driver], NODE_OPTIONS);
  await child.call("begin", { leader: { url: "https://127.0.0.1:1", caPem: "", members: [] }, seed: 1 });
  await systemClock.sleep(1000);
  return await child.call("retained", {});
}

async function measureDriver(
  driver: DriverName,
  memberships: number,
  options: BeatOptions,
): Promise<Omit<Observed, "empty">> {
  const { seed, intervals, webhook } = options;
  const clusters = Array.from({ length: memberships }, (_, i) => `bench-${seed}-${String(i + 1).padStart(5, "0")}`);
  progress(`${driver}, ${memberships} memberships: starting`);
  await using server = new Child<ServerCalls>(SERVER);
  const started = await server.call("startLeader", { clusters, seed, webhook });
  await using members = withMembers(driver, options) ? new Child<ServerCalls>(SERVER) : undefined;
  const kubeconfigs = await members?.call("startMembers", { leader: started, seed });
  const leader = kubeconfigs === undefined ? started : reachable(started, kubeconfigs);

  await using child = new Child<DriverCalls>(DRIVERS[driver], nodeOptions(driver, options));
  const facts = await child.call("begin", { leader, seed });
  const warmUpMs = options.quick ? INTERVAL_MS / 2 : INTERVAL_MS;
  const fromMs = Math.ceil(systemClock.now().getTime() + warmUpMs);
  progress(`${driver}, ${memberships} memberships: all have announced; measuring ${intervals} x ${INTERVAL_MS} ms`);
  const measured = { fromMs, intervalMs: INTERVAL_MS, intervals };
  const samples = await child.call("measure", measured);
  await systemClock.sleep(GRACE_MS);
  const toMs = fromMs + intervals * INTERVAL_MS + GRACE_MS;
  const record = await server.call("record", { fromMs, toMs });
  const retained = await child.call("retained", {});
  return { clusters, measured, samples, retained, record, facts };
}

function withMembers(driver: DriverName, { members }: BeatOptions): boolean {
  return driver === "hawser" && members === "https";
}

function reachable(leader: RunningLeader, kubeconfigs: readonly string[]): RunningLeader {
  const members = leader.members.map((member, i) => ({ ...member, kubeconfig: kubeconfigs[i] ?? "" }));
  return { ...leader, members };
}

function nodeOptions(driver: DriverName, { profile }: BeatOptions): readonly string[] {
  const profiling = profile !== undefined && driver === "hawser" ? ["--cpu-prof", `--cpu-prof-dir=${profile}`] : [];
  return [...NODE_OPTIONS, ...profiling];
}

/** Standard output is the report's alone. */
function progress(message: string): void {
  console.error(message);
}
