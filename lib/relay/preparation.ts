import { ok, type Result } from "../base/result.ts";
import type { StoreFailure } from "./ports.ts";
import type { StoreCalls } from "./store-calls.ts";
import type { WindowOptions } from "./window-options.ts";

/**
 * Keeps the work prepared by the newest revision of the shard. Nothing is carried over from an earlier window: the first
 * call always reads and prepares, because a function may have been frozen since.
 */
export class Preparation {
  readonly #options: WindowOptions;
  readonly #calls: StoreCalls;
  readonly #window: string;
  #seen: number | undefined;
  #running: Promise<Result<void, StoreFailure>> | undefined;
  #bug: { readonly error: unknown } | undefined;

  constructor(options: WindowOptions, calls: StoreCalls, window: string) {
    this.#options = options;
    this.#calls = calls;
    this.#window = window;
  }

  /** The newest revision that the work is prepared by; undefined before the first success. */
  get seenRevision(): number | undefined {
    return this.#seen;
  }

  /**
   * Looks at the revision and prepares if it has moved. A call while another runs waits for that one.
   * @param untilMs monotonic time after which a failed read is not tried again
   */
  async refresh(untilMs: number, signal: AbortSignal): Promise<Result<void, StoreFailure>> {
    this.#running ??= this.#refresh(untilMs, signal).finally(() => {
      this.#running = undefined;
    });
    return this.#running;
  }

  /** As `refresh`, while the caller goes on; `assertSound` tells of a bug that it met. */
  refreshMeanwhile(untilMs: number, signal: AbortSignal): void {
    this.refresh(untilMs, signal).catch((error: unknown) => {
      this.#bug ??= { error };
    });
  }

  /** Throws what a preparation in the background threw. */
  assertSound(): void {
    if (this.#bug !== undefined) throw this.#bug.error;
  }

  /** Waits for a preparation under way, so that none outlives the window. Its failure is not ours to report. */
  async settled(): Promise<void> {
    await this.#running?.catch(() => undefined);
  }

  async #refresh(untilMs: number, signal: AbortSignal): Promise<Result<void, StoreFailure>> {
    const { work, clock, observe } = this.#options;
    // The revision is remembered from before the lists are read: what changes in between is seen at the next look.
    const revision = await this.#calls.readRevision(untilMs, signal);
    if (!revision.ok) return revision;
    if (revision.value === this.#seen) return ok(undefined);
    const startedMs = clock.monotonicMs();
    const prepared = await work.prepare(revision.value, signal);
    if (prepared.ok && !signal.aborted) {
      this.#seen = revision.value;
      observe?.({
        kind: "prepared",
        window: this.#window,
        revision: revision.value,
        ms: clock.monotonicMs() - startedMs,
      });
    } else if (!prepared.ok && !signal.aborted) {
      observe?.({ kind: "prepareFailed", window: this.#window, failure: prepared.error });
    }
    return prepared;
  }
}
