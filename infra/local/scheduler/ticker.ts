import type { Random } from "../../../lib/base/random.ts";
import { nextOccurrence, parseExpression } from "./occurrences.ts";
import type { Schedule, ScheduleListener } from "./store.ts";

/** What the ticker needs. */
export interface TickerOptions {
  readonly random: Random;
  /** The service's own time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Waits so many milliseconds of that time. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** How likely a firing is to come twice. */
  readonly duplicateProbability: number;
  readonly fire: (
    schedule: Schedule,
    due: { readonly atMs: number; readonly duplicate: boolean },
    signal: AbortSignal,
  ) => Promise<void>;
  /** A schedule that is to be deleted when it has fired for the last time. */
  readonly remove: (schedule: Schedule) => void;
}

const MINUTE_MS = 60_000;
/** The wall clock may be set while we wait: it is looked at again at least this often. */
const LONGEST_SLEEP_MS = 60 * MINUTE_MS;

/**
 * Fires schedules. The service promises a precision of a minute: each firing comes at a moment of its own within the
 * minute after it was due, so that two firings of `rate(1 minute)` are between one and 119 seconds apart, and some come twice.
 */
export class Ticker implements ScheduleListener {
  readonly #options: TickerOptions;
  readonly #waiting = new Map<string, AbortController>();
  readonly #all = new AbortController();
  readonly #running = new Set<Promise<void>>();

  constructor(options: TickerOptions) {
    this.#options = options;
  }

  changed(schedule: Schedule): void {
    this.#waiting.get(schedule.arn)?.abort();
    const own = new AbortController();
    this.#waiting.set(schedule.arn, own);
    if (schedule.request.State === "ENABLED") this.#track(this.#follow(schedule, own.signal));
  }

  removed(schedule: Schedule): void {
    this.#waiting.get(schedule.arn)?.abort();
    this.#waiting.delete(schedule.arn);
  }

  /** Ends all waits, also those between retries. */
  async stop(): Promise<void> {
    this.#all.abort();
    for (const own of this.#waiting.values()) own.abort();
    await Promise.all(this.#running);
  }

  /** Waits for each occurrence of a schedule in turn until the schedule changes. */
  async #follow(schedule: Schedule, signal: AbortSignal): Promise<void> {
    const { random, duplicateProbability } = this.#options;
    for (;;) {
      const due = dueNext(schedule);
      if (due === undefined) {
        if (schedule.request.ActionAfterCompletion === "DELETE") this.#options.remove(schedule);
        return;
      }
      await this.#waitUntil(due + random.next() * windowMs(schedule), signal);
      if (signal.aborted) return;
      schedule.lastMs = due;
      this.#fire(schedule, due, false);
      if (random.next() < duplicateProbability) {
        // Within what is left of the minute, as the first one.
        const leftMs = Math.max(0, due + windowMs(schedule) - this.#options.now());
        const after = random.next() * leftMs;
        this.#track(this.#fireLater(schedule, due, after));
      }
    }
  }

  async #fireLater(schedule: Schedule, due: number, afterMs: number): Promise<void> {
    await this.#options.sleep(afterMs, this.#all.signal);
    if (!this.#all.signal.aborted) this.#fire(schedule, due, true);
  }

  #fire(schedule: Schedule, atMs: number, duplicate: boolean): void {
    this.#track(this.#options.fire(schedule, { atMs, duplicate }, this.#all.signal));
  }

  async #waitUntil(atMs: number, signal: AbortSignal): Promise<void> {
    for (;;) {
      const left = atMs - this.#options.now();
      if (left <= 0 || signal.aborted) return;
      await this.#options.sleep(Math.min(left, LONGEST_SLEEP_MS), signal);
    }
  }

  #track(work: Promise<void>): void {
    const tracked = work.finally(() => this.#running.delete(tracked));
    this.#running.add(tracked);
  }
}

function dueNext(schedule: Schedule): number | undefined {
  const { ScheduleExpression, ScheduleExpressionTimezone: zone, StartDate, EndDate } = schedule.request;
  const expression = parseExpression(ScheduleExpression);
  if (expression === undefined) throw new Error(`schedule ${schedule.arn} was stored with a wrong expression`);
  const frame = {
    zone,
    anchorMs: schedule.anchorMs,
    ...(StartDate === undefined ? {} : { startMs: StartDate * 1000 }),
    ...(EndDate === undefined ? {} : { endMs: EndDate * 1000 }),
  };
  return nextOccurrence(expression, frame, schedule.lastMs);
}

/** How long after it was due a firing may come. */
function windowMs(schedule: Schedule): number {
  return Math.max(1, schedule.request.FlexibleTimeWindow.MaximumWindowInMinutes ?? 1) * MINUTE_MS;
}
