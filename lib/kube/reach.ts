import { lookup } from "node:dns/promises";
import { connect, isIP } from "node:net";
import type { TLSSocket } from "node:tls";
import { type Clock, deadline } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Connection } from "./connection.ts";
import { type ConnectionFault, connectionFault } from "./connection-fault.ts";
import { createConnector } from "./connector.ts";
import type { Proxy } from "./proxy.ts";

/**
 * The way to an API server, one step at a time, for who wants to know at which step it ends. The steps are those of a
 * connection that requests go over, and so are the words of their faults.
 */

/** Where a connection begins: the server, or the proxy on the way to it. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
  /** The endpoint is a proxy. */
  readonly isProxy: boolean;
}

/** Where the connection's first socket goes. */
export function endpointOf({ server }: Connection, proxy: Proxy | undefined): Endpoint {
  if (proxy === undefined) return { host: server.host, port: server.port, isProxy: false };
  const url = new URL(proxy.origin);
  const port = Number(url.port === "" ? (url.protocol === "https:" ? 443 : 80) : url.port);
  return { host: url.hostname.replace(/^\[|\]$/g, ""), port, isProxy: true };
}

/** How long a step may take, and who ends it earlier. */
export interface StepLimits {
  readonly clock: Clock;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** The addresses of a host name, as a connection finds them; an address is its own. */
export async function lookUp(host: string): Promise<Result<readonly string[], ConnectionFault>> {
  if (isIP(host) !== 0) return ok([host]);
  try {
    return ok((await lookup(host, { all: true })).map(({ address }) => address));
  } catch (error) {
    return failed(connectionFault(error));
  }
}

/** Opens a TCP connection and closes it. */
export async function openTcp(
  { host, port }: Endpoint,
  { clock, timeoutMs, signal }: StepLimits,
): Promise<Result<void, ConnectionFault>> {
  using limit = deadline(clock, timeoutMs, signal);
  const socket = connect({ host, port });
  const opened = Promise.withResolvers<Result<void, ConnectionFault>>();
  socket.once("connect", () => opened.resolve(ok(undefined)));
  socket.once("error", (error) => opened.resolve(failed(connectionFault(error))));
  const giveUp = (): void => opened.resolve(failed(silence(timeoutMs)));
  limit.signal.addEventListener("abort", giveUp, { once: true });
  if (limit.signal.aborted) giveUp();
  try {
    return await opened.promise;
  } finally {
    socket.destroy();
  }
}

/** What a handshake has shown. */
export interface Handshake {
  /** `TLSv1.3`. */
  readonly protocol: string;
  /** When the server's certificate ends; milliseconds since the epoch. */
  readonly validUntil: number | undefined;
}

/** TCP, the proxy's tunnel where there is one, and a verified TLS handshake; then closes the connection. */
export async function shakeHands(
  connection: Connection,
  way: { readonly proxy: Proxy | undefined; readonly proxyCa: string | undefined },
  { clock, timeoutMs, signal }: StepLimits,
): Promise<Result<Handshake, ConnectionFault>> {
  const open = createConnector({
    connection,
    ...way,
    clock,
    connectMs: timeoutMs,
    signal,
    takePlace: () => Promise.resolve(true),
    releasePlace: () => undefined,
    onOpen: () => undefined,
  });
  return await new Promise((resolve) => {
    open(
      { hostname: connection.server.host, protocol: "https:", port: String(connection.server.port) },
      (error, socket) => {
        if (error !== null) return resolve(failed(connectionFault(error)));
        resolve(ok(seen(socket as TLSSocket)));
        socket.destroy();
      },
    );
  });
}

function seen(socket: TLSSocket): Handshake {
  const validUntil = Date.parse(socket.getPeerCertificate().valid_to);
  return { protocol: socket.getProtocol() ?? "", validUntil: Number.isNaN(validUntil) ? undefined : validUntil };
}

function silence(timeoutMs: number): ConnectionFault {
  return connectionFault(
    Object.assign(new Error(`no connection within ${timeoutMs} ms`), { code: "UND_ERR_CONNECT_TIMEOUT" }),
  );
}
