import { once } from "node:events";
import http2 from "node:http2";
import https from "node:https";
import net, { type AddressInfo, type Socket } from "node:net";
import {
  type CertificateAuthority,
  createCertificateAuthority,
  type KeyPair,
} from "../../infra/local/cluster/certificates.ts";
import { systemClock } from "../../lib/base/clock.ts";

/** A request as it arrived, complete. */
export interface Received {
  readonly method: string;
  readonly url: string;
  readonly headers: http2.IncomingHttpHeaders;
  readonly body: string;
  /** `2.0` or `1.1`. */
  readonly httpVersion: string;
  /** Which connection it came over, counted from 1. */
  readonly connection: number;
}

/** An answer in the making; the same for both protocols. */
export interface Reply {
  send(status: number, body: unknown, headers?: Record<string, string>): void;
  /** Writes the head and a part of the body, and stays open. */
  begin(status: number, headers: Record<string, string>, part: string): void;
  part(text: string): void;
  end(): void;
  /** Destroys the TCP connection. */
  reset(): void;
  /** What an API server does after a 401: once the answer is out it takes no more streams and closes the connection. */
  goAway(): void;
}

export type TlsHandler = (request: Received, reply: Reply) => void;

export interface TlsServer {
  readonly url: string;
  readonly port: number;
  /** PEM of the authority that signed the server's certificate. */
  readonly ca: string;
  readonly authority: CertificateAuthority;
  readonly received: Received[];
  /** TLS connections accepted so far. */
  readonly connections: () => number;
  /** TCP connections open now. */
  readonly open: () => number;
  readonly close: () => Promise<void>;
}

export interface TlsServerOptions {
  readonly http2?: boolean;
  readonly names?: readonly string[];
  readonly authority?: CertificateAuthority;
  readonly certificate?: KeyPair;
  readonly requestClientCertificate?: boolean;
}

let sharedAuthority: Promise<CertificateAuthority> | undefined;

/** An authority for all servers of a test file that do not bring their own. */
export function testAuthority(): Promise<CertificateAuthority> {
  sharedAuthority ??= createCertificateAuthority("test-ca", systemClock);
  return sharedAuthority;
}

/** An HTTPS server on loopback, HTTP/2 and HTTP/1.1, that lets a test decide each answer. */
export async function startTlsServer(handler: TlsHandler, options: TlsServerOptions = {}): Promise<TlsServer> {
  const authority = options.authority ?? (await testAuthority());
  const pair = options.certificate ?? (await authority.issueServer(options.names ?? ["127.0.0.1", "localhost"]));
  const received: Received[] = [];
  const numbers = new WeakMap<object, number>();
  const raw = new Set<Socket>();
  let accepted = 0;
  const onRequest = (req: http2.Http2ServerRequest, res: http2.Http2ServerResponse): void => {
    const session = req.httpVersion === "2.0" ? req.stream.session : undefined;
    const socket: object | undefined = session ?? req.socket;
    const chunks: Buffer[] = [];
    req.on("data", (chunk: Buffer) => chunks.push(chunk));
    req.on("error", () => undefined);
    res.on("error", () => undefined);
    req.on("end", () => {
      const request: Received = {
        method: req.method,
        url: req.url,
        headers: req.headers,
        body: Buffer.concat(chunks).toString("utf8"),
        httpVersion: req.httpVersion,
        connection: (socket && numbers.get(socket)) ?? 0,
      };
      received.push(request);
      handler(
        request,
        makeReply(res, () => session ?? undefined, req.socket),
      );
    });
  };
  const tlsOptions = {
    cert: pair.cert,
    key: pair.key,
    ...(options.requestClientCertificate === true
      ? { requestCert: true, rejectUnauthorized: true, ca: authority.caPem }
      : {}),
  };
  const server =
    options.http2 === false
      ? https.createServer(tlsOptions, onRequest as never)
      : http2.createSecureServer({ ...tlsOptions, allowHTTP1: true }, onRequest);
  server.on("secureConnection", (socket: object) => {
    accepted += 1;
    numbers.set(socket, accepted);
  });
  server.on("session", (session: http2.ServerHttp2Session) => {
    numbers.set(session, accepted);
    session.on("error", () => undefined);
  });
  server.on("connection", (socket: Socket) => {
    raw.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => raw.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `https://127.0.0.1:${port}`,
    port,
    ca: authority.caPem,
    authority,
    received,
    connections: () => accepted,
    open: () => raw.size,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of raw) socket.destroy();
      await closed;
    },
  };
}

function makeReply(
  res: http2.Http2ServerResponse,
  session: () => http2.Http2Session | undefined,
  socket: { destroy(): void },
): Reply {
  return {
    send: (status, body, headers = {}) => {
      const text = typeof body === "string" || Buffer.isBuffer(body) ? body : JSON.stringify(body);
      const type = typeof body === "string" || Buffer.isBuffer(body) ? "text/plain" : "application/json";
      res.writeHead(status, { "content-type": type, ...headers });
      res.end(text);
    },
    begin: (status, headers, part) => {
      res.writeHead(status, headers);
      res.write(part);
    },
    part: (text) => void res.write(text),
    end: () => void res.end(),
    reset: () => {
      const own = session();
      if (own === undefined) socket.destroy();
      else own.destroy();
    },
    goAway: () => {
      const own = session();
      if (own === undefined) return;
      const close = (): void => {
        own.goaway(0);
        setImmediate(() => own.destroy());
      };
      if (res.stream.closed) close();
      else res.stream.once("close", close);
    },
  };
}

/** A TCP server that accepts and never says a word: TLS hangs at its first step. */
export async function startSilentServer(): Promise<{
  readonly url: string;
  readonly accepted: () => number;
  readonly open: () => number;
  readonly close: () => Promise<void>;
}> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  const server = net.createServer((socket) => {
    accepted += 1;
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
    socket.resume();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    accepted: () => accepted,
    open: () => sockets.size,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

/** A port on loopback that nobody listens on. */
export async function unusedPort(): Promise<number> {
  const server = net.createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}
