import type { Clock } from "../../../lib/base/clock.ts";
import type { Random } from "../../../lib/base/random.ts";
import type { Fleet } from "./fleet.ts";
import type { Invocation, InvocationResult } from "./function-definition.ts";

/** What an on-failure destination is sent (the documented record of asynchronous invocation, version 1.0). */
export interface FailedEvent {
  readonly version: "1.0";
  readonly timestamp: string;
  readonly requestContext: {
    readonly requestId: string;
    readonly functionArn: string;
    readonly condition: "RetriesExhausted" | "EventAgeExceeded";
    readonly approximateInvokeCount: number;
  };
  readonly requestPayload: unknown;
  readonly responseContext?: {
    readonly statusCode: 200;
    readonly executedVersion: "$LATEST";
    readonly functionError: string;
  };
  readonly responsePayload?: unknown;
}

/** What the queue needs. */
export interface EventQueueOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** The waits before the first and the second retry; Lambda's are one and two minutes. */
  readonly retryDelaysMs: readonly number[];
  /** How likely an event is to be delivered twice, though nothing failed. */
  readonly duplicateProbability: number;
  readonly onFailure: (record: FailedEvent) => void;
}

const DEFAULT_RETRIES = 2;
const DEFAULT_AGE_SECONDS = 6 * 60 * 60;
/** A throttled event is tried again after one second, then later and later up to five minutes (Lambda's documentation). */
const THROTTLED = { firstMs: 1000, mostMs: 300_000 };

/** Asynchronous invocation: events wait here, are tried again, and may come twice. */
export class EventQueue {
  readonly #options: EventQueueOptions;
  readonly #stop = new AbortController();
  readonly #deliveries = new Set<Promise<void>>();

  constructor(options: EventQueueOptions) {
    this.#options = options;
  }

  /** How many events are waiting or under way. */
  get size(): number {
    return this.#deliveries.size;
  }

  /** Accepts an event and answers at once. */
  add(fleet: Fleet, event: Invocation): void {
    const twice = this.#options.random.next() < this.#options.duplicateProbability;
    for (let copy = 0; copy < (twice ? 2 : 1); copy += 1) {
      const delivery = this.#deliver(fleet, event).finally(() => this.#deliveries.delete(delivery));
      this.#deliveries.add(delivery);
    }
  }

  /** Drops what waits; what is under way ends with its environment. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await Promise.all(this.#deliveries);
  }

  async #deliver(fleet: Fleet, event: Invocation): Promise<void> {
    const { clock, retryDelaysMs } = this.#options;
    const acceptedMs = clock.monotonicMs();
    let invokes = 0;
    let throttledMs = THROTTLED.firstMs;
    let last: InvocationResult | undefined;
    while (!this.#stop.signal.aborted) {
      const { maximumEventAgeSeconds: age = DEFAULT_AGE_SECONDS, maximumRetryAttempts: retries = DEFAULT_RETRIES } =
        fleet.definition;
      if (clock.monotonicMs() - acceptedMs > age * 1000) {
        this.#fail(event, "EventAgeExceeded", invokes, last);
        return;
      }
      const result = await fleet.invoke(event);
      if (result === "throttled") {
        await clock.sleep(throttledMs, this.#stop.signal);
        throttledMs = Math.min(throttledMs * 2, THROTTLED.mostMs);
        continue;
      }
      invokes += 1;
      last = result;
      if (result.functionError === undefined || this.#stop.signal.aborted) return;
      if (invokes > retries) {
        this.#fail(event, "RetriesExhausted", invokes, last);
        return;
      }
      await clock.sleep(retryDelaysMs[invokes - 1] ?? 0, this.#stop.signal);
    }
  }

  #fail(
    event: Invocation,
    condition: FailedEvent["requestContext"]["condition"],
    approximateInvokeCount: number,
    last: InvocationResult | undefined,
  ): void {
    this.#options.onFailure({
      version: "1.0",
      timestamp: this.#options.clock.now().toISOString(),
      requestContext: {
        requestId: event.requestId,
        functionArn: `${event.functionArn}:$LATEST`,
        condition,
        approximateInvokeCount,
      },
      requestPayload: JSON.parse(event.payload),
      ...(last?.functionError === undefined
        ? {}
        : {
            responseContext: { statusCode: 200, executedVersion: "$LATEST", functionError: last.functionError },
            responsePayload: JSON.parse(last.payload),
          }),
    });
  }
}
