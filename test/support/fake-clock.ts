import type { Clock } from "../../lib/base/clock.ts";

interface Sleeper {
  readonly wakeAt: number;
  readonly order: number;
  readonly wake: () => void;
}

/** A clock that stands still until it is advanced. Wall and monotonic time can be moved apart. */
export class FakeClock implements Clock {
  #wallMs: number;
  #monotonicMs = 0;
  #order = 0;
  readonly #sleepers = new Set<Sleeper>();

  constructor(start: Date = new Date("2026-01-01T00:00:00Z")) {
    this.#wallMs = start.getTime();
  }

  now(): Date {
    return new Date(this.#wallMs);
  }

  monotonicMs(): number {
    return this.#monotonicMs;
  }

  async sleep(ms: number, signal?: AbortSignal): Promise<void> {
    if (signal?.aborted === true) return;
    await new Promise<void>((resolve) => {
      const done = (): void => {
        this.#sleepers.delete(sleeper);
        signal?.removeEventListener("abort", done);
        resolve();
      };
      const sleeper: Sleeper = { wakeAt: this.#monotonicMs + Math.max(0, ms), order: this.#order++, wake: done };
      this.#sleepers.add(sleeper);
      signal?.addEventListener("abort", done, { once: true });
    });
  }

  /** How many sleeps are under way. */
  get sleeping(): number {
    return this.#sleepers.size;
  }

  /** Moves the wall clock alone, as an operator or NTP does. */
  setWall(to: Date): void {
    this.#wallMs = to.getTime();
  }

  /**
   * Moves both clocks on by `ms`, waking sleepers in their order and letting each one's work settle (as far as it needs
   * no I/O) before the next is woken.
   */
  async advance(ms: number): Promise<void> {
    const end = this.#monotonicMs + ms;
    await settle();
    for (;;) {
      const next = [...this.#sleepers]
        .filter((s) => s.wakeAt <= end)
        .toSorted((a, b) => a.wakeAt - b.wakeAt || a.order - b.order)[0];
      if (next === undefined) break;
      this.#moveTo(Math.max(next.wakeAt, this.#monotonicMs));
      next.wake();
      await settle();
    }
    this.#moveTo(end);
    await settle();
  }

  #moveTo(monotonicMs: number): void {
    this.#wallMs += monotonicMs - this.#monotonicMs;
    this.#monotonicMs = monotonicMs;
  }
}

/** Lets promise chains run until nothing is left that needs no I/O. */
async function settle(): Promise<void> {
  for (let i = 0; i < 4; i += 1) await new Promise<void>((resolve) => setImmediate(resolve));
}
