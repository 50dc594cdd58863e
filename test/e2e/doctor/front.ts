import { Agent } from "undici";
import { startTlsServer, type TlsServer } from "../../support/tls-server.ts";
import type { FurnishedCluster } from "./doctor-world.ts";

/** An HTTPS server that passes every request on to a cluster, and its answers back with other headers. */
export async function startFront(
  { url, caPem }: Pick<FurnishedCluster, "url" | "caPem">,
  headers: () => Readonly<Record<string, string>>,
): Promise<TlsServer> {
  const agent = new Agent({ connect: { ca: caPem } });
  const server = await startTlsServer((request, reply) => {
    const { authorization = "", "content-type": type } = request.headers;
    agent
      .request({
        origin: url,
        path: request.url,
        method: request.method as "GET",
        headers: { authorization, ...(type === undefined ? {} : { "content-type": type }) },
        body: request.body === "" ? null : request.body,
      })
      .then(async ({ statusCode, body }) => {
        reply.send(statusCode, await body.text(), { "content-type": "application/json", ...headers() });
      })
      .catch(() => reply.reset());
  });
  return {
    ...server,
    close: async () => {
      await server.close();
      await agent.destroy();
    },
  };
}
