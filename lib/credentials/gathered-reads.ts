import type { Result } from "../base/result.ts";
import type { CredentialError } from "./errors.ts";

/** What a read of one reference came to. */
type Read = Result<string, CredentialError>;

/** How the store is asked. */
export interface GatheredReadsOptions {
  /** Most references of one call. */
  readonly most: number;
  /** Calls under way at a time. */
  readonly calls: number;
  /** Reads several references in one call; an outcome for each. */
  readonly readAll: (references: readonly string[], signal: AbortSignal) => Promise<ReadonlyMap<string, Read>>;
  /** What a reader who gave up is told. */
  readonly givenUp: (reference: string) => CredentialError;
}

interface Reader {
  readonly signal: AbortSignal;
  readonly settle: (read: Read) => void;
}

/**
 * Gathers single reads into calls for several: what is asked for while the calls under way are awaited goes together into
 * the next one. A window that begins reads a thousand references at once, and a store takes only so many calls a second.
 */
export class GatheredReads {
  readonly #options: GatheredReadsOptions;
  readonly #waiting = new Map<string, Set<Reader>>();
  #underWay = 0;

  constructor(options: GatheredReadsOptions) {
    this.#options = options;
  }

  async read(reference: string, signal: AbortSignal): Promise<Read> {
    const gaveUp = (): Read => ({ ok: false, error: this.#options.givenUp(reference) });
    if (signal.aborted) return gaveUp();
    const outcome = Promise.withResolvers<Read>();
    const giveUp = (): void => outcome.resolve(gaveUp());
    signal.addEventListener("abort", giveUp, { once: true });
    const readers = this.#waiting.get(reference) ?? new Set();
    this.#waiting.set(reference, readers.add({ signal, settle: outcome.resolve }));
    // Others who ask in the same turn come along.
    queueMicrotask(() => void this.#send());
    const read = await outcome.promise;
    signal.removeEventListener("abort", giveUp);
    return read;
  }

  async #send(): Promise<void> {
    if (this.#underWay >= this.#options.calls) return;
    const batch = this.#next();
    if (batch.size === 0) return;
    this.#underWay += 1;
    const everybody = [...batch.values()].flatMap((readers) => [...readers]);
    const unwanted = new AbortController();
    const giveUp = (): void => {
      if (everybody.every(({ signal }) => signal.aborted)) unwanted.abort();
    };
    for (const { signal } of everybody) signal.addEventListener("abort", giveUp, { once: true });
    try {
      const reads = await this.#options.readAll([...batch.keys()], unwanted.signal);
      for (const [reference, readers] of batch) {
        const read = reads.get(reference);
        if (read === undefined) throw new Error(`the store has no outcome for ${reference}`);
        for (const { settle } of readers) settle(read);
      }
    } finally {
      for (const { signal } of everybody) signal.removeEventListener("abort", giveUp);
      this.#underWay -= 1;
      void this.#send();
    }
  }

  /** The references that have waited for longest and are still wanted, as many as fit. */
  #next(): ReadonlyMap<string, ReadonlySet<Reader>> {
    const batch = new Map<string, ReadonlySet<Reader>>();
    for (const [reference, readers] of this.#waiting) {
      if (batch.size === this.#options.most) break;
      this.#waiting.delete(reference);
      if ([...readers].some(({ signal }) => !signal.aborted)) batch.set(reference, readers);
    }
    return batch;
  }
}
