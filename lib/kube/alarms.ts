import type { Clock } from "../base/clock.ts";

/** A moment at which something is to happen, unless it is cancelled before. */
export interface Alarm {
  /** Monotonic milliseconds. */
  readonly at: number;
  readonly ring: () => void;
}

/** Given with each waking: without a reason of ours an error with a stack would be made each time, for nobody. */
const NO_LONGER_NEEDED = "no longer needed";

/**
 * The deadlines of all requests under way, on one timer: a timer of its own for each request, made and cancelled, cost
 * as much CPU as the request itself. Nothing sleeps while no alarm is set.
 */
export class Alarms {
  readonly #clock: Clock;
  readonly #set = new Set<Alarm>();
  #sleep: { readonly until: number; readonly end: AbortController } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Rings in `ms` milliseconds. */
  set(ms: number, ring: () => void): Alarm {
    const alarm = { at: this.#clock.monotonicMs() + ms, ring };
    this.#set.add(alarm);
    if (this.#sleep === undefined || alarm.at < this.#sleep.until) this.#sleepUntil(alarm.at);
    return alarm;
  }

  cancel(alarm: Alarm): void {
    this.#set.delete(alarm);
    if (this.#set.size === 0) this.#wakeUp();
  }

  #sleepUntil(until: number): void {
    this.#wakeUp();
    const sleep = { until, end: new AbortController() };
    this.#sleep = sleep;
    void this.#clock.sleep(Math.max(0, until - this.#clock.monotonicMs()), sleep.end.signal).then(() => {
      if (sleep.end.signal.aborted) return;
      this.#sleep = undefined;
      this.#ringDue();
    });
  }

  #wakeUp(): void {
    this.#sleep?.end.abort(NO_LONGER_NEEDED);
    this.#sleep = undefined;
  }

  #ringDue(): void {
    const now = this.#clock.monotonicMs();
    const due = [...this.#set].filter((alarm) => alarm.at <= now);
    for (const alarm of due) {
      // One that rings may cancel another.
      if (this.#set.delete(alarm)) alarm.ring();
    }
    let next = Number.POSITIVE_INFINITY;
    for (const { at } of this.#set) next = Math.min(next, at);
    if (this.#set.size > 0 && (this.#sleep === undefined || next < this.#sleep.until)) this.#sleepUntil(next);
  }
}
