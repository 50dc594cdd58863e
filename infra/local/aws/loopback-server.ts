import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";

/** A request, read to its end. */
export interface HttpRequest {
  readonly method: string;
  /** As sent: still percent-encoded, without the query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** Fires when the client has gone before its answer was written. */
  readonly signal: AbortSignal;
}

/** An answer. */
interface HttpAnswer {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
}

/** An answer; or `reset` to break the connection without one. */
export type HttpReply = HttpAnswer | "reset";

/** A server on 127.0.0.1. */
export interface LoopbackServer {
  /** `http://127.0.0.1:port`, without a trailing slash. */
  readonly url: string;
  /** Breaks all connections and frees the port. A second call does nothing. */
  stop(): Promise<void>;
}

const MAX_BODY_BYTES = 20 * 1024 * 1024;

/**
 * Serves plain HTTP on 127.0.0.1.
 * @param handle answers one request; a rejection is a bug and is answered with 500
 * @param port 0 takes a free one
 */
export async function startLoopbackServer(
  handle: (request: HttpRequest) => Promise<HttpReply>,
  port = 0,
): Promise<LoopbackServer> {
  const server = createServer((incoming, response) => {
    void serve(incoming, response, handle);
  });
  // The client is the one to close an idle connection; a Lambda runtime leaves its own idle for as long as it works.
  server.keepAliveTimeout = 0;
  server.requestTimeout = 0;
  server.listen(port, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("a TCP server without an address");
  return {
    url: `http://127.0.0.1:${address.port}`,
    stop: async () => {
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function serve(
  incoming: IncomingMessage,
  response: ServerResponse,
  handle: (request: HttpRequest) => Promise<HttpReply>,
): Promise<void> {
  const gone = new AbortController();
  response.on("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  const body = await readBody(incoming);
  if (body === undefined) {
    incoming.socket.destroy();
    return;
  }
  const url = new URL(incoming.url ?? "/", "http://127.0.0.1");
  const request: HttpRequest = {
    method: incoming.method ?? "GET",
    path: url.pathname,
    query: url.searchParams,
    headers: incoming.headers,
    body,
    signal: gone.signal,
  };
  write(incoming, response, await handle(request).catch(internalFailure));
}

function write(incoming: IncomingMessage, response: ServerResponse, reply: HttpReply): void {
  if (reply === "reset") {
    incoming.socket.resetAndDestroy();
    return;
  }
  if (response.destroyed) return;
  const body = reply.body ?? "";
  response.writeHead(reply.status, { ...reply.headers, "content-length": Buffer.byteLength(body) });
  response.end(body);
}

function internalFailure(error: unknown): HttpAnswer {
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return {
    status: 500,
    headers: { "content-type": "application/json", "x-amzn-errortype": "InternalFailure" },
    body: JSON.stringify({ __type: "InternalFailure", message }),
  };
}

/** The whole body, or undefined when the client broke off or sent too much. */
async function readBody(incoming: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let length = 0;
  try {
    for await (const chunk of incoming) {
      if (!Buffer.isBuffer(chunk)) return undefined;
      length += chunk.length;
      if (length > MAX_BODY_BYTES) return undefined;
      chunks.push(chunk);
    }
  } catch {
    // The client has gone; there is nobody left to answer.
    return undefined;
  }
  return Buffer.concat(chunks);
}
