import { failed, ok, type Result } from "../base/result.ts";
import type { CallOptions } from "./client.ts";
import { type Connection, type Purpose, secretsOf } from "./connection.ts";
import { errorFromAnswer, errorFromFailure } from "./error-mapping.ts";
import type { ErrorContext } from "./error-message.ts";
import type { KubeError } from "./errors.ts";
import { type ExchangeFailure, exchange, type HttpAnswer, type HttpRequest } from "./exchange.ts";
import type { Lane } from "./lane.ts";
import type { Connections } from "./pool.ts";
import { decideRetry, type Repeatable } from "./retry-policy.ts";
import { type StreamEnd, type StreamLimits, stream } from "./stream.ts";

/** What is asked of the API, before a connection is chosen. */
export interface ApiRequest {
  readonly method: HttpRequest["method"];
  /** Path and query below the server URL's prefix. */
  readonly path: string;
  /** `Content-Type` and body; both or neither. */
  readonly contentType?: string;
  readonly body?: string;
  readonly repeatable: Repeatable;
  /** Tells the server by when we need the answer (`timeout` of the API), so that it gives up before we do. */
  readonly serverTimeout: boolean;
  readonly operation: string;
  readonly object: string;
}

/** Longest answer, in bytes: 500 objects of a page at 20 kB each. */
const ANSWER_BYTES = 10_000_000;

/** What a closed client answers. */
const NOT_SENT = failed<ExchangeFailure>({ kind: "ended", phase: "connect" });

/**
 * Calls one API server with one credential: over shared connections as a rule, and over a connection of its own from an
 * answer 401 until the credential is accepted, because an API server closes the whole connection on a 401, and with it everybody
 * else's requests.
 */
export class ApiCaller {
  readonly cluster: string;
  readonly #connections: Connections;
  readonly #connection: Connection;
  readonly #purpose: Purpose;
  readonly #secrets: readonly string[];
  readonly #headers: string[];
  #shared: Lane | undefined;
  #own: Lane | undefined;
  #closed = false;

  constructor(cluster: string, connections: Connections, connection: Connection, purpose: Purpose) {
    this.cluster = cluster;
    this.#connections = connections;
    this.#connection = connection;
    this.#purpose = purpose;
    this.#secrets = secretsOf(connection, connections.proxyFor(connection));
    const { credential } = connection;
    const authorization = credential.kind === "token" ? ["authorization", `Bearer ${credential.token}`] : [];
    this.#headers = [...authorization, "accept", "application/json", "user-agent", connections.userAgent];
  }

