import { backoffMs } from "../base/backoff.ts";
import type { Result } from "../base/result.ts";
import type { PlannedChange } from "./baton.ts";
import type { BatonChangeResult, BatonRecord, StoreFailure } from "./ports.ts";
import type { RelayTiming } from "./timing.ts";
import type { WindowOptions } from "./window-options.ts";

/** The calls of a window to its store, each with a deadline, tried again with backoff where that can help. */
export class StoreCalls {
  readonly #options: WindowOptions;
  readonly #timing: RelayTiming;

  constructor(options: WindowOptions, timing: RelayTiming) {
    this.#options = options;
    this.#timing = timing;
  }

  /** Reads the baton. @param untilMs monotonic time after which a failure is not tried again */
  readBaton(untilMs: number, signal: AbortSignal): Promise<Result<BatonRecord | undefined, StoreFailure>> {
    const { store, key } = this.#options;
    return this.patiently((limit) => store.read(key, limit), untilMs, signal);
  }

  /** Reads the shard's revision. @param untilMs monotonic time after which a failure is not tried again */
  readRevision(untilMs: number, signal: AbortSignal): Promise<Result<number, StoreFailure>> {
    const { revisions, shard } = this.#options;
    return this.patiently((limit) => revisions.readRevision(shard, limit), untilMs, signal);
  }

  /**
   * Sends one change, under one write id however often it is tried: one that had arrived is recognised by the store.
   * @param untilMs monotonic time after which a failure is not tried again
   */
  change(plan: PlannedChange, untilMs: number, signal: AbortSignal): Promise<Result<BatonChangeResult, StoreFailure>> {
    const { store, key, ids } = this.#options;
    const change = { ...plan.change, writeId: ids.uuid() };
    return this.patiently((limit) => store.change(key, plan.expect, change, limit), untilMs, signal);
  }

  /** Sends one change once, under a write id of its own. */
  async changeOnce(plan: PlannedChange, signal: AbortSignal): Promise<Result<BatonChangeResult, StoreFailure>> {
    return this.change(plan, Number.NEGATIVE_INFINITY, signal);
  }

  /** Calls, and calls again with backoff while the failure may pass. The last failure is returned. */
  async patiently<T>(
    call: (signal: AbortSignal) => Promise<Result<T, StoreFailure>>,
    untilMs: number,
    signal: AbortSignal,
  ): Promise<Result<T, StoreFailure>> {
    const { clock, random } = this.#options;
    for (let attempt = 1; ; attempt += 1) {
      const answer = await this.#once(call, signal);
      if (answer.ok || !mayPass(answer.error) || signal.aborted) return answer;
      const pauseMs = backoffMs(this.#timing.storeBackoff, attempt, random);
      if (clock.monotonicMs() + pauseMs >= untilMs) return answer;
      await clock.sleep(pauseMs, signal);
      if (signal.aborted) return answer;
    }
  }

  /**
   * One call with its limit. One controller is timer and limit in one: this runs for every look of every standby, and
   * composed signals cost more than the call itself.
   */
  async #once<T>(call: (signal: AbortSignal) => Promise<T>, parent: AbortSignal): Promise<T> {
    const limit = new AbortController();
    const end = (): void => limit.abort(parent.reason);
    if (parent.aborted) end();
    parent.addEventListener("abort", end);
    const { clock } = this.#options;
    const { storeTimeoutMs } = this.#timing;
    void clock.sleep(storeTimeoutMs, limit.signal).then(() => limit.abort(`no answer within ${storeTimeoutMs} ms`));
    try {
      return await call(limit.signal);
    } finally {
      parent.removeEventListener("abort", end);
      limit.abort("answered");
    }
  }
}

/** Whether a failure may pass by itself. */
export function mayPass(failure: StoreFailure): boolean {
  return failure.kind !== "denied" && failure.kind !== "invalid";
}
