import { backoffMs } from "../base/backoff.ts";
import type { Taken } from "./entry.ts";
import { Exclusivity } from "./exclusivity.ts";
import type { Holder, Round } from "./hold-rules.ts";
import type { BatonRecord, Hold, StoreFailure } from "./ports.ts";
import { settlesWithin } from "./settling.ts";
import { mayPass } from "./store-calls.ts";
import { renewEveryMs } from "./timing.ts";
import { stampOf, Validity } from "./validity.ts";
import type { WindowContext } from "./window-context.ts";
import type { HoldEnd } from "./window-options.ts";

/** From the take of the baton to its loss or release. Made for one hold. */
export class HoldPhase {
  readonly #window: WindowContext;
  readonly #fence: number;
  readonly #validity: Validity;
  readonly #exclusivity: Exclusivity;
  readonly #previousRoundAt: number | undefined;
  /** Ends the work. */
  readonly #work = new AbortController();
  #record: BatonRecord;
  #round: Round | undefined;
  #yields: "time" | "deployment" | undefined;
  #storeLost = false;

  constructor(window: WindowContext, taken: Taken) {
    this.#window = window;
    this.#record = taken.record;
    this.#fence = taken.record.fence;
    this.#previousRoundAt = taken.previousRoundAt;
    this.#validity = new Validity(window.options.clock, window.timing);
    this.#validity.renewed(taken.start);
    this.#exclusivity = new Exclusivity(window, this.#fence, taken.exclusiveFrom);
  }

