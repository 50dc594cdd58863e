import type { Ids } from "../../../lib/base/ids.ts";
import type { Random } from "../../../lib/base/random.ts";
import { ok } from "../../../lib/base/result.ts";
import type { BatonRecord, Hold, RoleWork } from "../../../lib/relay/ports.ts";
import { RELAY_RULES, type RelayRules } from "../../../lib/relay/rules.ts";
import { Ticker } from "../../../lib/relay/ticker.ts";
import type { RelayTiming } from "../../../lib/relay/timing.ts";
import { runWindow } from "../../../lib/relay/window.ts";
import type { WindowEvent, WindowResult } from "../../../lib/relay/window-options.ts";
import { EPOCH_MS, SimulatedProcess } from "./process.ts";
import { SimulatedStore } from "./store.ts";
import { World } from "./world.ts";

/** What stays the same for all invocations of one simulation. */
export interface PlatformOptions {
  readonly random: Random;
  readonly timing: RelayTiming;
  readonly standby: "cold" | "hot";
  readonly windowMs: number;
  readonly targets: readonly string[];
  /** How long a preparation takes, in milliseconds. */
  readonly prepareMs: () => number;
  readonly rules?: RelayRules;
}

/** One invocation, from start to end. */
export interface Invocation {
  readonly process: SimulatedProcess;
  readonly deployedAt: number;
  readonly startedMs: number;
  readonly events: { readonly atMs: number; readonly event: WindowEvent }[];
  hold: Hold | undefined;
  prepared: number;
  worked: number;
  closed: number;
  result: WindowResult | undefined;
  endedMs: number | undefined;
}

/** A beat that reached the hub. */
export interface HubBeat {
  readonly target: string;
  readonly atMs: number;
  readonly fence: number;
}

/** The serverless platform with the relay's windows in it, a hub that counts beats, and a watch over what must hold. */
export class Platform {
  readonly world = new World();
  readonly store: SimulatedStore;
  readonly invocations: Invocation[] = [];
  readonly beats: HubBeat[] = [];
  readonly violations: string[] = [];
  deployedAt = EPOCH_MS;
  readonly #options: PlatformOptions;
  readonly #holders = new Map<number, string | undefined>();
  readonly #ids: Pick<Ids, "uuid">;
  #living: Invocation[] = [];
  #writtenFence = 0;

  constructor(options: PlatformOptions) {
    this.#options = options;
    this.store = new SimulatedStore(this.world, options.random);
    this.store.onChanged = (before, after) => this.#changed(before, after);
    let count = 0;
    this.#ids = { uuid: () => `id-${++count}` };
  }

  /** The baton as it stands. */
  get record(): BatonRecord | undefined {
    return this.store.inner.peek(KEY);
  }

  /** The invocation that holds the baton and lives. */
  get holder(): Invocation | undefined {
    const id = this.record?.holder;
    return this.#living.find((invocation) => invocation.hold?.holder === id && !invocation.process.dead);
  }

  /** Invocations that have not ended. */
  get living(): readonly Invocation[] {
    return this.#living.filter((invocation) => !invocation.process.dead);
  }

