import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import type { Clock } from "../../../../lib/base/clock.ts";
import type { Connection } from "./connections.ts";

/** A request of either protocol. */
export type AnyRequest = IncomingMessage | Http2ServerRequest;
/** Its response. */
export type AnyResponse = ServerResponse | Http2ServerResponse;
/** What both kinds of response can do alike; a union of overloaded methods cannot be called. */
interface Writer {
  writeHead(code: number, headers: Record<string, string>): unknown;
  write(piece: string | Uint8Array, done?: () => void): boolean;
  end(piece: string | Uint8Array): unknown;
}

/** How an answer is spoilt on its way. */
export type Spoiling =
  | { readonly kind: "truncate"; readonly bytes: number; readonly clean?: boolean }
  | { readonly kind: "drip"; readonly bytes: number; readonly everyMs: number };

/** Answers of at least so many bytes are compressed for clients that ask for it, as a real API server does. */
const GZIP_BYTES = 128 * 1024;
/** Shared, as a new reason for each request would cost more than the rest of its end. */
const OVER = new DOMException("the exchange is over", "AbortError");
const compress = promisify(gzip);

/** One request and its answer on one connection, HTTP/1.1 and HTTP/2 alike. */
export class Exchange {
  readonly request: AnyRequest;
  readonly connection: Connection;
  readonly auditId: string;
  /** Fires when the client has gone or the request is over. */
  readonly signal: AbortSignal;
  spoiling: Spoiling | undefined;
  readonly #response: AnyResponse;
  readonly #writer: Writer;
  readonly #clock: Clock;
  readonly #gone = new AbortController();
  #status = 0;
  #complete = false;

  constructor(request: AnyRequest, response: AnyResponse, connection: Connection, options: ExchangeOptions) {
    this.request = request;
    this.#response = response;
    this.#writer = response;
    this.connection = connection;
    this.#clock = options.clock;
    const asked = request.headers["audit-id"];
    this.auditId = typeof asked === "string" ? asked : options.newId();
    this.signal = this.#gone.signal;
    response.once("close", () => {
      this.#complete = wasSent(response);
      this.#gone.abort(OVER);
      options.closed(this);
    });
    response.on("error", () => this.#gone.abort(OVER));
  }

  /** The status that was sent; 0 while none was. */
  get status(): number {
    return this.#status;
  }

  /** True when the whole answer has been handed to the connection; known when the exchange is over. */
  get complete(): boolean {
    return this.#complete;
  }

  /** Answers with a body of the given type; `close` ends the connection afterwards where it is HTTP/2. */
  async send(code: number, body: string, headers: Readonly<Record<string, string>>, close = false): Promise<void> {
    if (this.#response.headersSent || this.signal.aborted) return;
    await this.#thaw();
    const bytes = Buffer.from(body);
    const accepts = this.request.headers["accept-encoding"];
    const zip = bytes.length >= GZIP_BYTES && typeof accepts === "string" && accepts.includes("gzip");
    const payload = zip ? await compress(bytes, { level: 1 }) : bytes;
    const http1 = this.connection.protocol === "HTTP/1.1";
    const extra = zip ? { "content-encoding": "gzip", vary: "Accept-Encoding" } : {};
    const length =
      this.spoiling?.kind === "truncate" && this.spoiling.clean === true
        ? {}
        : { "content-length": String(payload.length) };
    this.#head(code, { ...headers, ...extra, ...length });
    if (this.request.method === "HEAD") this.#writer.end("");
    else if (this.spoiling === undefined) this.#writer.end(payload);
    else await this.#sendSpoilt(payload, this.spoiling);
    if (close && !http1) this.connection.goAway();
  }

  /** Begins an answer of unknown length. */
  async begin(headers: Readonly<Record<string, string>>): Promise<void> {
    await this.#thaw();
    this.#head(200, headers);
    // HTTP/2 sends them at once.
    if ("flushHeaders" in this.#response) this.#response.flushHeaders();
  }

  /** Writes a piece and waits while the client does not read; false when the client has gone. */
  async write(piece: string): Promise<boolean> {
    if (this.signal.aborted) return false;
    await this.#thaw();
    if (this.#writer.write(piece)) return true;
    try {
      await once(this.#response, "drain", { signal: this.signal });
      return true;
    } catch {
      return false;
    }
  }

  /** Ends an answer that was begun. */
  end(): void {
    if (!this.signal.aborted) this.#writer.end("");
  }

  /** Says nothing until the client goes. */
  async hang(): Promise<void> {
    if (!this.signal.aborted) await once(this.signal, "abort");
  }

  #head(code: number, headers: Readonly<Record<string, string>>): void {
    this.#status = code;
    // The stamp comes from the cluster's own clock, which may be ahead or behind.
    this.#response.sendDate = false;
    this.#writer.writeHead(code, {
      "audit-id": this.auditId,
      "cache-control": "no-cache, private",
      date: this.#clock.now().toUTCString(),
      ...headers,
    });
  }

  async #sendSpoilt(payload: Buffer, how: Spoiling): Promise<void> {
    if (how.kind === "drip") {
      for (let at = 0; at < payload.length && !this.signal.aborted; at += how.bytes) {
        this.#writer.write(payload.subarray(at, at + how.bytes));
        await this.#clock.sleep(how.everyMs, this.signal);
      }
      this.end();
      return;
    }
    const part = payload.subarray(0, how.bytes);
    if (how.clean === true) {
      this.#writer.end(part);
      return;
    }
    await new Promise<void>((resolve) => this.#writer.write(part, () => resolve()));
    if ("stream" in this.#response) this.#response.stream.destroy(new Error("the answer is cut off by a fault"));
    else this.connection.destroy();
  }

  /** On a frozen connection nothing may be written: waits until it is gone. */
  async #thaw(): Promise<void> {
    if (this.connection.frozen) await this.hang();
  }
}

/** Whether an answer that is over was sent to its end; HTTP/2 reports "finish" for broken streams, too. */
function wasSent(response: AnyResponse): boolean {
  if (!("stream" in response)) return response.writableFinished;
  return response.writableEnded && response.stream.rstCode === 0;
}

/** What an exchange needs from its server. */
export interface ExchangeOptions {
  readonly clock: Clock;
  readonly newId: () => string;
  /** Called once, when the answer is sent or broken off. */
  readonly closed: (exchange: Exchange) => void;
}
