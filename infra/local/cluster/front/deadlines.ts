import type { Clock, Deadline } from "../../../../lib/base/clock.ts";

/** Reasons are shared: a new DOMException for each request costs more than parsing it. */
const TIMED_OUT = new DOMException("the request's time limit is over", "TimeoutError");
const GONE = new DOMException("the client has gone", "AbortError");

interface Entry {
  readonly atMs: number;
  readonly expire: () => void;
}

/**
 * Time limits of many short requests with one timer: nearly all of them are over long before their limit, so that
 * starting and ending one must cost next to nothing.
 */
export class Deadlines {
  readonly #clock: Clock;
  readonly #running = new Set<Entry>();
  #sleep: AbortController | undefined;
  #wakeAtMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** A limit of `ms` milliseconds; its signal fires with the parent's, too. */
  start(ms: number, parent: AbortSignal): Deadline {
    const own = new AbortController();
    let reached = false;
    const entry: Entry = {
      atMs: this.#clock.monotonicMs() + ms,
      expire: () => {
        reached = true;
        own.abort(TIMED_OUT);
      },
    };
    parent.addEventListener("abort", () => own.abort(GONE), { once: true });
    this.#running.add(entry);
    if (entry.atMs < this.#wakeAtMs) this.#arm(entry.atMs);
    // The timer may come later than the limit is reached.
    const expired = (): boolean => reached || (this.#running.has(entry) && this.#clock.monotonicMs() >= entry.atMs);
    return { signal: own.signal, expired, [Symbol.dispose]: () => this.#running.delete(entry) };
  }

  /** Ends the timer; limits that run are not reached any more. */
  close(): void {
    this.#running.clear();
    this.#sleep?.abort(GONE);
  }

  #arm(atMs: number): void {
    this.#sleep?.abort(GONE);
    const sleep = new AbortController();
    this.#sleep = sleep;
    this.#wakeAtMs = atMs;
    void this.#clock.sleep(atMs - this.#clock.monotonicMs(), sleep.signal).then(() => {
      if (!sleep.signal.aborted) this.#wake();
    });
  }

  #wake(): void {
    this.#wakeAtMs = Number.POSITIVE_INFINITY;
    const nowMs = this.#clock.monotonicMs();
    let nextMs = Number.POSITIVE_INFINITY;
    for (const entry of this.#running) {
      // Timers may fire a fraction of a millisecond early.
      if (entry.atMs <= nowMs + 1) {
        this.#running.delete(entry);
        entry.expire();
      } else nextMs = Math.min(nextMs, entry.atMs);
    }
    if (nextMs < Number.POSITIVE_INFINITY) this.#arm(nextMs);
  }
}
