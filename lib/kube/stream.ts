import type { IncomingHttpHeaders } from "node:http";
import type { Dispatcher } from "undici";
import type { Alarm, Alarms } from "./alarms.ts";
import {
  ERROR_BYTES,
  type ExchangeFailure,
  endedBy,
  type HttpAnswer,
  type HttpRequest,
  type Phase,
} from "./exchange.ts";
import type { Lane } from "./lane.ts";

/** How long a streamed answer may take. All durations in milliseconds. */
export interface StreamLimits {
  /** Until the answer begins, waiting for a connection included. */
  readonly answerMs: number;
  /** Between two parts of it. */
  readonly idleMs: number;
  /** The whole of it: a server that forgets to end it is not waited for. */
  readonly totalMs: number;
  readonly signal: AbortSignal | undefined;
}

/** How a streamed answer ended. */
export type StreamEnd =
  /** The server ended it, or `totalMs` was over. */
  | { readonly kind: "ended" }
  /** Nothing came for `idleMs`. */
  | { readonly kind: "silent" }
  /** An answer that is no success, whole. */
  | { readonly kind: "refused"; readonly answer: HttpAnswer }
  | { readonly kind: "failed"; readonly failure: ExchangeFailure };

/**
 * Sends one request and hands the parts of a successful answer on as they come; `onPart` may end it by answering false.
 * Never rejects.
 */
export async function stream(
  lane: Lane,
  request: HttpRequest,
  limits: StreamLimits,
  { alarms, onPart }: { readonly alarms: Alarms; readonly onPart: (part: Buffer) => boolean },
): Promise<StreamEnd> {
  const { signal } = limits;
  if (signal?.aborted === true) {
    return { kind: "failed", failure: { kind: endedBy(signal), phase: "connect" } };
  }
  return await new Promise((resolve) => {
    const onAbort = (): void => streaming.stop(endedBy(signal));
    const streaming = new Streaming({ lane, limits, alarms, onPart }, (end) => {
      signal?.removeEventListener("abort", onAbort);
      const unanswered = end.kind === "failed" && end.failure.kind === "timeout" && end.failure.phase === "answer";
      lane.end(unanswered || end.kind === "silent" ? streaming.quietSince : undefined);
      resolve(end);
    });
    signal?.addEventListener("abort", onAbort, { once: true });
    const { method, path, headers, body } = request;
    if (!lane.dispatch({ method, path, headers, body: body ?? null }, streaming)) streaming.stop("ended");
  });
}

interface StreamingParts {
  readonly lane: Lane;
  readonly limits: StreamLimits;
  readonly alarms: Alarms;
  readonly onPart: (part: Buffer) => boolean;
}

/** undici's handler for a streamed answer: three time limits, parts handed on, an error's body collected, settles once. */
class Streaming implements Dispatcher.DispatchHandler {
  readonly #parts: StreamingParts;
  readonly #settle: (end: StreamEnd) => void;
  readonly #refusal: Buffer[] = [];
  readonly #total: Alarm;
  #limit: Alarm;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #phase: Phase = "connect";
  #status = 0;
  #headers: IncomingHttpHeaders = {};
  #bytes = 0;
  /** Monotonic moment of the last sign of life. */
  quietSince: number;

  constructor(parts: StreamingParts, settle: (end: StreamEnd) => void) {
    const { alarms, limits } = parts;
    this.#parts = parts;
    this.#settle = settle;
    this.#limit = alarms.set(limits.answerMs, () => this.stop("timeout"));
    this.quietSince = this.#limit.at - limits.answerMs;
    this.#total = alarms.set(limits.totalMs, () =>
      this.#phase === "body" ? this.#end({ kind: "ended" }) : this.stop("timeout"),
    );
  }

  /** Gives it up. */
  stop(kind: "timeout" | "ended"): void {
    this.#end({ kind: "failed", failure: { kind, phase: this.#phase } });
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#settled) controller.abort(new Error("given up"));
    else this.#phase = "answer";
  }

  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) return;
    this.#phase = "body";
    this.#status = status;
    this.#headers = headers;
    this.#parts.lane.answered();
    this.#heard();
  }

  onResponseData(_controller: Dispatcher.DispatchController, part: Buffer): void {
    if (this.#settled) return;
    this.#parts.lane.answered();
    this.#heard();
    if (this.#status < 300) {
      if (!this.#parts.onPart(part)) this.#end({ kind: "ended" });
      return;
    }
    const room = ERROR_BYTES - this.#bytes;
    this.#bytes += part.length;
    this.#refusal.push(part.subarray(0, Math.max(0, room)));
    if (this.#bytes > ERROR_BYTES) this.#refuse(true);
  }

  onResponseEnd(): void {
    if (this.#status >= 300) this.#refuse(false);
    else this.#end({ kind: "ended" });
  }

  onResponseError(_controller: Dispatcher.DispatchController | null, error: unknown): void {
    this.#end({ kind: "failed", failure: { kind: "broken", phase: this.#phase, error } });
  }

  #heard(): void {
    const { alarms, limits } = this.#parts;
    alarms.cancel(this.#limit);
    if (this.#settled) return;
    this.#limit = alarms.set(limits.idleMs, () => this.#end({ kind: "silent" }));
    this.quietSince = this.#limit.at - limits.idleMs;
  }

  #refuse(cutBody: boolean): void {
    const answer = { status: this.#status, headers: this.#headers, body: Buffer.concat(this.#refusal), cutBody };
    this.#end({ kind: "refused", answer });
  }

  #end(end: StreamEnd): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#parts.alarms.cancel(this.#limit);
    this.#parts.alarms.cancel(this.#total);
    this.#settle(end);
    this.#controller?.abort(new Error("the stream has ended"));
  }
}
