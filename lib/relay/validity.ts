import type { Clock } from "../base/clock.ts";
import type { RelayTiming } from "./timing.ts";

/** A moment by both clocks of a window. */
export interface Stamp {
  readonly monotonicMs: number;
  /** Milliseconds since the epoch. */
  readonly wallMs: number;
}

/** The present moment by both clocks. */
export function stampOf(clock: Clock): Stamp {
  return { monotonicMs: clock.monotonicMs(), wallMs: clock.now().getTime() };
}

/**
 * How long a holder may trust its own hold.
 *
 * Counted from the START of the last good renewal: the store may have written the new expiry at any moment between start
 * and answer, and others judge by that expiry. Counted by the monotonic and the wall clock, whichever says "over" first:
 * the wall clock may be set back while the monotonic runs, and the monotonic may stand still while the process is frozen.
 *
 *   holder   start of renewal ........ stops writing | ................ expiry
 *            |<------ expiryMs - stopWritingMarginMs ->|<- stopWriting ->|
 *   taker                                                                |<- skewMargin ->| takes
 *
 * With both margins a taker whose clock is up to stopWritingMargin + skewMargin ahead of the holder's is still late enough.
 */
export class Validity {
  readonly #clock: Clock;
  readonly #goodForMs: number;
  #since: Stamp | undefined;

  constructor(clock: Clock, timing: RelayTiming) {
    this.#clock = clock;
    this.#goodForMs = timing.expiryMs - timing.stopWritingMarginMs;
  }

  /** Takes note of a good take or renewal. @param start when its request was begun */
  renewed(start: Stamp): void {
    if (this.#since === undefined || start.monotonicMs > this.#since.monotonicMs) this.#since = start;
  }

  /** False for good, until the next good renewal. */
  end(): void {
    this.#since = undefined;
  }

  /** True while no other window can have taken the baton by its expiry. */
  holds(): boolean {
    if (this.#since === undefined) return false;
    const now = stampOf(this.#clock);
    return (
      now.monotonicMs - this.#since.monotonicMs < this.#goodForMs && now.wallMs - this.#since.wallMs < this.#goodForMs
    );
  }
}
