import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { isJsonObject, type JsonObject, textIn } from "../engine/json.ts";
import type { SimulatedCluster } from "../simulated-cluster.ts";
import type { Fault, FaultRule } from "./faults.ts";

/** A control endpoint that is up. */
export interface FaultsControl {
  /** `http://127.0.0.1:port`. */
  readonly url: string;
  close(): Promise<void>;
}

type Route = (cluster: SimulatedCluster, body: JsonObject, id: string) => Promise<unknown>;

/**
 * Lets another process break a cluster and look into it, over plain HTTP on 127.0.0.1. It exists only where it is asked for:
 * whoever reaches it owns the cluster.
 */
export async function startFaultsControl(cluster: SimulatedCluster): Promise<FaultsControl> {
  const server = createServer((request, response) => {
    answer(cluster, request).then(
      ([code, body]) => send(response, code, body),
      (error: unknown) => send(response, 400, { error: error instanceof Error ? error.message : String(error) }),
    );
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      const closed = once(server, "close");
      server.close();
      server.closeAllConnections();
      await closed;
    },
  };
}

async function answer(cluster: SimulatedCluster, request: IncomingMessage): Promise<readonly [number, unknown]> {
  const [, resource = "", id = ""] = (request.url ?? "/").split("?")[0]?.split("/") ?? [];
  const route = ROUTES[`${request.method ?? ""} ${resource}`];
  if (route === undefined) return [404, { error: "no such route", routes: Object.keys(ROUTES) }];
  const body = await text(request);
  const parsed: unknown = body === "" ? {} : JSON.parse(body);
  if (!isJsonObject(parsed)) return [400, { error: "the body must be a JSON object" }];
  return [200, (await route(cluster, parsed, id)) ?? {}];
}

const ROUTES: Readonly<Record<string, Route>> = {
  "GET faults": (cluster) => Promise.resolve(cluster.faults.list().map(shown)),
  // The body is a FaultRule as the programming interface takes it.
  "POST faults": (cluster, body) => Promise.resolve(shown(cluster.faults.add(ruleIn(body)))),
  "DELETE faults": async (cluster, _body, id) => {
    if (id === "") cluster.faults.clear();
    else cluster.faults.remove(Number(id));
    await Promise.resolve();
  },
  "POST accept": async (cluster, body) => {
    const mode = textIn(body, "mode");
    if (mode !== "serve" && mode !== "reset" && mode !== "silent")
      throw new Error("mode must be serve, reset or silent");
    cluster.faults.accept = mode;
    await Promise.resolve();
  },
  "POST serving": (cluster, body) => (body["up"] === false ? cluster.stopServing() : cluster.resumeServing()),
  "DELETE connections": async (cluster) => {
    cluster.server.destroyConnections();
    await Promise.resolve();
  },
  "POST compact": async (cluster) => {
    cluster.engine.compact();
    await Promise.resolve();
  },
  "GET requests": (cluster) => Promise.resolve(cluster.requestLog.entries()),
  "GET connections": (cluster) => Promise.resolve(cluster.server.connectionCounts),
};

function ruleIn(body: JsonObject): FaultRule {
  const { action } = body;
  if (!isJsonObject(action) || textIn(action, "kind") === "") throw new Error("action.kind must be given");
  return body as JsonObject & FaultRule;
}

function shown(fault: Fault): object {
  return { id: fault.id, hits: fault.hits, rule: fault.rule };
}

function send(response: ServerResponse, code: number, body: unknown): void {
  response.writeHead(code, { "content-type": "application/json" });
  response.end(`${JSON.stringify(body)}\n`);
}
