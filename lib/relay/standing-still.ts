import type { BatonRecord } from "./ports.ts";

/**
 * For how long a standby has seen the count of renewals stand still, by its own monotonic clock: the clocks of two
 * windows are never compared. Only an unbroken series of looks counts: a standby that was itself paused, or could not
 * reach the store, knows nothing of what the holder did meanwhile.
 */
export class StandingStill {
  readonly #longestBreakMs: number;
  #mark: string | undefined;
  #sinceMs = 0;
  #lookedMs = 0;

  /** @param longestBreakMs between two looks of one series */
  constructor(longestBreakMs: number) {
    this.#longestBreakMs = longestBreakMs;
  }

  /** Takes note of what a look showed. @param atMs monotonic time of the answer */
  saw(record: BatonRecord | undefined, atMs: number): void {
    const mark = record === undefined ? "" : `${record.fence}/${record.renewals}`;
    if (mark !== this.#mark || atMs - this.#lookedMs > this.#longestBreakMs) this.#sinceMs = atMs;
    this.#mark = mark;
    this.#lookedMs = atMs;
  }

  /** How long the count had stood still at the last look. */
  get forMs(): number {
    return this.#lookedMs - this.#sinceMs;
  }
}
