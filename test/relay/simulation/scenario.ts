import { gridOffsetMs } from "../../../lib/base/grid.ts";
import type { Random } from "../../../lib/base/random.ts";
import type { RelayRules } from "../../../lib/relay/rules.ts";
import { DEFAULT_TIMING, type RelayTiming } from "../../../lib/relay/timing.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { Platform } from "./platform.ts";
import { EPOCH_MS } from "./process.ts";

/**
 * What a history is made of:
 * - `planned`: handovers, deploys, duplicate firings; clocks as good as NTP makes them. No beat may be missed.
 * - `skewed`: the same with clocks up to 5 s off. No gap of 20 s.
 * - `killed`: single kills of the holder. Gaps within the promised bounds.
 * - `chaos`: everything at once. Only safety holds, and the relay recovers when it is over.
 */
export type ScenarioKind = "planned" | "skewed" | "killed" | "chaos";

/** A deliberate fault of the relay or its store, to show that the simulation finds it. */
export interface Mutation {
  readonly rules?: RelayRules;
  /** Changes the platform, before anything happens. */
  readonly apply?: (platform: Platform) => void;
}

/** What one seed stands for. */
export interface Scenario {
  readonly seed: number;
  readonly kind: ScenarioKind;
  readonly standby: "cold" | "hot";
  readonly platform: Platform;
  readonly endMs: number;
  /** Judges the whole history, when it is over. */
  readonly verdict: () => readonly string[];
}

/**
 * Windows of five minutes instead of fifteen and firings every 30 s instead of every 60, so that a short history sees
 * handovers; as in the real proportions, a third of a window is longer than the longest pause between two firings and a
 * preparation. Where gaps after kills are measured, firings come every 60 s, and windows are longer.
 */
const WINDOW_MS = 300_000;
const KILLED_WINDOW_MS = 420_000;
const TIMING: RelayTiming = {
  ...DEFAULT_TIMING,
  hot: { ...DEFAULT_TIMING.hot, claimMs: 120_000, relieveRemainingMs: 60_000, takeRemainingMs: 100_000 },
};
const TARGETS = ["east", "north"];
const MINUTE_MS = 60_000;

/** Makes the history of a seed. */
export function scenarioOf(seed: number, mutation: Mutation = {}, wanted?: ScenarioKind): Scenario {
  const random = seededRandom(seed);
  const kind = wanted ?? kindOf(random.next());
  const standby = random.next() < 0.07 ? "hot" : "cold";
  const endMs = lengthMs(kind, standby);
  const prepareMs = (): number => 300 + random.next() * (kind === "planned" ? 20_000 : 3_500);
  const platform = new Platform({
    random,
    timing: TIMING,
    standby,
    windowMs: kind === "killed" ? KILLED_WINDOW_MS : WINDOW_MS,
    targets: TARGETS,
    prepareMs,
    ...(mutation.rules === undefined ? {} : { rules: mutation.rules }),
  });
  mutation.apply?.(platform);
  const kills: number[] = [];
  const plan: Plan = { random, kind, standby, platform, endMs, kills };
  fire(plan);
  if (kind !== "killed") deploy(plan);
  if (kind === "killed") kill(plan);
  if (kind === "chaos") confuse(plan);
  return { seed, kind, standby, platform, endMs, verdict: () => [...platform.violations, ...judge(plan)] };
}

function lengthMs(kind: ScenarioKind, standby: "cold" | "hot"): number {
  if (kind !== "killed") return 5 * MINUTE_MS;
  return (standby === "cold" ? 9 : 7) * MINUTE_MS;
}

interface Plan {
  readonly random: Random;
  readonly kind: ScenarioKind;
  readonly standby: "cold" | "hot";
  readonly platform: Platform;
  readonly endMs: number;
  readonly kills: number[];
}

function kindOf(chance: number): ScenarioKind {
  if (chance < 0.3) return "planned";
  if (chance < 0.4) return "skewed";
  return chance < 0.55 ? "killed" : "chaos";
}

/** Once in its minute, anywhere within it; at least once, in chaos sometimes not at all. */
function fire({ random, kind, platform, endMs }: Plan): void {
  const { world } = platform;
  const worstSkewMs = kind === "planned" ? 40 : 5_000;
  const chaos = kind === "chaos";
  const everyMs = kind === "killed" ? MINUTE_MS : MINUTE_MS / 2;
  for (let minuteMs = 0; minuteMs < endMs; minuteMs += everyMs) {
    if (chaos && random.next() < 0.1) continue;
    const atMs = minuteMs + random.next() * everyMs;
    const times = random.next() < (chaos ? 0.3 : 0.1) ? 2 : 1;
    for (let i = 0; i < times; i += 1) {
      world.at(atMs + i * 5 * random.next(), () => platform.invoke((2 * random.next() - 1) * worstSkewMs));
    }
  }
}

