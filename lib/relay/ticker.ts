import type { Clock } from "../base/clock.ts";
import { gridOffsetMs, gridPointAfter, gridPointAtOrBefore } from "../base/grid.ts";
import { GridTime } from "./grid-time.ts";
import { HubQueues } from "./hub-queues.ts";
import { Outstanding } from "./outstanding.ts";

/** Something that is beaten once an interval. */
export interface BeatTarget {
  /** Unique; its hash is the target's place in the interval. */
  readonly name: string;
  /** What the beat is sent to: a slow hub delays only its own targets. */
  readonly hub: string;
}

/** One beat, as it was run. Moments are milliseconds since the epoch. */
export interface BeatReport {
  readonly target: string;
  /** The grid point; for the first beat after a take, or of a new target, the moment it was called for. */
  readonly dueAt: number;
  /** From due to start. */
  readonly latenessMs: number;
  /** From start to end. */
  readonly durationMs: number;
}

/** How a ticker works. */
export interface TickerOptions<T extends BeatTarget> {
  readonly clock: Clock;
  readonly intervalMs: number;
  /** Beats under way at a time, shared out among the hubs by their number of targets (at least one each). */
  readonly concurrency: number;
  /** Sends one beat. Must end within the interval, and soon after `signal` fired. Rejects only for bugs. */
  readonly beat: (target: T, dueAt: number, signal: AbortSignal) => Promise<void>;
  /** Told of each beat that ended. */
  readonly onBeat?: (report: BeatReport) => void;
  /** Told of a grid point that was passed over because the target's last beat was still waiting or under way. */
  readonly onSkip?: (target: string, dueAt: number) => void;
  /** Told, at most ten times an interval, up to which moment every due beat has ended: what `Hold.reportRound` carries. */
  readonly onRound?: (roundAt: number) => void;
}

interface Slot<T> {
  target: T;
  readonly offsetMs: number;
  waiting: boolean;
}

/** Due beats closer than this are started by one timer: 10,000 targets wake the process 200 times a second, not 1,000. */
const WAKE_MS = 5;

/**
 * The grid of beats: each target at its own fixed moment of every interval, whoever beats it, however late the last beat
 * was. One timer for all targets: they lie in a ring, sorted by their place in the interval, and a hand goes round.
 */
export class Ticker<T extends BeatTarget> {
  readonly #options: TickerOptions<T>;
  readonly #time: GridTime;
  readonly #slots = new Map<string, Slot<T>>();
  readonly #queues: HubQueues;
  readonly #outstanding: Outstanding;
  #ring: readonly Slot<T>[] = [];
  /** Every grid point up to here has been dealt with. */
  #handMs: number;
  #handMonotonicMs = 0;
  #started = false;
  #reportedAtMs = Number.NEGATIVE_INFINITY;
  #wake = new AbortController();
  #signal: AbortSignal = AbortSignal.abort();
  #bug: { readonly error: unknown } | undefined;

  constructor(options: TickerOptions<T>) {
    this.#options = options;
    this.#time = new GridTime(options.clock, options.intervalMs);
    this.#queues = new HubQueues(options.concurrency);
    this.#outstanding = new Outstanding();
    this.#handMs = this.#time.nowMs();
  }

