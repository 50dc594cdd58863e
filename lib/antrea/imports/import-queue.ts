import type { Clock } from "../../base/clock.ts";
import { Outstanding } from "./outstanding.ts";
import type { ResourceImport } from "./resource-import.ts";

/** What is to be done about one import. */
export type QueuedImport =
  /** As it came: `undefined` is gone in the leader, `lastSeen` what it was then. */
  | { readonly kind: "seen"; readonly wanted: ResourceImport | undefined; readonly lastSeen?: ResourceImport }
  /** To be asked for in the leader first: it waited, or failed. */
  | { readonly kind: "ask" };

/**
 * The imports of one member that are to be worked on: the newest version of each, one at a time by name, those that wait
 * not before their time. What is taken is finished by {@link finish} or given back by {@link giveBack}.
 */
export class ImportQueue {
  readonly #clock: Clock;
  readonly #waiting = new Map<string, QueuedImport>();
  readonly #taken = new Set<string>();
  /** Name -> monotonic moment of the next look. */
  readonly #later = new Map<string, number>();
  #changed = Promise.withResolvers<void>();
  #outstanding: Outstanding;
  #isHeld = false;

  /** @param version where the watch is resumed */
  constructor(clock: Clock, version?: string) {
    this.#clock = clock;
    this.#outstanding = new Outstanding(version);
  }

  /** True when nothing is waiting, and nothing under way. What waits for its time does not count. */
  get idle(): boolean {
    return this.#waiting.size === 0 && this.#taken.size === 0;
  }

  /** How many imports wait or are under way. */
  get size(): number {
    return this.#waiting.size + this.#taken.size;
  }

  /** Everything up to `version` is known, with what is new in it. */
  arrived(version: string, imports: ReadonlyMap<string, QueuedImport>): void {
    this.#outstanding.arrived(version, imports.keys());
    for (const [name, queued] of imports) this.#put(name, queued);
  }

  /**
   * A complete list in place of all versions before, and of what was waiting. What is under way may be about an import
   * that the list does not have any more: it is asked for again.
   */
  restart(version: string, imports: ReadonlyMap<string, QueuedImport>): void {
    this.#outstanding = new Outstanding();
    this.#isHeld = false;
    this.#waiting.clear();
    this.#later.clear();
    const again = new Map([...this.#taken].map((name) => [name, { kind: "ask" } as const]));
    this.arrived(version, new Map<string, QueuedImport>([...again, ...imports]));
  }

  /** No version may be resumed from until the next complete list. */
  holdBack(): void {
    this.#isHeld = true;
  }

  /** Whether it waits or is under way. */
  has(name: string): boolean {
    return this.#waiting.has(name) || this.#taken.has(name);
  }

  /** Looks at it again after some time, in milliseconds; in place of an earlier appointment. */
  lookAfter(name: string, ms: number): void {
    this.#later.set(name, this.#clock.monotonicMs() + ms);
    this.#wake();
  }

  /** The next one to work on; undefined: none now. */
  take(): readonly [name: string, queued: QueuedImport] | undefined {
    this.#moveDue();
    for (const [name, queued] of this.#waiting) {
      if (this.#taken.has(name)) continue;
      this.#waiting.delete(name);
      this.#taken.add(name);
      return [name, queued];
    }
    return undefined;
  }

  /** What it has become is stored. */
  finish(name: string): void {
    this.#taken.delete(name);
    if (!this.#waiting.has(name)) this.#outstanding.stored(name);
    this.#wake();
  }

  /** It is still to be done; what has come meanwhile is newer. */
  giveBack(name: string, queued: QueuedImport): void {
    this.#taken.delete(name);
    if (!this.#waiting.has(name)) this.#waiting.set(name, queued);
    this.#wake();
  }

  /** Where a watch may resume without losing anything; undefined while there is no such version. */
  resumable(): string | undefined {
    return this.#isHeld ? undefined : this.#outstanding.resumable();
  }

  /** Resolves when there may be something to take, or something was finished, or the signal fires. */
  async change(signal: AbortSignal): Promise<void> {
    const ended = new AbortController();
    const wake = (): void => ended.abort("something has changed");
    signal.addEventListener("abort", wake, { once: true });
    void this.#changed.promise.then(wake);
    if (signal.aborted) wake();
    // An hour, where nothing is due: sleeping for ever is not a promise a clock makes.
    await this.#clock.sleep(this.#nextDueMs() ?? 3_600_000, ended.signal);
    signal.removeEventListener("abort", wake);
    wake();
  }

  #put(name: string, queued: QueuedImport): void {
    this.#later.delete(name);
    this.#waiting.delete(name);
    this.#waiting.set(name, queued);
    this.#wake();
  }

  #moveDue(): void {
    const now = this.#clock.monotonicMs();
    for (const [name, dueMs] of this.#later) {
      if (dueMs > now) continue;
      this.#later.delete(name);
      if (!this.#waiting.has(name)) this.#waiting.set(name, { kind: "ask" });
    }
  }

  #nextDueMs(): number | undefined {
    if (this.#later.size === 0) return undefined;
    return Math.max(0, Math.min(...this.#later.values()) - this.#clock.monotonicMs());
  }

  #wake(): void {
    const changed = this.#changed;
    this.#changed = Promise.withResolvers<void>();
    changed.resolve();
  }
}
