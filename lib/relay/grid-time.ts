import type { Clock } from "../base/clock.ts";

/**
 * Wall time for the grid, without the small steps of a clock under correction: it runs with the monotonic clock and is
 * set anew when the wall clock is off by more than a tenth of the interval (it was set, or the process was frozen).
 */
export class GridTime {
  readonly #clock: Clock;
  readonly #toleranceMs: number;
  #aheadMs: number;

  constructor(clock: Clock, intervalMs: number) {
    this.#clock = clock;
    this.#toleranceMs = intervalMs / 10;
    this.#aheadMs = clock.now().getTime() - clock.monotonicMs();
  }

  /** Milliseconds since the epoch. */
  nowMs(): number {
    const aheadMs = this.#clock.now().getTime() - this.#clock.monotonicMs();
    if (Math.abs(aheadMs - this.#aheadMs) > this.#toleranceMs) this.#aheadMs = aheadMs;
    return this.#clock.monotonicMs() + this.#aheadMs;
  }
}