  /**
   * Who is beaten from now on. Targets that stay keep their place and what is under way; a new one, once `run` was called,
   * is beaten at once (another shard may have beaten it last), then on the grid; one that is gone is not started again.
   */
  setTargets(targets: readonly T[]): void {
    const names = new Set(targets.map((target) => target.name));
    for (const name of this.#slots.keys()) if (!names.has(name)) this.#slots.delete(name);
    const added: Slot<T>[] = [];
    for (const target of targets) {
      const slot = this.#slots.get(target.name);
      if (slot !== undefined) {
        slot.target = target;
        continue;
      }
      const made = { target, offsetMs: gridOffsetMs(target.name, this.#options.intervalMs), waiting: false };
      this.#slots.set(target.name, made);
      added.push(made);
    }
    this.#ring = [...this.#slots.values()].toSorted((a, b) => a.offsetMs - b.offsetMs);
    this.#queues.share(targets);
    if (!this.#started) return;
    for (const slot of added) this.#start(slot, Math.floor(this.#time.nowMs()));
    this.#wake.abort();
  }

  /** Every beat that was due up to this moment has ended (milliseconds since the epoch). */
  roundAt(): number {
    return Math.floor(this.#outstanding.oldestDueMs() ?? this.#handMs);
  }

  /**
   * Beats until `signal` fires, and settles when the beats under way have ended. What is over an interval old is beaten
   * first: every target whose last grid point lies after the predecessor's last round. Rejects if a beat rejected. May be
   * called again after it settled.
   * @param previousRoundAt up to when a predecessor has beaten everything (`Hold.previousRoundAt`)
   */
  async run(signal: AbortSignal, previousRoundAt: number | undefined): Promise<void> {
    this.#signal = signal;
    this.#started = true;
    this.#moveHand(this.#time.nowMs());
    this.#startOverdue(previousRoundAt ?? Number.NEGATIVE_INFINITY);
    let either = AbortSignal.any([signal, this.#wake.signal]);
    while (!signal.aborted && this.#bug === undefined) {
      await this.#options.clock.sleep(this.#untilNextMs(), either);
      if (this.#wake.signal.aborted) {
        this.#wake = new AbortController();
        either = AbortSignal.any([signal, this.#wake.signal]);
      }
      if (!signal.aborted) this.#turnTo(this.#time.nowMs());
    }
    this.#started = false;
    this.#queues.clear();
    await this.#queues.idle();
    if (this.#bug !== undefined) throw this.#bug.error;
  }

  #startOverdue(previousRoundAt: number): void {
    const nowMs = this.#handMs;
    for (const slot of this.#ring) {
      slot.waiting = false;
      this.#outstanding.delete(slot);
      const lastDueMs = gridPointAtOrBefore(nowMs, slot.offsetMs, this.#options.intervalMs);
      if (lastDueMs > previousRoundAt) this.#start(slot, Math.floor(nowMs));
    }
  }

  /** Starts what has become due since the hand stood still: each target once, at its latest grid point. */
  #turnTo(nowMs: number): void {
    const { intervalMs } = this.#options;
    const monotonicMs = this.#options.clock.monotonicMs();
    // When the wall clock was set back the hand goes back with it: what is due now is beaten, as if it had never been ahead.
    const fromMs = nowMs < this.#handMs ? nowMs - (monotonicMs - this.#handMonotonicMs) : this.#handMs;
    this.#moveHand(nowMs);
    let index = this.#indexAfter(fromMs);
    for (let count = 0; count < this.#ring.length; count += 1) {
      const slot = this.#ring[index];
      if (slot === undefined) break;
      const dueMs = gridPointAtOrBefore(nowMs, slot.offsetMs, intervalMs);
      if (dueMs <= fromMs) break;
      this.#start(slot, dueMs);
      index = (index + 1) % this.#ring.length;
    }
    this.#report(nowMs);
  }

  #moveHand(toMs: number): void {
    this.#handMs = toMs;
    this.#handMonotonicMs = this.#options.clock.monotonicMs();
  }

  #untilNextMs(): number {
    const { intervalMs } = this.#options;
    const slot = this.#ring[this.#indexAfter(this.#handMs)];
    if (slot === undefined) return intervalMs;
    const dueMs = gridPointAfter(this.#handMs, slot.offsetMs, intervalMs);
    return Math.min(intervalMs, Math.max(WAKE_MS, dueMs - this.#time.nowMs()));
  }

  /** Index of the first slot of the ring whose place comes after the given moment. */
  #indexAfter(atMs: number): number {
    const phase = atMs - gridPointAtOrBefore(atMs, 0, this.#options.intervalMs);
    let low = 0;
    let high = this.#ring.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#ring[middle]?.offsetMs ?? 0) <= phase) low = middle + 1;
      else high = middle;
    }
    return low === this.#ring.length ? 0 : low;
  }

  #start(slot: Slot<T>, dueMs: number): void {
    if (slot.waiting) {
      this.#options.onSkip?.(slot.target.name, dueMs);
      return;
    }
    slot.waiting = true;
    this.#outstanding.add(slot, dueMs);
    this.#queues.push(slot.target.hub, () => this.#run(slot, dueMs));
  }

  async #run(slot: Slot<T>, dueMs: number): Promise<void> {
    const { clock, beat, onBeat } = this.#options;
    try {
      if (this.#signal.aborted || this.#slots.get(slot.target.name) !== slot) return;
      const startMs = clock.monotonicMs();
      const latenessMs = this.#time.nowMs() - dueMs;
      await beat(slot.target, dueMs, this.#signal);
      onBeat?.({ target: slot.target.name, dueAt: dueMs, latenessMs, durationMs: clock.monotonicMs() - startMs });
    } catch (error) {
      this.#bug ??= { error };
      this.#wake.abort();
    } finally {
      slot.waiting = false;
      this.#outstanding.delete(slot);
      this.#report(this.#time.nowMs());
    }
  }

  #report(nowMs: number): void {
    if (nowMs >= this.#reportedAtMs && nowMs - this.#reportedAtMs < this.#options.intervalMs / 10) return;
    this.#reportedAtMs = nowMs;
    this.#options.onRound?.(this.roundAt());
  }
}
