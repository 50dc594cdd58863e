import type { WatchEvent } from "../../types.ts";

/** Events of one watch, waiting to be read by one reader. */
export class WatchQueue implements AsyncIterable<WatchEvent> {
  #events: WatchEvent[] = [];
  #wake: (() => void) | undefined;
  readonly #end = new AbortController();

  /** Fires when the watch is over. */
  get ended(): AbortSignal {
    return this.#end.signal;
  }

  push(event: WatchEvent): void {
    if (this.#end.signal.aborted) return;
    this.#events.push(event);
    this.#wake?.();
  }

  /** Ends the watch; what is queued can still be read. */
  end(): void {
    if (this.#end.signal.aborted) return;
    this.#end.abort();
    this.#wake?.();
  }

  onEnd(done: () => void): void {
    if (this.#end.signal.aborted) done();
    else this.#end.signal.addEventListener("abort", done, { once: true });
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<WatchEvent> {
    try {
      for (;;) {
        const batch = this.#events;
        this.#events = [];
        yield* batch;
        if (this.#events.length > 0) continue;
        if (this.#end.signal.aborted) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.end();
    }
  }
}
