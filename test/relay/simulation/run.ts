import type { Mutation, Scenario, ScenarioKind } from "./scenario.ts";
import { scenarioOf } from "./scenario.ts";
import { settle } from "./world.ts";

/** What a series of histories came to. */
export interface SimulationReport {
  readonly histories: number;
  readonly beats: number;
  readonly handovers: number;
  readonly failures: readonly {
    readonly seed: number;
    readonly kind: ScenarioKind;
    readonly faults: readonly string[];
  }[];
}

/** Which histories to run. */
export interface SimulationOptions {
  readonly seed: number;
  readonly count: number;
  readonly mutation?: Mutation;
  readonly kind?: ScenarioKind;
  /** Stop at the first history with a fault. */
  readonly stopAtFirst?: boolean;
}

/** Histories that share the turns of the event loop: settling costs one turn for all of them. */
const AT_A_TIME = 64;

/** Runs the histories of `count` seeds from `seed` on. */
export async function simulate(options: SimulationOptions): Promise<SimulationReport> {
  const { seed, count, mutation, kind, stopAtFirst } = options;
  const report = { histories: 0, beats: 0, handovers: 0, failures: [] as SimulationReport["failures"][number][] };
  let next = seed;
  let running: Scenario[] = [];
  while (running.length > 0 || next < seed + count) {
    if (stopAtFirst === true && report.failures.length > 0) break;
    while (running.length < AT_A_TIME && next < seed + count) running.push(scenarioOf(next++, mutation, kind));
    const going: Scenario[] = [];
    for (const scenario of running) {
      if (scenario.platform.world.step(scenario.endMs)) going.push(scenario);
      else finish(scenario, report);
    }
    running = going;
    await settle();
    for (const { platform } of running) platform.check();
  }
  return report;
}

function finish(scenario: Scenario, report: { -readonly [K in keyof SimulationReport]: SimulationReport[K] }): void {
  const { platform, seed, kind } = scenario;
  report.histories += 1;
  report.beats += platform.beats.length;
  report.handovers += platform.record?.fence ?? 0;
  const faults = scenario.verdict();
  if (faults.length > 0) report.failures = [...report.failures, { seed, kind, faults }];
}
