import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import net, { type AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { KeyPair } from "../../infra/local/cluster/certificates.ts";

/** A proxy on loopback that knows CONNECT and nothing else. */
export interface ConnectProxy {
  readonly url: string;
  /** Targets of the tunnels asked for. */
  readonly tunnels: string[];
  /** `Proxy-Authorization` of each. */
  readonly authorizations: (string | undefined)[];
  readonly close: () => Promise<void>;
}

export interface ConnectProxyOptions {
  /** Speaks TLS with this certificate. */
  readonly certificate?: KeyPair;
  /** Answers CONNECT with this status instead of a tunnel. */
  readonly refuseWith?: number;
  /** Closes the connection instead of answering. */
  readonly hangUp?: boolean;
}

export async function startConnectProxy(options: ConnectProxyOptions = {}): Promise<ConnectProxy> {
  const tunnels: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const sockets = new Set<Duplex>();
  const server =
    options.certificate === undefined
      ? http.createServer()
      : https.createServer({ cert: options.certificate.cert, key: options.certificate.key });
  server.on("connection", (socket: Duplex) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => sockets.delete(socket));
  });
  server.on("tlsClientError", () => undefined);
  server.on("connect", (request: http.IncomingMessage, client: Duplex) => {
    tunnels.push(request.url ?? "");
    authorizations.push(request.headers["proxy-authorization"]);
    client.on("error", () => undefined);
    if (options.hangUp === true) {
      client.destroy();
      return;
    }
    if (options.refuseWith !== undefined) {
      client.end(`HTTP/1.1 ${options.refuseWith} No\r\ncontent-length: 0\r\n\r\n`);
      return;
    }
    const { hostname, port } = new URL(`http://${request.url ?? ""}`);
    const upstream = net.connect({ host: hostname, port: Number(port) }, () => {
      client.write("HTTP/1.1 200 Connection established\r\n\r\n");
      upstream.pipe(client).pipe(upstream);
    });
    sockets.add(upstream);
    upstream.on("error", () => client.destroy());
    upstream.once("close", () => {
      sockets.delete(upstream);
      client.destroy();
    });
    client.once("close", () => upstream.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const scheme = options.certificate === undefined ? "http" : "https";
  return {
    url: `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}`,
    tunnels,
    authorizations,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