  /** Invokes the role once, now. */
  invoke(skewMs: number, windowMs = this.#options.windowMs): Invocation {
    const { world } = this;
    const process = new SimulatedProcess(world, skewMs);
    const invocation: Invocation = {
      process,
      deployedAt: this.deployedAt,
      startedMs: world.nowMs,
      events: [],
      hold: undefined,
      prepared: 0,
      worked: 0,
      closed: 0,
      result: undefined,
      endedMs: undefined,
    };
    this.invocations.push(invocation);
    this.#living.push(invocation);
    void this.#run(invocation, windowMs);
    world.at(world.nowMs + windowMs, () => this.#timeUp(invocation));
    return invocation;
  }

  /** What must hold at every moment. Called after each event. */
  check(): void {
    let writer: Hold | undefined;
    for (const { hold, process } of this.#living) {
      if (hold === undefined || process.dead || !hold.mayWrite()) continue;
      if (writer !== undefined) this.#violated(`two windows may write: fences ${writer.fence} and ${hold.fence}`);
      writer = hold;
    }
  }

  async #run(invocation: Invocation, windowMs: number): Promise<void> {
    const { random, timing, standby, rules } = this.#options;
    const { process } = invocation;
    const client = this.store.clientOf(process);
    const endMs = this.world.nowMs + windowMs;
    invocation.result = await runWindow({
      key: KEY,
      shard: "s",
      store: client,
      revisions: client,
      work: this.#workOf(invocation),
      clock: process,
      random,
      ids: this.#ids,
      remainingMs: () => endMs - this.world.nowMs,
      deployedAt: invocation.deployedAt,
      standby,
      repeatable: true,
      signal: new AbortController().signal,
      timing,
      rules: rules ?? RELAY_RULES,
      observe: (event) => invocation.events.push({ atMs: this.world.nowMs, event }),
    });
    invocation.endedMs = this.world.nowMs;
    this.#living = this.#living.filter((other) => other !== invocation);
    if (invocation.hold?.mayWrite() === true) this.#violated("a window that ended may write");
  }

  #workOf(invocation: Invocation): RoleWork {
    const { process } = invocation;
    return {
      prepare: async (_revision, signal) => {
        invocation.prepared += 1;
        await process.sleep(this.#options.prepareMs(), signal);
        return ok(undefined);
      },
      work: async (hold) => {
        invocation.worked += 1;
        invocation.hold = hold;
        await this.#beat(process, hold);
      },
      close: async () => {
        invocation.closed += 1;
      },
    };
  }

  async #beat(process: SimulatedProcess, hold: Hold): Promise<void> {
    const ticker = new Ticker({
      clock: process,
      intervalMs: this.#options.timing.intervalMs,
      concurrency: 10,
      beat: async ({ name }) => {
        if (!hold.mayRepeat()) return;
        if (hold.mayWrite()) this.#write(hold.fence);
        await process.sleep(20 + 100 * this.#options.random.next());
        this.beats.push({ target: name, atMs: this.world.nowMs, fence: hold.fence });
      },
      onRound: (roundAt) => hold.reportRound({ roundAt, exceptions: {}, moreExceptions: 0 }),
    });
    ticker.setTargets(this.#options.targets.map((name) => ({ name, hub: "hub" })));
    await ticker.run(hold.signal, hold.previousRoundAt);
  }

  #write(fence: number): void {
    if (fence < this.#writtenFence)
      this.#violated(`a write under fence ${fence} after one under ${this.#writtenFence}`);
    this.#writtenFence = Math.max(this.#writtenFence, fence);
  }

  #changed(before: BatonRecord | undefined, after: BatonRecord): void {
    const was = before?.fence ?? 0;
    if (after.fence < was) this.#violated(`the fence fell from ${was} to ${after.fence}`);
    if (after.fence > was + 1) this.#violated(`the fence jumped from ${was} to ${after.fence}`);
    if (before !== undefined && after.renewals < before.renewals) this.#violated("the count of renewals fell");
    if (after.holder === undefined) return;
    const holder = this.#holders.get(after.fence);
    if (holder !== undefined && holder !== after.holder) this.#violated(`fence ${after.fence} has two holders`);
    this.#holders.set(after.fence, after.holder);
  }

  #timeUp(invocation: Invocation): void {
    if (invocation.result !== undefined || invocation.process.dead) return;
    if (!invocation.process.paused) this.#violated("an invocation ended by timeout");
    invocation.process.kill();
    this.#living = this.#living.filter((other) => other !== invocation);
  }

  #violated(what: string): void {
    this.violations.push(`${(this.world.nowMs / 1000).toFixed(3)} s: ${what}`);
  }
}

const KEY = { role: "announce", scope: "s" };
