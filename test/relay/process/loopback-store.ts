import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { deserialize, serialize } from "node:v8";
import type { BatonChange, BatonExpectation, BatonKey } from "../../../lib/relay/ports.ts";
import { InMemoryBatonStore } from "../../support/in-memory-baton-store.ts";
import type { Report } from "./report.ts";

/** What a process asks of the loopback store. */
export type Question =
  | { readonly kind: "read"; readonly key: BatonKey }
  | { readonly kind: "change"; readonly key: BatonKey; readonly expect: BatonExpectation; readonly change: BatonChange }
  | { readonly kind: "revision" }
  | { readonly kind: "report"; readonly report: Report };

/** A baton store for processes, over loopback; also where they report what they do. */
export class LoopbackStore {
  readonly reports: Report[] = [];
  readonly #store = new InMemoryBatonStore();
  readonly #server: Server;
  readonly #waiting = new Set<() => void>();

  private constructor(server: Server) {
    this.#server = server;
  }

  static async start(): Promise<LoopbackStore> {
    const server = createServer();
    const store = new LoopbackStore(server);
    server.on("request", (request, response) => {
      void store.#answer(request).then((answer) => response.end(serialize(answer)));
    });
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    return store;
  }

  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/`;
  }

  /** The first report that is as wanted, now or when it comes. */
  async report<R extends Report>(wanted: (report: Report) => report is R, from?: number): Promise<R>;
  async report(wanted: (report: Report) => boolean, from?: number): Promise<Report>;
  async report(wanted: (report: Report) => boolean, from = 0): Promise<Report> {
    for (;;) {
      const found = this.reports.slice(from).find((report) => wanted(report));
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#waiting.add(resolve);
      });
    }
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #answer(request: IncomingMessage): Promise<unknown> {
    const question = deserialize(await buffer(request)) as Question;
    switch (question.kind) {
      case "read":
        return this.#store.peek(question.key);
      case "change":
        return this.#store.apply(question.key, question.expect, question.change);
      case "revision":
        return 1;
      case "report": {
        this.reports.push(question.report);
        const waiting = [...this.#waiting];
        this.#waiting.clear();
        for (const wake of waiting) wake();
        return undefined;
      }
    }
  }
}
