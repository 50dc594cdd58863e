import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createSecureServer, type Http2SecureServer, Http2ServerRequest, type ServerHttp2Session } from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import type { Clock } from "../../../../lib/base/clock.ts";
import type { KeyPair } from "../certificates.ts";
import type { Faults } from "../faults/faults.ts";
import { internalError } from "../status.ts";
import { type ConnectionCounts, Connections } from "./connections.ts";
import { type AnyRequest, type AnyResponse, Exchange } from "./exchange.ts";
import { type KnownRequest, type RequestHandler, subjectOf } from "./request-handler.ts";
import type { RequestLog } from "./request-log.ts";

/** Go's limit for the headers of a request, with its allowance, in bytes. */
const HEADERS_LIMIT = 1024 * 1024 + 4096;

/** What a server is made of. */
export interface ApiServerOptions {
  readonly clock: Clock;
  readonly handler: RequestHandler;
  readonly faults: Faults;
  readonly requestLog: RequestLog;
  readonly tls: KeyPair;
  /** Named to clients as the authority whose certificates are taken. */
  readonly caPem: string;
  /** Streams that a client may have open on one HTTP/2 connection; 100 by default. */
  readonly maxStreams?: number;
  /** Called with a bug: something threw while a request was handled, and 500 was answered. */
  readonly onBug?: (error: unknown) => void;
}

/** The HTTPS side of an API server: HTTP/1.1 and HTTP/2 on one port. It can be down and up again with all its data. */
export class ApiServer {
  readonly #options: ApiServerOptions;
  readonly #connections = new Connections();
  readonly #secure: Http2SecureServer;
  #listener: Server | undefined;
  #port = 0;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    // Go's server keeps idle HTTP/1.1 connections for 90 s; the option is newer than its type.
    const http1Options = { keepAliveTimeout: 90_000, maxHeaderSize: HEADERS_LIMIT };
    this.#secure = createSecureServer({
      allowHTTP1: true,
      http1Options,
      ...this.#context(options.tls),
      requestCert: true,
      // Authentication looks at the certificate itself and answers 401, as a real API server does.
      rejectUnauthorized: false,
      settings: {
        maxConcurrentStreams: options.maxStreams ?? 100,
        initialWindowSize: 256 * 1024,
        maxFrameSize: 256 * 1024,
        maxHeaderListSize: HEADERS_LIMIT,
      },
    });
    this.#secure.prependListener("secureConnection", (tls: TLSSocket) => this.#connections.secured(tls));
    this.#secure.on("session", (session: ServerHttp2Session) => this.#connections.opened(session));
    this.#secure.on("sessionError", () => undefined);
    this.#secure.on("tlsClientError", (_error, tls: TLSSocket) => {
      this.#connections.tlsFailed();
      tls.destroy();
    });
    this.#secure.on("request", (request: AnyRequest, response: AnyResponse) => this.#serve(request, response));
  }

  /** The port, also while the server is down; 0 before it was ever up. */
  get port(): number {
    return this.#port;
  }

  get listening(): boolean {
    return this.#listener !== undefined;
  }

  /** Counters since the server was made. */
  get connectionCounts(): ConnectionCounts {
    return this.#connections.counts;
  }

  /** Takes connections on 127.0.0.1; port 0 means the port it had before, or any free one. */
  async listen(port = 0): Promise<void> {
    if (this.#listener !== undefined) return;
    const listener = createServer((raw) => this.#accept(raw));
    listener.listen({ host: "127.0.0.1", port: port === 0 ? this.#port : port, backlog: 4096 });
    await once(listener, "listening");
    this.#port = (listener.address() as AddressInfo).port;
    this.#listener = listener;
  }

  /** Ends all connections at once and frees the port. */
  async close(): Promise<void> {
    const listener = this.#listener;
    this.#listener = undefined;
    const closed = listener === undefined ? undefined : once(listener, "close");
    listener?.close();
    this.#connections.destroyAll();
    await closed;
  }

  /** Frees the port and keeps the connections that are open: new ones are refused, old ones work on. */
  stopAccepting(): void {
    // The listener is "closed" only with its last connection; the port is free at once.
    this.#listener?.close();
    this.#listener = undefined;
  }

  /** Ends all connections at once. */
  destroyConnections(): void {
    this.#connections.destroyAll();
  }

  /** Ends connections as a server does that is going to restart: GOAWAY on HTTP/2, running requests end. */
  drainConnections(): void {
    this.#connections.closeAll();
  }

  /** Shows another certificate to connections from now on. */
  replaceCertificate(tls: KeyPair): void {
    this.#secure.setSecureContext(this.#context(tls));
  }

  #context(tls: KeyPair): { readonly key: string; readonly cert: string; readonly ca: string } {
    return { key: tls.key, cert: tls.cert, ca: this.#options.caPem };
  }

  #accept(raw: Socket): void {
    raw.setNoDelay(true);
    const connection = this.#connections.accept(raw);
    const { accept } = this.#options.faults;
    if (accept === "reset") connection.reset();
    else if (accept === "serve") this.#secure.emit("connection", raw);
  }

  #serve(request: AnyRequest, response: AnyResponse): void {
    const carrier = request instanceof Http2ServerRequest ? request.stream.session : request.socket;
    const connection = carrier === undefined ? undefined : this.#connections.find(carrier);
    if (connection === undefined) {
      response.destroy();
      return;
    }
    const { clock, handler, onBug } = this.#options;
    const atMs = clock.now().getTime();
    const startedMs = clock.monotonicMs();
    let known: KnownRequest | undefined;
    const closed = (exchange: Exchange): void => this.#log(exchange, known, atMs, clock.monotonicMs() - startedMs);
    const exchange = new Exchange(request, response, connection, { clock, newId: randomUUID, closed });
    const learned = (found: KnownRequest): void => {
      known = found;
      this.#options.requestLog.receive(this.#facts(exchange, found, atMs));
    };
    handler.handle(exchange, learned).catch(async (error: unknown) => {
      onBug?.(error);
      const body = JSON.stringify(internalError(error instanceof Error ? error.message : String(error)));
      await exchange.send(500, body, { "content-type": "application/json" }).catch(() => connection.destroy());
    });
  }

  #facts(exchange: Exchange, { info, user }: KnownRequest, atMs: number) {
    const subject = subjectOf(info);
    return {
      atMs,
      verb: subject.verb,
      path: subject.path,
      group: subject.group,
      resource: subject.resource,
      subresource: subject.subresource,
      namespace: subject.namespace,
      name: subject.name,
      user: user?.username,
      connection: exchange.connection.id,
    };
  }

  #log(exchange: Exchange, known: KnownRequest | undefined, atMs: number, durationMs: number): void {
    if (known === undefined) return;
    this.#options.requestLog.append({
      ...this.#facts(exchange, known, atMs),
      durationMs,
      status: exchange.status,
      complete: exchange.complete,
      protocol: exchange.connection.protocol,
      ...exchange.connection.takeBytes(),
      userAgent: exchange.request.headers["user-agent"],
    });
  }
}
