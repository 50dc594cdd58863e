import { once } from "node:events";
import net, { type AddressInfo, type Socket } from "node:net";

/** A TCP relay on loopback in front of a server, which can lose connections without a word, as a NAT or a load balancer does. */
export interface TcpRelay {
  readonly url: string;
  /** From now on nothing is forwarded on the connections there are; new ones work. */
  readonly freeze: () => void;
  readonly accepted: () => number;
  readonly close: () => Promise<void>;
}

export async function startTcpRelay(targetPort: number): Promise<TcpRelay> {
  const sockets = new Set<Socket>();
  let accepted = 0;
  let generation = 0;
  const server = net.createServer((client) => {
    accepted += 1;
    const own = generation;
    const upstream = net.connect({ host: "127.0.0.1", port: targetPort });
    const forward = (from: Socket, to: Socket): void => {
      sockets.add(from);
      from.on("error", () => undefined);
      from.on("data", (chunk) => {
        if (own === generation) to.write(chunk);
      });
      from.once("close", () => {
        sockets.delete(from);
        if (own === generation) to.destroy();
      });
    };
    forward(client, upstream);
    forward(upstream, client);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `https://127.0.0.1:${(server.address() as AddressInfo).port}`,
    freeze: () => {
      generation += 1;
    },
    accepted: () => accepted,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
