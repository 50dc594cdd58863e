import type { WatchFault } from "../faults/faults.ts";
import { expired } from "../status.ts";
import type { WatchEvent } from "../types.ts";
import type { Exchange } from "./exchange.ts";

/** A watch that is open now, for tests that break it. */
export interface OpenWatch {
  readonly path: string;
  readonly group: string;
  readonly resource: string;
  readonly namespace: string | undefined;
  readonly user: string;
  /** Events written so far. */
  readonly events: number;
  /** Makes the fault happen now. */
  fail(fault: Exclude<WatchFault, "goneStatus">): void;
}

/** Events that are shared between watchers are made into text once. */
const lines = new WeakMap<WatchEvent, string>();

/** Writes the events of one watch, one JSON object a line, never faster than the client reads. */
export class WatchStream {
  readonly #exchange: Exchange;
  readonly #stopped = new AbortController();
  #fault: Exclude<WatchFault, "goneStatus"> | undefined;
  #faultAfter = Number.POSITIVE_INFINITY;
  #events = 0;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  get events(): number {
    return this.#events;
  }

  /** Fires when the stream wants no more events; the engine must end the watch then. */
  get stopped(): AbortSignal {
    return this.#stopped.signal;
  }

  /** Makes a fault happen after so many events, or now. */
  failAfter(fault: Exclude<WatchFault, "goneStatus">, events: number): void {
    this.#fault = fault;
    this.#faultAfter = events;
    if (this.#events >= events) this.#stopped.abort();
  }

  /** Writes until the events end, the client goes or the fault happens. */
  async run(events: AsyncIterable<WatchEvent>): Promise<void> {
    const exchange = this.#exchange;
    const clientGone = (): void => this.#stopped.abort();
    exchange.signal.addEventListener("abort", clientGone, { once: true });
    await exchange.begin({ "content-type": "application/json" });
    if (!this.#due()) await this.#copy(events);
    await this.#finish();
    this.#stopped.abort();
  }

  async #copy(events: AsyncIterable<WatchEvent>): Promise<void> {
    for await (const event of events) {
      if (this.#due() || this.#stopped.signal.aborted) return;
      if (!(await this.#exchange.write(lineOf(event)))) return;
      this.#events += 1;
      if (this.#due()) return;
    }
  }

  #due(): boolean {
    return this.#fault !== undefined && this.#events >= this.#faultAfter;
  }

  async #finish(): Promise<void> {
    const exchange = this.#exchange;
    const fault = this.#due() ? this.#fault : undefined;
    // An engine that is told to stop may end the events before the fault was looked at.
    if (fault === "silent") await exchange.hang();
    else if (fault === "reset") exchange.connection.reset();
    else if (fault === "goneEvent") {
      await exchange.write(lineOf({ type: "ERROR", object: expired("too old resource version: 1 (2)") }));
    }
    exchange.end();
  }
}

function lineOf(event: WatchEvent): string {
  let line = lines.get(event);
  if (line === undefined) {
    line = `${JSON.stringify(event)}\n`;
    lines.set(event, line);
  }
  return line;
}
