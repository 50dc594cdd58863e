import { backoffMs } from "../base/backoff.ts";
import { failed, never, ok, type Result } from "../base/result.ts";
import type { Candidate, EntryDecision } from "./baton.ts";
import type { BatonRecord, StoreFailure } from "./ports.ts";
import { StandingStill } from "./standing-still.ts";
import { mayPass } from "./store-calls.ts";
import { type Stamp, stampOf } from "./validity.ts";
import type { WindowContext } from "./window-context.ts";

/** The baton, just taken. */
export interface Taken {
  readonly record: BatonRecord;
  /** When the take that was written was first sent: validity counts from here. */
  readonly start: Stamp;
  /** A predecessor may write until this moment (wall clock). */
  readonly exclusiveFrom: number | undefined;
  /** When the predecessor's last complete round ended. */
  readonly previousRoundAt: number | undefined;
}

/** How the life of a window before its hold ends. */
export type Entry =
  | { readonly kind: "taken"; readonly taken: Taken }
  | {
      readonly kind: "left";
      readonly claimed: boolean;
      readonly because: LeaveReason;
      readonly record: BatonRecord | undefined;
    }
  | { readonly kind: "failed"; readonly failure: StoreFailure };

type LeaveReason = Extract<EntryDecision, { kind: "leave" }>["because"] | "aborted";

/** From the start of an invocation, or the end of a hold, to the take of the baton, if it comes to that. */
export class EntryPhase {
  readonly #window: WindowContext;
  readonly #still: StandingStill;
  #record: BatonRecord | undefined;
  #claimedUntil: number | undefined;
  #refreshClaimAtMs = 0;
  #lookAtRevisionAtMs = 0;
  #failures = 0;
  /** The first take that was sent for a fence. */
  #firstTake: { readonly fence: number; readonly sent: Stamp } | undefined;

  constructor(window: WindowContext) {
    this.#window = window;
    this.#still = new StandingStill(window.timing.lookEveryMs + window.timing.storeTimeoutMs);
  }

  /** @param known the record as an earlier phase left it; without it, it is read */
  async run(known?: BatonRecord): Promise<Entry> {
    if (known === undefined) {
      const first = await this.#look(this.#patience());
      if (!first.ok) return { kind: "failed", failure: first.error };
    } else {
      this.#saw(known);
    }
    for (;;) {
      if (this.#signal.aborted) return this.#left("aborted");
      const decision = this.#decide();
      if (decision.kind === "leave") return this.#left(decision.because);
      const entry = await this.#act(decision);
      if (entry !== undefined) return entry;
    }
  }

  async #act(decision: Exclude<EntryDecision, { kind: "leave" }>): Promise<Entry | undefined> {
    switch (decision.kind) {
      case "claim":
        return this.#claim(decision);
      case "prepare":
        return this.#prepare();
      case "take":
        return this.#take(decision);
      case "look":
        return this.#standBy();
      default:
        return never(decision);
    }
  }

  #decide(): EntryDecision {
    const { rules, timing, options } = this.#window;
    return rules.decideEntry(this.#record, this.#candidate(), options.clock.now().getTime(), timing);
  }

