import { type Clock, deadline } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Result } from "../base/result.ts";
import { isFree } from "./baton.ts";
import { isMine } from "./hold-rules.ts";
import type { BatonKey, BatonRecord, BatonStore, StoreFailure } from "./ports.ts";
import { DEFAULT_TIMING, type RelayTiming } from "./timing.ts";
import { stampOf, Validity } from "./validity.ts";

/** What a short run needs. */
export interface ShortRunOptions {
  readonly key: BatonKey;
  readonly store: BatonStore;
  readonly clock: Clock;
  readonly ids: Pick<Ids, "uuid">;
  /** When this code was deployed, milliseconds since the epoch; for the record alone. */
  readonly deployedAt: number;
  /** Ends the run early. */
  readonly signal: AbortSignal;
  /** Default: the numbers of the design. */
  readonly timing?: RelayTiming;
}

/** What a short run may know and use of its baton. */
export interface ShortHold {
  readonly fence: number;
  /** Fires when the work must end: the caller's signal, or the baton is lost. */
  readonly signal: AbortSignal;
  /** True while no other run can have the baton: the last look, just before something is done that must not be doubled. */
  readonly mayWrite: () => boolean;
}

/** What came of a short run. */
export type ShortRunResult<T> =
  | { readonly kind: "worked"; readonly value: T }
  /** Nothing was done: one read, at most one refused write. */
  | { readonly kind: "heldByOther"; readonly holder: string | undefined; readonly expiresAt: number | undefined }
  | { readonly kind: "storeUnavailable"; readonly failure: StoreFailure };

/** Longest that the baton is given back for, in milliseconds; after that it expires by itself. */
const RELEASE_MS = 3_000;

/**
 * Works once under a baton that is held for the run: for roles that come to an end by themselves. Of two runs at the same
 * time one works; the other one ends at once. A run that was killed blocks the next for as long as a renewal is good for.
 */
export async function runShort<T>(
  options: ShortRunOptions,
  work: (hold: ShortHold) => Promise<T>,
): Promise<ShortRunResult<T>> {
  const timing = options.timing ?? DEFAULT_TIMING;
  const { store, key, clock, signal } = options;
  const read = await store.read(key, signal);
  if (!read.ok) return { kind: "storeUnavailable", failure: read.error };
  if (read.value !== undefined && !isFree(read.value, clock.now().getTime(), timing)) return heldBy(read.value);
  const run = new ShortRun(options, timing);
  const taken = await run.take(read.value);
  if (!taken.ok) return { kind: "storeUnavailable", failure: taken.error };
  if (taken.value !== "taken") return heldBy(taken.value);
  return { kind: "worked", value: await run.work(work) };
}

function heldBy(record: BatonRecord | undefined): Extract<ShortRunResult<never>, { kind: "heldByOther" }> {
  return { kind: "heldByOther", holder: record?.holder, expiresAt: record?.expiresAt };
}

class ShortRun {
  readonly #options: ShortRunOptions;
  readonly #timing: RelayTiming;
  readonly #validity: Validity;
  readonly #id: string;
  readonly #lost = new AbortController();
  #record: BatonRecord | undefined;

  constructor(options: ShortRunOptions, timing: RelayTiming) {
    this.#options = options;
    this.#timing = timing;
    this.#validity = new Validity(options.clock, timing);
    this.#id = options.ids.uuid();
  }

  async take(record: BatonRecord | undefined): Promise<Result<"taken" | BatonRecord | undefined, StoreFailure>> {
    const { store, key, clock, ids, deployedAt, signal } = this.#options;
    const start = stampOf(clock);
    const expect =
      record === undefined ? "absent" : { fence: record.fence, renewals: record.renewals, holder: record.holder };
    const change = {
      fence: (record?.fence ?? 0) + 1,
      renewals: (record?.renewals ?? 0) + 1,
      holder: this.#id,
      expiresAt: start.wallMs + this.#timing.expiryMs,
      deployedAt,
      writeId: ids.uuid(),
    };
    const answer = await store.change(key, expect, change, signal);
    if (!answer.ok) return answer;
    if (answer.value.kind === "refused") return { ok: true, value: answer.value.record };
    this.#record = answer.value.record;
    this.#validity.renewed(start);
    return { ok: true, value: "taken" };
  }

  async work<T>(work: (hold: ShortHold) => Promise<T>): Promise<T> {
    const done = new AbortController();
    const renewals = this.#renewUntil(done.signal);
    const signal = AbortSignal.any([this.#options.signal, this.#lost.signal]);
    try {
      const mayWrite = (): boolean => !signal.aborted && this.#validity.holds();
      return await work({ fence: this.#record?.fence ?? 0, signal, mayWrite });
    } finally {
      done.abort();
      await renewals;
      await this.#release();
    }
  }

  async #renewUntil(done: AbortSignal): Promise<void> {
    const { clock } = this.#options;
    for (;;) {
      await clock.sleep(this.#timing.intervalMs, done);
      if (done.aborted) return;
      const kept = await this.#renew(done);
      if (kept || this.#validity.holds()) continue;
      this.#lost.abort("the baton is lost");
      return;
    }
  }

  /** False when the baton is another's, or nothing is known. */
  async #renew(done: AbortSignal): Promise<boolean> {
    const { store, key, clock, ids } = this.#options;
    const record = this.#record;
    if (record === undefined) return false;
    const start = stampOf(clock);
    const expect = { fence: record.fence, holder: this.#id, renewals: record.renewals };
    const change = {
      renewals: record.renewals + 1,
      expiresAt: start.wallMs + this.#timing.expiryMs,
      writeId: ids.uuid(),
    };
    const answer = await store.change(key, expect, change, done);
    if (!answer.ok) return false;
    const standing = answer.value.record;
    if (!isMine(standing, { id: this.#id, fence: record.fence })) {
      this.#validity.end();
      return false;
    }
    // A renewal of our own that was given up and has arrived after all: it is the next one's to go on from.
    this.#record = standing;
    if (answer.value.kind === "changed") this.#validity.renewed(start);
    return true;
  }

  /** Conditional on holder and fence, so that it never gives back another's. What fails here expires by itself. */
  async #release(): Promise<void> {
    const { store, key, clock, ids } = this.#options;
    const record = this.#record;
    if (record === undefined) return;
    using limit = deadline(clock, RELEASE_MS);
    const expect = { fence: record.fence, holder: this.#id };
    const change = {
      renewals: record.renewals + 1,
      holder: undefined,
      expiresAt: undefined,
      stoppedFence: record.fence,
      writeId: ids.uuid(),
    };
    await store.change(key, expect, change, limit.signal);
  }
}
