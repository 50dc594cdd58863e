import { setTimeout as delay } from "node:timers/promises";

/**
 * Time, as a parameter. Durations are measured with `monotonicMs`, stamps are taken from `now`: the wall clock may be
 * set while a function runs, the monotonic one may not, and both may stand still while a function is frozen.
 */
export interface Clock {
  /** Wall clock time, for stamps. */
  now(): Date;
  /** Milliseconds since an arbitrary moment, never going back; for durations and deadlines. */
  monotonicMs(): number;
  /** Resolves after `ms` milliseconds, or at once when `signal` is aborted. It never rejects: the caller looks at the signal. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The clock of the machine. */
export const systemClock: Clock = {
  now: () => new Date(),
  monotonicMs: () => performance.now(),
  sleep: async (ms, signal) => {
    try {
      await delay(Math.max(0, ms), undefined, signal === undefined ? {} : { signal });
    } catch (error) {
      if (signal?.aborted !== true) throw error;
    }
  },
};

/** A time limit: `signal` fires after the limit or when the parent fires; `clear` releases the timer. */
export interface Deadline extends Disposable {
  readonly signal: AbortSignal;
  /** True when the limit itself was reached, false when the parent fired first or nothing did. */
  readonly expired: () => boolean;
}

/** A constant reason: without one, each abort makes an exception with a stack, which costs more than the call it ends. */
const NOT_NEEDED = "the deadline was not needed";

/**
 * Limits one call in time, by the given clock.
 * @param ms how long the call may take, in milliseconds
 * @param parent ends the call earlier
 */
export function deadline(clock: Clock, ms: number, parent?: AbortSignal): Deadline {
  const own = new AbortController();
  const timer = new AbortController();
  let reached = false;
  void clock.sleep(ms, timer.signal).then(() => {
    if (timer.signal.aborted) return;
    reached = true;
    own.abort(new DOMException(`no answer within ${ms} ms`, "TimeoutError"));
  });
  const signal = parent === undefined ? own.signal : AbortSignal.any([parent, own.signal]);
  return { signal, expired: () => reached, [Symbol.dispose]: () => timer.abort(NOT_NEEDED) };
}
