import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import { failed, ok, type Result } from "../base/result.ts";
import type { Alarms } from "./alarms.ts";
import type { Lane } from "./lane.ts";

/** One HTTP request, ready to be sent. */
export interface HttpRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  readonly path: string;
  /** Names and values in turn. */
  readonly headers: string[];
  readonly body?: string;
}

/** A complete answer, whatever its status. `cutBody`: an error's body was longer than the limit. */
export interface HttpAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  readonly cutBody: boolean;
}

/** How far a request had come: waiting for a connection, waiting for the answer, receiving it. */
export type Phase = "connect" | "answer" | "body";

/** Why there is no complete answer. */
export interface ExchangeFailure {
  /** `ended`: the caller's signal fired, and not for a time limit of the caller's. `tooLarge`: the answer is over the limit. `broken`: see `error`. */
  readonly kind: "timeout" | "ended" | "tooLarge" | "broken";
  /** In `connect` nothing was sent. */
  readonly phase: Phase;
  readonly error?: unknown;
}

/** So much of an error's body is read; more says nothing. */
export const ERROR_BYTES = 262_144;

export interface ExchangeLimits {
  /** The whole exchange, waiting for a connection included, in milliseconds. */
  readonly timeoutMs: number;
  /** Longest body, in bytes. */
  readonly maxBytes: number;
  readonly signal: AbortSignal | undefined;
}

/** Sends one request over a lane and waits for its complete answer, within the limits. Never rejects. */
export async function exchange(
  lane: Lane,
  request: HttpRequest,
  limits: ExchangeLimits,
  alarms: Alarms,
): Promise<Result<HttpAnswer, ExchangeFailure>> {
  if (limits.signal?.aborted === true) return failed({ kind: endedBy(limits.signal), phase: "connect" });
  return await new Promise((resolve) => {
    const onAbort = (): void => running.stop(endedBy(limits.signal));
    const running = new Running(lane, limits.maxBytes, (result) => {
      alarms.cancel(alarm);
      limits.signal?.removeEventListener("abort", onAbort);
      const silent = !result.ok && result.error.kind === "timeout" && result.error.phase === "answer";
      lane.end(silent ? alarm.at - limits.timeoutMs : undefined);
      resolve(result);
    });
    const alarm = alarms.set(limits.timeoutMs, () => running.stop("timeout"));
    limits.signal?.addEventListener("abort", onAbort, { once: true });
    const { method, path, headers, body } = request;
    if (!lane.dispatch({ method, path, headers, body: body ?? null }, running)) running.stop("ended");
  });
}

/** A time limit around several calls is the server's lateness all the same; anything else is the caller's own wish. */
export function endedBy(signal: AbortSignal | undefined): "timeout" | "ended" {
  return signal?.reason instanceof Error && signal.reason.name === "TimeoutError" ? "timeout" : "ended";
}

/** undici's handler for one request: keeps the phase, collects the body, settles once. */
class Running implements Dispatcher.DispatchHandler {
  readonly #lane: Lane;
  readonly #maxBytes: number;
  readonly #settle: (result: Result<HttpAnswer, ExchangeFailure>) => void;
  readonly #chunks: Buffer[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #phase: Phase = "connect";
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #bytes = 0;

  constructor(lane: Lane, maxBytes: number, settle: (result: Result<HttpAnswer, ExchangeFailure>) => void) {
    this.#lane = lane;
    this.#maxBytes = maxBytes;
    this.#settle = settle;
  }

  /** Gives the request up. One that still waits for a connection is taken back as soon as it would be sent. */
  stop(kind: "timeout" | "ended"): void {
    if (this.#settled) return;
    this.#fail({ kind, phase: this.#phase });
    this.#controller?.abort(new Error(kind));
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error("given up"));
    else this.#phase = "answer";
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    // 1xx answers are announcements, not the answer.
    if (status < 200) return;
    this.#phase = "body";
    this.#status = status;
    this.#headers = headers;
    this.#lane.answered();
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#settled) return;
    const most = this.#status >= 400 ? Math.min(ERROR_BYTES, this.#maxBytes) : this.#maxBytes;
    const room = most - this.#bytes;
    this.#bytes += chunk.length;
    if (chunk.length <= room) {
      this.#chunks.push(chunk);
      return;
    }
    if (this.#status >= 400) {
      this.#chunks.push(chunk.subarray(0, room));
      this.#succeed(true);
    } else {
      this.#fail({ kind: "tooLarge", phase: "body" });
    }
    controller.abort(new Error("the answer is too large"));
  }

  onResponseEnd(): void {
    if (!this.#settled) this.#succeed(false);
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    if (!this.#settled) this.#fail({ kind: "broken", phase: this.#phase, error });
  }

  #succeed(cutBody: boolean): void {
    const [first = Buffer.alloc(0)] = this.#chunks;
    const body = this.#chunks.length <= 1 ? first : Buffer.concat(this.#chunks);
    this.#finish(ok({ status: this.#status, headers: this.#headers, body, cutBody }));
  }

  #fail(failure: ExchangeFailure): void {
    this.#finish(failed(failure));
  }

  #finish(result: Result<HttpAnswer, ExchangeFailure>): void {
    this.#settled = true;
    this.#settle(result);
  }
}
