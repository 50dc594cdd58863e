import { once } from "node:events";
import { createServer } from "node:net";
import { Child, type ChildOptions } from "./child.ts";

const ATTEMPTS = 3;

/** A port of 127.0.0.1 that nobody listens on now. */
async function freePort(): Promise<number> {
  const server = createServer();
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  server.close();
  await once(server, "close");
  if (address === null || typeof address === "string") throw new Error("a TCP server has an address with a port");
  return address.port;
}

/**
 * Starts a program that must be told its ports. Between our look and its own, another process may take one: then it is
 * started again on others.
 * @param options the program's, by the ports
 * @param ready settles when it is ready, by the ports
 */
export async function startOnFreePorts(
  count: number,
  options: (ports: readonly number[]) => ChildOptions,
  ready: (child: Child, ports: readonly number[]) => Promise<void>,
): Promise<{ readonly child: Child; readonly ports: readonly number[] }> {
  for (let attempt = 1; ; attempt += 1) {
    const ports = await Promise.all(Array.from({ length: count }, () => freePort()));
    const child = new Child(options(ports));
    try {
      await ready(child, ports);
      return { child, ports };
    } catch (error) {
      const again = attempt < ATTEMPTS && child.lostItsPort();
      await child.stop();
      if (!again) throw error;
    }
  }
}
