import type { ServerHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** One connection of a client, from the TCP handshake on. */
export class Connection {
  /** Counted from 1. */
  readonly id: number;
  readonly #raw: Socket;
  #tls: TLSSocket | undefined;
  #session: ServerHttp2Session | undefined;
  #certificate: Buffer | undefined;
  #frozen = false;
  #reportedIn = 0;
  #reportedOut = 0;

  constructor(id: number, raw: Socket) {
    this.id = id;
    this.#raw = raw;
  }

  /** The client's certificate (DER), checked by nobody yet; always the same buffer for one connection. */
  get certificate(): Buffer | undefined {
    return this.#certificate;
  }

  get protocol(): "HTTP/1.1" | "HTTP/2" {
    return this.#session === undefined ? "HTTP/1.1" : "HTTP/2";
  }

  /** True once nothing may be written any more. */
  get frozen(): boolean {
    return this.#frozen;
  }

  /** TLS is up. */
  secured(tls: TLSSocket): void {
    this.#tls = tls;
    const raw: unknown = tls.getPeerCertificate().raw;
    this.#certificate = Buffer.isBuffer(raw) ? raw : undefined;
  }

  /** HTTP/2 was agreed on. */
  opened(session: ServerHttp2Session): void {
    this.#session = session;
  }

  /**
   * Lets running streams end and takes no new ones (GOAWAY), as a real API server does after a 401; nothing on HTTP/1.1.
   * What has arrived together with the request that caused it is still taken: it is read in the same turn.
   */
  goAway(): void {
    const session = this.#session;
    if (session === undefined) return;
    setImmediate(() => {
      if (!session.closed && !session.destroyed) session.close();
    });
  }

  /** Ends it at once. */
  destroy(): void {
    this.#session?.destroy();
    this.#tls?.destroy();
    this.#raw.destroy();
  }

  /** Breaks it off with a TCP reset. */
  reset(): void {
    this.#raw.resetAndDestroy();
    this.destroy();
  }

  /** From now on nothing is read; writers must look at `frozen`. The peer sees an open connection that says nothing. */
  freeze(): void {
    this.#frozen = true;
    // TLS and HTTP/2 read from the handle natively: pausing the JavaScript stream would stop nothing.
    const handle = (this.#raw as Socket & { readonly _handle?: { readStop?(): number } | null })["_handle"];
    handle?.readStop?.();
  }

  /** Bytes on the wire since the last call. */
  takeBytes(): { readonly bytesIn: number; readonly bytesOut: number } {
    const bytesRead = this.#raw.bytesRead;
    const bytesWritten = this.#raw.bytesWritten;
    const taken = { bytesIn: bytesRead - this.#reportedIn, bytesOut: bytesWritten - this.#reportedOut };
    this.#reportedIn = bytesRead;
    this.#reportedOut = bytesWritten;
    return taken;
  }
}

/** Counters of an API server's connections since its start. */
export interface ConnectionCounts {
  /** TCP connections that were taken. */
  readonly accepted: number;
  readonly open: number;
  /** Those that got as far as TLS. */
  readonly secured: number;
  readonly http2: number;
  readonly tlsFailures: number;
}

/** All connections of an API server. */
export class Connections {
  readonly #open = new Map<string, Connection>();
  readonly #byTls = new WeakMap<object, Connection>();
  readonly #bySession = new WeakMap<object, Connection>();
  readonly #counts = { accepted: 0, secured: 0, http2: 0, tlsFailures: 0 };

  get counts(): ConnectionCounts {
    return { ...this.#counts, open: this.#open.size };
  }

  /** A client has connected. */
  accept(raw: Socket): Connection {
    this.#counts.accepted += 1;
    const connection = new Connection(this.#counts.accepted, raw);
    const key = keyOf(raw);
    this.#open.set(key, connection);
    raw.once("close", () => {
      if (this.#open.get(key) === connection) this.#open.delete(key);
    });
    raw.on("error", () => raw.destroy());
    return connection;
  }

  /** TLS is up on a connection. */
  secured(tls: TLSSocket): void {
    const connection = this.#open.get(keyOf(tls));
    if (connection === undefined) return;
    this.#counts.secured += 1;
    connection.secured(tls);
    this.#byTls.set(tls, connection);
  }

  /** HTTP/2 was agreed on. */
  opened(session: ServerHttp2Session): void {
    const connection = this.#open.get(keyOf(session.socket));
    if (connection === undefined) return;
    this.#counts.http2 += 1;
    connection.opened(session);
    this.#bySession.set(session, connection);
  }

  tlsFailed(): void {
    this.#counts.tlsFailures += 1;
  }

  /** The connection of an HTTP/2 session or of an HTTP/1.1 request's socket. */
  find(carrier: object): Connection | undefined {
    return this.#bySession.get(carrier) ?? this.#byTls.get(carrier);
  }

  /** Ends all at once. */
  destroyAll(): void {
    for (const connection of this.#open.values()) connection.destroy();
  }

  /** Lets running requests end and takes no new ones; HTTP/1.1 connections end at once. */
  closeAll(): void {
    for (const connection of this.#open.values()) {
      if (connection.protocol === "HTTP/2") connection.goAway();
      else connection.destroy();
    }
  }
}

/** TLS and HTTP/2 wrap the socket; the peer's address and port are what all of them tell alike. */
function keyOf(socket: Pick<Socket, "remoteAddress" | "remotePort">): string {
  return `${socket.remoteAddress ?? ""} ${socket.remotePort ?? 0}`;
}
