import { isIP, Socket } from "node:net";
import tls from "node:tls";
import { type buildConnector, Client, errors } from "undici";
import { type Clock, deadline } from "../base/clock.ts";
import type { Connection } from "./connection.ts";
import type { Proxy } from "./proxy.ts";

/** What a connector needs to know and who is told. */
export interface ConnectorOptions {
  readonly connection: Connection;
  readonly proxy: Proxy | undefined;
  /** PEM certificates for a proxy that is spoken to by https. */
  readonly proxyCa: string | undefined;
  readonly clock: Clock;
  /** Name resolution, TCP, proxy and TLS together, in milliseconds. */
  readonly connectMs: number;
  /** Ends attempts that are under way. */
  readonly signal: AbortSignal;
  /** Waits for a place among the open sockets, before the time to connect begins; false when the signal fired first. */
  readonly takePlace: (signal: AbortSignal) => Promise<boolean>;
  readonly releasePlace: () => void;
  readonly onOpen: (socket: Socket) => void;
}

/** The way through the proxy is closed; `status` is what the proxy answered to CONNECT, if it answered. */
export class ProxyFailure extends Error {
  readonly proxy: string;
  readonly status: number | undefined;

  constructor(proxy: Proxy, status: number | undefined, cause?: unknown) {
    super(status === undefined ? "no tunnel through the proxy" : `the proxy answered ${status} to CONNECT`, { cause });
    this.proxy = proxy.origin;
    this.status = status;
  }
}

/** All sockets of a purpose are taken, and none became free in time. */
class SocketsExhausted extends Error {
  readonly code = "SOCKETS_EXHAUSTED";

  constructor() {
    super("no socket became free in time");
  }
}

/**
 * Opens TLS connections to one API server for undici: verified always, HTTP/2 preferred, through a proxy where there is
 * one, within a time limit by the given clock and a number of sockets. Sessions are resumed, which spares the server's
 * and our own CPU most of a handshake.
 */
export function createConnector(options: ConnectorOptions): buildConnector.connector {
  const tlsState: TlsState = { context: undefined, session: undefined };
  return (_target, callback) => {
    open(options, tlsState).then(
      (socket) => callback(null, socket),
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    );
  };
}

interface TlsState {
  context: tls.SecureContext | undefined;
  session: Buffer | undefined;
}

async function open(options: ConnectorOptions, state: TlsState): Promise<tls.TLSSocket> {
  await takePlace(options);
  using limit = deadline(options.clock, options.connectMs, options.signal);
  let socket: tls.TLSSocket;
  try {
    const { proxy } = options;
    const tunnel = proxy === undefined ? undefined : await openTunnel(options, proxy, limit.signal);
    socket = await handshake(options.connection, state, tunnel, limit.signal);
  } catch (error) {
    options.releasePlace();
    if (limit.expired()) throw new errors.ConnectTimeoutError(`no connection within ${options.connectMs} ms`);
    throw limit.signal.aborted ? new errors.ClientDestroyedError() : error;
  }
  socket.once("close", options.releasePlace);
  options.onOpen(socket);
  return socket;
}

/** A request that waits for longer than this for a socket has reached its own deadline anyway. */
const PLACE_WAIT_MS = 10_000;

async function takePlace(options: ConnectorOptions): Promise<void> {
  using limit = deadline(options.clock, PLACE_WAIT_MS, options.signal);
  if (await options.takePlace(limit.signal)) return;
  throw limit.expired() ? new SocketsExhausted() : new errors.ClientDestroyedError();
}

/** TLS over a new TCP connection, or over the tunnel through a proxy. */
async function handshake(
  connection: Connection,
  state: TlsState,
  tunnel: Socket | undefined,
  signal: AbortSignal,
): Promise<tls.TLSSocket> {
  state.context ??= tls.createSecureContext(secureContextOptions(connection));
  const name = connection.serverName ?? connection.server.host;
  const socket = tls.connect({
    ...(tunnel === undefined ? { host: connection.server.host, port: connection.server.port } : { socket: tunnel }),
    // SNI knows no addresses; the identity is checked for the name or address all the same.
    ...(isIP(name) === 0 ? { servername: name } : {}),
    checkServerIdentity: (_host, certificate) => tls.checkServerIdentity(name, certificate),
    rejectUnauthorized: true,
    secureContext: state.context,
    ALPNProtocols: ["h2", "http/1.1"],
    ...(state.session === undefined ? {} : { session: state.session }),
  });
  socket.on("session", (session: Buffer) => {
    state.session = session;
  });
  socket.setNoDelay(true);
  socket.setKeepAlive(true, 30_000);
  await new Promise<void>((resolve, reject) => {
    const giveUp = (): void => void socket.destroy(new Error("gave up"));
    signal.addEventListener("abort", giveUp, { once: true });
    const settle = (result: () => void): void => {
      signal.removeEventListener("abort", giveUp);
      result();
    };
    socket.once("secureConnect", () => settle(resolve));
    // Stays: an error after the handshake is undici's to handle, but one between here and there must not be fatal.
    socket.on("error", (error) => settle(() => reject(error)));
    socket.once("close", () => settle(() => reject(new Error("closed during the handshake"))));
    if (signal.aborted) giveUp();
  });
  return socket;
}

function secureContextOptions({ ca, credential }: Connection): tls.SecureContextOptions {
  return {
    ...(ca === undefined ? {} : { ca }),
    ...(credential.kind === "certificate" ? { cert: credential.certificate, key: credential.key } : {}),
  };
}

/** A tunnel through the proxy (CONNECT, RFC 9110 section 9.3.6), with a proxy connection of its own. */
async function openTunnel(options: ConnectorOptions, proxy: Proxy, signal: AbortSignal): Promise<Socket> {
  const { server, ca } = options.connection;
  const authority = `${server.host.includes(":") ? `[${server.host}]` : server.host}:${server.port}`;
  // As client-go does, a proxy may be certified by the cluster's CA as well as by a public one.
  const trusted = options.proxyCa ?? (ca === undefined ? undefined : [...tls.rootCertificates, ca]);
  const client = new Client(proxy.origin, {
    allowH2: false,
    connect: { timeout: 0, ...(trusted === undefined ? {} : { ca: trusted }) },
  });
  try {
    const { statusCode, socket } = await client.connect({
      path: authority,
      headers: {
        host: authority,
        ...(proxy.authorization === undefined ? {} : { "proxy-authorization": proxy.authorization }),
      },
      signal,
    });
    if (statusCode === 200 && socket instanceof Socket) return socket;
    socket.on("error", () => undefined).destroy();
    throw new ProxyFailure(proxy, statusCode);
  } catch (error) {
    // Also keeps undici from its own error class for broken sockets, after which it would try again for ever.
    throw error instanceof ProxyFailure ? error : new ProxyFailure(proxy, undefined, error);
  } finally {
    void client.destroy();
  }
}