  /** What errors of a request say about it. */
  context(operation: string, object: string): ErrorContext {
    const { href: server } = this.#connection.server;
    return { cluster: this.cluster, server, operation, object, secrets: this.#secrets };
  }

  /** Calls until there is an answer, an error that is not to be retried here, or no time; see `decideRetry`. */
  async call(request: ApiRequest, options: CallOptions): Promise<Result<HttpAnswer, KubeError>> {
    const { clock, random } = this.#connections;
    const end = clock.monotonicMs() + options.timeoutMs;
    for (let tries = 1; ; tries += 1) {
      const { error, sent, answer } = await this.#try(request, end - clock.monotonicMs(), options);
      if (error === undefined) return ok(answer);
      const remainingMs = end - clock.monotonicMs();
      const wait = decideRetry({ repeatable: request.repeatable, error, sent, tries, remainingMs }, random);
      if (wait === undefined || options.signal?.aborted === true) return failed(error);
      if (wait > 0) await clock.sleep(wait, options.signal);
    }
  }

  /** Asks once for an answer that comes in parts; retrying is the caller's, who knows where to go on. */
  async stream(
    request: Pick<ApiRequest, "path" | "operation" | "object">,
    limits: StreamLimits,
    onPart: (part: Buffer) => boolean,
  ): Promise<Exclude<StreamEnd, { kind: "refused" }> | { readonly kind: "error"; readonly error: KubeError }> {
    const { clock, random, alarms } = this.#connections;
    const lane = this.#lane();
    if (lane === undefined) return { kind: "failed", failure: NOT_SENT.error };
    const http = this.#http({ ...request, method: "GET", repeatable: "read", serverTimeout: false }, 0);
    const end = await stream(lane, http, limits, { alarms, onPart });
    if (end.kind !== "refused") {
      // Only now: giving a connection of its own back ends what still runs on it.
      if (end.kind !== "failed") this.#learn(200);
      return end;
    }
    this.#learn(end.answer.status);
    const context = this.context(request.operation, request.object);
    return { kind: "error", error: errorFromAnswer(end.answer, context, clock.now().getTime(), random) };
  }

  /** The error in an answer that came as an event of a stream: a Status, as a rule. */
  errorFromEvent(status: unknown, request: Pick<ApiRequest, "operation" | "object">): KubeError {
    const { clock, random } = this.#connections;
    const code = typeof status === "object" && status !== null && "code" in status ? status.code : undefined;
    const answer = {
      status: typeof code === "number" ? code : 500,
      headers: { "content-type": "application/json" },
      body: Buffer.from(JSON.stringify(status ?? null)),
      cutBody: false,
    };
    return errorFromAnswer(answer, this.context(request.operation, request.object), clock.now().getTime(), random);
  }

  /** Gives the connections back; those that nobody else uses are closed. */
  async close(): Promise<void> {
    this.#closed = true;
    const lanes = [this.#shared, this.#own].filter((lane) => lane !== undefined);
    this.#shared = undefined;
    this.#own = undefined;
    await Promise.all(lanes.map((lane) => this.#connections.leave(lane)));
  }

  async #try(
    request: ApiRequest,
    timeoutMs: number,
    options: CallOptions,
  ): Promise<
    | { readonly error: undefined; readonly answer: HttpAnswer; readonly sent: true }
    | { readonly error: KubeError; readonly answer: undefined; readonly sent: boolean }
  > {
    const { clock, random } = this.#connections;
    const limits = { timeoutMs: Math.max(0, timeoutMs), maxBytes: ANSWER_BYTES, signal: options.signal };
    const lane = this.#lane();
    const result =
      lane === undefined
        ? NOT_SENT
        : await exchange(lane, this.#http(request, timeoutMs), limits, this.#connections.alarms);
    const context = (): ErrorContext => this.context(request.operation, request.object);
    if (!result.ok) {
      const { error: failure } = result;
      const error = errorFromFailure(failure, context(), options.timeoutMs);
      return { error, answer: undefined, sent: failure.phase !== "connect" };
    }
    const answer = result.value;
    this.#learn(answer.status);
    if (answer.status < 300) return { error: undefined, answer, sent: true };
    const error = errorFromAnswer(answer, context(), clock.now().getTime(), random);
    return { error, answer: undefined, sent: true };
  }

  #lane(): Lane | undefined {
    if (this.#closed) return undefined;
    if (this.#own !== undefined) return this.#own;
    this.#shared ??= this.#connections.join(this.#purpose, this.#connection);
    return this.#shared;
  }

  /** Everything but 401 that the API server itself says proves the credential: authentication comes first. */
  #learn(status: number): void {
    if (this.#closed) return;
    if (status === 401) {
      this.#own ??= this.#connections.joinAlone(this.#purpose, this.#connection);
    } else if (this.#own !== undefined && status < 500 && status !== 429) {
      void this.#connections.leave(this.#own);
      this.#own = undefined;
    }
  }

  #http(request: ApiRequest, timeoutMs: number): HttpRequest {
    const path = this.#connection.server.prefix + request.path;
    const timeout = request.serverTimeout ? serverTimeout(timeoutMs) : undefined;
    const query = timeout === undefined ? "" : `${path.includes("?") ? "&" : "?"}timeout=${timeout}`;
    const { method, body, contentType } = request;
    const headers = contentType === undefined ? this.#headers : [...this.#headers, "content-type", contentType];
    return { method, path: path + query, headers, ...(body === undefined ? {} : { body }) };
  }
}

/**
 * A tenth of the time, at most half a second, is left for the way back. Rounded, so that the path is the same for every
 * beat and HTTP/2 sends it as one byte. A Go duration; undefined when it is too short.
 */
function serverTimeout(timeoutMs: number): string | undefined {
  const ms = timeoutMs - Math.min(500, timeoutMs / 10);
  if (ms < 100) return undefined;
  const step = ms < 1000 ? 10 : 100;
  return `${Math.floor((ms + step / 10) / step) * step}ms`;
}