function deploy({ random, platform, endMs }: Plan): void {
  for (let count = random.next() < 0.5 ? 1 : 2; count > 0; count -= 1) {
    const atMs = MINUTE_MS + random.next() * (endMs - 2 * MINUTE_MS);
    platform.world.at(atMs, () => {
      platform.deployedAt = Math.max(platform.deployedAt, EPOCH_MS + Math.floor(atMs));
    });
  }
}

/** A kill, and time enough to recover from it before the next. */
function kill({ random, standby, platform, endMs, kills }: Plan): void {
  const stepMs = standby === "hot" ? 200_000 : 280_000;
  for (let atMs = 180_000 + random.next() * 100_000; atMs < endMs - 170_000; atMs += stepMs + random.next() * 60_000) {
    platform.world.at(atMs, () => {
      const { holder } = platform;
      if (holder === undefined) return;
      kills.push(platform.world.nowMs);
      holder.process.kill();
    });
  }
}

/** Outages, lost and late answers, pauses and kills, for all but the last two minutes. */
function confuse({ random, platform, endMs }: Plan): void {
  const { world, store } = platform;
  const calmMs = endMs - 2 * MINUTE_MS;
  store.faults = {
    throttled: random.next() * 0.1,
    lostAnswer: random.next() * 0.1,
    late: random.next() * 0.05,
    latencyMs: 5 + random.next() * 200,
  };
  for (let count = Math.floor(random.next() * 8); count > 0; count -= 1) {
    const what = random.next();
    const atMs = 20_000 + random.next() * (calmMs - 60_000);
    const forMs = 2_000 + random.next() * 50_000;
    world.at(atMs, () => {
      const { living } = platform;
      const victim = random.next() < 0.7 ? platform.holder : living[Math.floor(random.next() * living.length)];
      if (what < 0.25) return outage(platform, forMs);
      if (what < 0.45) return victim?.process.kill();
      victim?.process.pause(random.next() < 0.3);
      world.at(world.nowMs + forMs, () => victim?.process.resume());
    });
  }
  world.at(calmMs, () => {
    store.faults = { throttled: 0, lostAnswer: 0, late: 0, latencyMs: 5 };
  });
}

function outage({ store, world }: Platform, forMs: number): void {
  store.outage = true;
  world.at(world.nowMs + forMs, () => {
    store.outage = false;
  });
}

function judge(plan: Plan): readonly string[] {
  const faults: string[] = [];
  for (const target of TARGETS) {
    const beats = plan.platform.beats.filter((beat) => beat.target === target).map((beat) => beat.atMs);
    if (beats.length === 0) faults.push(`${target} was never beaten`);
    else
      faults.push(
        ...judgeBeats(
          plan,
          target,
          beats.toSorted((a, b) => a - b),
        ),
      );
  }
  return faults;
}

function judgeBeats(plan: Plan, target: string, beats: readonly number[]): readonly string[] {
  const { kind, standby, kills, endMs } = plan;
  const faults: string[] = [];
  const gaps = [...beats, endMs].map((atMs, i) => ({ fromMs: beats[i - 1] ?? atMs, toMs: atMs }));
  for (const { fromMs, toMs } of gaps) {
    // Just after a handover the old holder still beats for up to an interval; a kill of the new one shows after that.
    const killed = kills.some((atMs) => atMs >= fromMs - TIMING.intervalMs - 2_000 && atMs <= toMs);
    const boundMs =
      kind === "chaos" ? Number.POSITIVE_INFINITY : !killed ? 20_000 : standby === "hot" ? 25_000 : 160_000;
    if (toMs - fromMs <= boundMs) continue;
    faults.push(`${target}: no beat from ${fromMs / 1000} s to ${toMs / 1000} s, allowed ${boundMs / 1000} s`);
  }
  if (kind === "planned") faults.push(...missedPoints(target, beats, endMs));
  if (kind === "chaos" && endMs - (beats.at(-1) ?? 0) > 20_000) faults.push(`${target}: not recovered at the end`);
  return faults;
}

/** Grid points without a beat within an interval of them; a tenth of a second allows for the clocks. */
function missedPoints(target: string, beats: readonly number[], endMs: number): readonly string[] {
  const { intervalMs } = TIMING;
  const slackMs = 300;
  const missed: string[] = [];
  let index = 0;
  const offsetMs = gridOffsetMs(target, intervalMs);
  const firstMs = Math.ceil(((beats[0] ?? 0) - offsetMs) / intervalMs) * intervalMs + offsetMs;
  for (let pointMs = firstMs; pointMs + intervalMs + slackMs < endMs; pointMs += intervalMs) {
    while ((beats[index] ?? Number.POSITIVE_INFINITY) < pointMs - slackMs) index += 1;
    if ((beats[index] ?? Number.POSITIVE_INFINITY) > pointMs + intervalMs + slackMs) {
      missed.push(`${target}: the beat of ${pointMs / 1000} s was missed`);
    }
  }
  return missed;
}