  #candidate(): Candidate {
    const { options, preparation, id, windowMs, workRemainingMs } = this.#window;
    return {
      id,
      deployedAt: options.deployedAt,
      standby: options.standby,
      prepared: preparation.seenRevision !== undefined,
      seenRevision: preparation.seenRevision,
      claimedUntil: this.#claimedUntil,
      remainingMs: workRemainingMs(),
      windowMs,
      unchangedMs: this.#still.forMs,
    };
  }

  async #claim(decision: Extract<EntryDecision, { kind: "claim" }>): Promise<Entry | undefined> {
    const { calls, options, id, timing } = this.#window;
    const answer = await calls.change(decision, this.#patience(), this.#signal);
    if (!answer.ok) return { kind: "failed", failure: answer.error };
    this.#saw(answer.value.record);
    if (answer.value.kind === "changed" || answer.value.record?.standby?.id === id) {
      this.#claimedUntil = decision.until;
      this.#refreshClaimAtMs = options.clock.monotonicMs() + timing.hot.refreshClaimMs;
      options.observe?.({ kind: "claimed", window: id, fence: this.#record?.fence ?? 0, until: decision.until });
    }
    return undefined;
  }

  async #prepare(): Promise<Entry | undefined> {
    const { preparation, timing, options } = this.#window;
    const answer = await preparation.refresh(this.#patience(), this.#signal);
    if (!answer.ok) {
      if (!mayPass(answer.error)) return { kind: "failed", failure: answer.error };
      this.#failures += 1;
      await options.clock.sleep(backoffMs(timing.prepareBackoff, this.#failures, options.random), this.#signal);
    }
    await this.#look(this.#nextLook());
    return undefined;
  }

  async #take(decision: Extract<EntryDecision, { kind: "take" }>): Promise<Entry | undefined> {
    const { calls, options, rules, id } = this.#window;
    const before = this.#record;
    const sent = stampOf(options.clock);
    if (this.#firstTake?.fence !== decision.fence) this.#firstTake = { fence: decision.fence, sent };
    const answer = await calls.change(decision, this.#patience(), this.#signal);
    if (!answer.ok) return this.#waitOrFail(answer.error);
    const { kind, record } = answer.value;
    if (kind === "refused" && !rules.isMine(record, { id, fence: decision.fence })) {
      this.#saw(record);
      return undefined;
    }
    // Refused by a take of its own that was given up and had arrived: the expiry that stands there is that one's.
    const start = kind === "refused" ? this.#firstTake.sent : sent;
    if (record === undefined) throw new Error("the store says that it changed a baton, and shows none");
    options.observe?.({ kind: "taken", window: id, fence: decision.fence, predecessor: before?.holder });
    const { exclusiveFrom } = decision;
    return { kind: "taken", taken: { record, start, exclusiveFrom, previousRoundAt: before?.roundAt } };
  }

  /** A standby outlives a store that is away for a while; any other window leaves it to the next invocation. */
  async #waitOrFail(failure: StoreFailure): Promise<Entry | undefined> {
    const { options, timing } = this.#window;
    const reserved = options.standby === "hot" || options.clock.now().getTime() < (this.#claimedUntil ?? 0);
    if (this.#claimedUntil === undefined || !reserved || !mayPass(failure)) return { kind: "failed", failure };
    await options.clock.sleep(timing.lookEveryMs, this.#signal);
    await this.#look(this.#nextLook());
    return undefined;
  }

  /** One turn of a standby: keeps the work prepared and the claim alive, waits, looks. */
  async #standBy(): Promise<Entry | undefined> {
    const { options, timing, preparation } = this.#window;
    const nowMs = options.clock.monotonicMs();
    if (nowMs >= this.#lookAtRevisionAtMs) {
      this.#lookAtRevisionAtMs = nowMs + timing.intervalMs;
      preparation.refreshMeanwhile(this.#nextLook(), this.#signal);
    }
    preparation.assertSound();
    if (nowMs >= this.#refreshClaimAtMs && options.standby === "hot") await this.#refreshClaim();
    await options.clock.sleep(Math.min(timing.lookEveryMs, this.#window.workRemainingMs()), this.#signal);
    await this.#look(this.#nextLook());
    return undefined;
  }

  async #refreshClaim(): Promise<void> {
    const { calls, options, rules, timing } = this.#window;
    if (this.#record === undefined) return;
    const plan = rules.planClaimRefresh(this.#record, this.#candidate(), options.clock.now().getTime(), timing);
    const answer = await calls.changeOnce(plan, this.#signal);
    if (!answer.ok) return;
    this.#saw(answer.value.record);
    this.#refreshClaimAtMs = options.clock.monotonicMs() + timing.hot.refreshClaimMs;
  }

  async #look(untilMs: number): Promise<Result<void, StoreFailure>> {
    const answer = await this.#window.calls.readBaton(untilMs, this.#signal);
    if (!answer.ok) return failed(answer.error);
    this.#saw(answer.value);
    return ok(undefined);
  }

  #saw(record: BatonRecord | undefined): void {
    this.#record = record;
    this.#still.saw(record, this.#window.options.clock.monotonicMs());
  }

  #left(because: LeaveReason): Entry {
    return { kind: "left", claimed: this.#claimedUntil !== undefined, because, record: this.#record };
  }

  /** A store that fails is tried again for one interval. */
  #patience(): number {
    return this.#window.options.clock.monotonicMs() + this.#window.timing.intervalMs;
  }

  #nextLook(): number {
    return this.#window.options.clock.monotonicMs() + this.#window.timing.lookEveryMs;
  }

  get #signal(): AbortSignal {
    return this.#window.signal;
  }
}
