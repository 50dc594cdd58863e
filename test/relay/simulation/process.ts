import type { Clock } from "../../../lib/base/clock.ts";
import type { World } from "./world.ts";

/** 2026-01-01T00:00:00Z. */
export const EPOCH_MS = Date.UTC(2026, 0, 1);

/** One execution environment: a clock of its own, may be paused and killed. What is sent to it meanwhile waits or is lost. */
export class SimulatedProcess implements Clock {
  readonly world: World;
  readonly skewMs: number;
  dead = false;
  /** Sleeps under way. */
  sleeping = 0;
  #paused = false;
  #monotonicStandsStill = false;
  #pausedAtMs = 0;
  #lostMonotonicMs = 0;
  #waiting: (() => void)[] = [];

  constructor(world: World, skewMs: number) {
    this.world = world;
    this.skewMs = skewMs;
  }

  get paused(): boolean {
    return this.#paused;
  }

  now(): Date {
    return new Date(EPOCH_MS + this.world.nowMs + this.skewMs);
  }

  monotonicMs(): number {
    const real = this.#paused && this.#monotonicStandsStill ? this.#pausedAtMs : this.world.nowMs;
    return real - this.#lostMonotonicMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      this.sleeping += 1;
      const done = (): void => {
        this.sleeping -= 1;
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      const timer = this.world.at(this.world.nowMs + Math.max(0, ms), () => this.deliver(done));
      const abort = (): void => {
        timer.cancelled = true;
        done();
      };
      signal?.addEventListener("abort", abort);
    });
  }

  /** Hands something to the process: at once, when it is resumed, or never. */
  deliver(what: () => void): void {
    if (this.dead) return;
    if (this.#paused) this.#waiting.push(what);
    else what();
  }

  kill(): void {
    this.dead = true;
    this.#waiting = [];
  }

  /** @param monotonicStandsStill as when a virtual machine is frozen; else as SIGSTOP */
  pause(monotonicStandsStill: boolean): void {
    if (this.#paused || this.dead) return;
    this.#paused = true;
    this.#pausedAtMs = this.world.nowMs;
    this.#monotonicStandsStill = monotonicStandsStill;
  }

  resume(): void {
    if (!this.#paused) return;
    this.#paused = false;
    if (this.#monotonicStandsStill) this.#lostMonotonicMs += this.world.nowMs - this.#pausedAtMs;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const what of waiting) this.deliver(what);
  }
}