  /** Works until the hold ends. @returns why, and the baton as it was last seen */
  async run(): Promise<{ readonly ended: HoldEnd; readonly record: BatonRecord }> {
    const stop = new AbortController();
    const stopped = AbortSignal.any([stop.signal, this.#window.signal]);
    const exclusive = this.#exclusivity.watch(stopped);
    const working = this.#runWork();
    const renewing = this.#renewUntilEnd(stopped);
    let ended: HoldEnd | undefined;
    try {
      ended = await Promise.race([working, renewing]);
    } finally {
      // Also when the work or a preparation threw: nothing may go on, and the baton is given back.
      this.#work.abort();
      this.#validity.end();
      stop.abort();
      const settled = await this.#settle(working);
      await Promise.allSettled([renewing, exclusive]);
      await this.#giveBack(settled);
    }
    this.#observe(ended);
    return { ended, record: this.#record };
  }

  #observe(because: HoldEnd): void {
    const { options, id } = this.#window;
    options.observe?.({ kind: "ended", window: id, fence: this.#fence, because });
  }

  #hold(): Hold {
    const { options, id } = this.#window;
    const { signal } = this.#work;
    return {
      fence: this.#fence,
      holder: id,
      previousRoundAt: this.#previousRoundAt,
      signal,
      mayWrite: () => !signal.aborted && this.#validity.holds() && this.#exclusivity.reached(),
      predecessorStopped: () => this.#exclusivity.predecessorStopped(),
      mayRepeat: () => !signal.aborted && (options.repeatable || this.#validity.holds()),
      reportRound: (round) => {
        this.#round = round;
      },
    };
  }

  /** Prepares what is not prepared yet, then works. Settles early only when there is nothing left to do. */
  async #runWork(): Promise<HoldEnd> {
    const { preparation, timing, options } = this.#window;
    for (let failures = 1; preparation.seenRevision === undefined; failures += 1) {
      const prepared = await preparation.refresh(this.#now() + timing.intervalMs, this.#work.signal);
      if (this.#work.signal.aborted) return "finished";
      if (prepared.ok) break;
      if (!mayPass(prepared.error)) return "notPrepared";
      await options.clock.sleep(backoffMs(timing.prepareBackoff, failures, options.random), this.#work.signal);
      if (this.#work.signal.aborted) return "finished";
    }
    await options.work.work(this.#hold());
    return "finished";
  }

  /** Renews on a grid of its own until the hold ends. Ticks follow the grid and not the last tick: a slow one delays no other. */
  async #renewUntilEnd(stopped: AbortSignal): Promise<HoldEnd> {
    const { options, timing, preparation, workRemainingMs } = this.#window;
    const everyMs = renewEveryMs(timing, options.standby);
    let dueMs = this.#now() + everyMs;
    if (preparation.seenRevision !== undefined) preparation.refreshMeanwhile(dueMs, this.#work.signal);
    for (;;) {
      await options.clock.sleep(Math.min(dueMs - this.#now(), workRemainingMs()), stopped);
      if (stopped.aborted) return "aborted";
      if (workRemainingMs() <= 0) return this.#storeLost && !this.#validity.holds() ? "storeLost" : "deadline";
      preparation.assertSound();
      while (dueMs <= this.#now()) dueMs += everyMs;
      if (preparation.seenRevision !== undefined) preparation.refreshMeanwhile(dueMs, this.#work.signal);
      const ended = await this.#renew(Math.min(dueMs, this.#now() + workRemainingMs()), stopped);
      if (ended !== undefined) return ended;
    }
  }

  /** One renewal, tried again with backoff until the next is due. @returns the end of the hold, if another holds the baton */
  async #renew(untilMs: number, stopped: AbortSignal): Promise<HoldEnd | undefined> {
    const { options, timing, calls, rules, preparation, id } = this.#window;
    for (let attempt = 1; !stopped.aborted; attempt += 1) {
      const start = stampOf(options.clock);
      const carried = { round: this.#round, seenRevision: preparation.seenRevision };
      const plan = rules.planRenewal(this.#record, this.#holder(), carried, start.wallMs, timing);
      // Every try has a write id and an expiry of its own: validity counts from the start of the one that was written.
      const answer = await calls.changeOnce(plan, stopped);
      if (answer.ok) {
        const { kind, record } = answer.value;
        if (kind === "changed") {
          this.#validity.renewed(start);
          this.#found(record, start.monotonicMs, plan.change.yielding === true);
          if (this.#mustTellYield()) continue;
          return undefined;
        }
        if (!rules.isMine(record, { id, fence: this.#fence })) return this.#lostTo(record);
        // An earlier renewal whose answer was lost had arrived: go on from the count that stands there.
        this.#record = record;
        continue;
      }
      this.#lost(answer.error);
      const pauseMs = backoffMs(timing.storeBackoff, attempt, options.random);
      if (!mayPass(answer.error) || this.#now() + pauseMs >= untilMs) return undefined;
      await options.clock.sleep(pauseMs, stopped);
    }
    return undefined;
  }

  #found(record: BatonRecord, startedMs: number, told: boolean): void {
    const { options, timing, rules, id } = this.#window;
    const fence = this.#fence;
    this.#record = record;
    this.#exclusivity.saw(record);
    if (this.#storeLost) options.observe?.({ kind: "storeBack", window: id, fence });
    this.#storeLost = false;
    options.observe?.({ kind: "renewed", window: id, fence, ms: this.#now() - startedMs });
    const because = rules.decideYield(record, this.#holder(), timing);
    if (because !== undefined && told && this.#yields === undefined) {
      this.#yields = because;
      options.observe?.({ kind: "yielding", window: id, fence, because });
    }
  }

  /** The record just read asks to yield, and does not say yet that we do: say so at once, not a tick later. */
  #mustTellYield(): boolean {
    const { timing, rules } = this.#window;
    return this.#record.yielding !== true && rules.decideYield(this.#record, this.#holder(), timing) !== undefined;
  }

  #lost(failure: StoreFailure): void {
    const { options, id } = this.#window;
    if (!this.#storeLost) options.observe?.({ kind: "storeLost", window: id, fence: this.#fence, failure });
    this.#storeLost = true;
  }

  #lostTo(record: BatonRecord | undefined): HoldEnd {
    const yielded = this.#record.yielding === true;
    if (record === undefined) return "superseded";
    this.#record = record;
    if ((record.deployedAt ?? 0) > this.#window.options.deployedAt) return "deployment";
    return yielded ? "yielded" : "superseded";
  }

  /** Waits for the work to end. @returns whether it did, in time */
  async #settle(working: Promise<HoldEnd>): Promise<boolean> {
    const { options, timing, preparation, id } = this.#window;
    const all = Promise.allSettled([working, preparation.settled()]);
    const settled = await settlesWithin(all, timing.settleMs, options.clock);
    if (!settled) options.observe?.({ kind: "unsettled", window: id, fence: this.#fence });
    return settled;
  }

  /** Releases the baton, or tells the one who has it now that our work has ended. Without an answer it has to expire. */
  async #giveBack(settled: boolean): Promise<void> {
    const { calls, rules, id, timing } = this.#window;
    const untilMs = this.#now() + timing.storeTimeoutMs / 2;
    // Not the caller's signal: it may be what ended the hold, and the baton is to be given back all the same.
    const signal = new AbortController().signal;
    const stopped = settled && this.#exclusivity.reached();
    if (rules.isMine(this.#record, { id, fence: this.#fence })) {
      const plan = rules.planRelease(this.#record, this.#holder(), this.#round, stopped);
      const answer = await calls.change(plan, untilMs, signal);
      if (answer.ok && answer.value.record !== undefined) this.#record = answer.value.record;
      if (!answer.ok || answer.value.kind === "changed") return;
    }
    if (stopped && this.#record.fence === this.#fence + 1 && this.#now() < untilMs) {
      const answer = await calls.change(rules.planStopped(this.#record, { fence: this.#fence }), untilMs, signal);
      if (answer.ok && answer.value.record !== undefined) this.#record = answer.value.record;
    }
  }

  #holder(): Holder {
    const { options, id, windowMs } = this.#window;
    return {
      id,
      fence: this.#fence,
      deployedAt: options.deployedAt,
      remainingMs: options.remainingMs(),
      windowMs,
    };
  }

  #now(): number {
    return this.#window.options.clock.monotonicMs();
  }
}
