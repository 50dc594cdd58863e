import type { TestContext } from "node:test";
import { Client, type Dispatcher } from "undici";
import {
  type SimulatedCluster,
  type SimulatedClusterOptions,
  startSimulatedCluster,
} from "../../../../../infra/local/cluster/simulated-cluster.ts";
import { FakeClock } from "../../../../support/fake-clock.ts";
import { seededRandom } from "../../../../support/seeded-random.ts";

/** An administrator's token in every cluster under test. */
const ADMIN_TOKEN = "admin-token";

/** A cluster that stands still in time and is stopped with the test. */
export async function startCluster(
  t: TestContext,
  options: Partial<SimulatedClusterOptions> = {},
): Promise<{ cluster: SimulatedCluster; clock: FakeClock }> {
  const clock = new FakeClock();
  const cluster = await startSimulatedCluster({
    name: "east",
    clock,
    random: seededRandom(1),
    tokens: [{ token: ADMIN_TOKEN, username: "admin", groups: ["system:masters"] }],
    onBug: (error) => t.diagnostic(`bug: ${String(error)}`),
    ...options,
  });
  t.after(() => cluster.stop());
  return { cluster, clock };
}

/** One connection to a cluster, over HTTP/2 unless told otherwise. */
export function connect(
  t: TestContext,
  cluster: SimulatedCluster,
  options: { allowH2?: boolean; certificate?: { cert: string; key: string } } = {},
): Client {
  const { allowH2 = true, certificate } = options;
  const client = new Client(cluster.url, { allowH2, connect: { ca: cluster.caPem, ...certificate } });
  t.after(() => client.destroy());
  return client;
}

/** An answer, read to its end. */
export interface Answer {
  readonly status: number;
  readonly headers: Dispatcher.ResponseData["headers"];
  readonly text: string;
  /** The body as JSON. */
  readonly json: Record<string, unknown>;
}

/** Sends a request and reads the answer; as administrator unless `token` says otherwise (`null`: nobody). */
export async function call(
  client: Client,
  method: Dispatcher.HttpMethod,
  path: string,
  options: {
    token?: string | null;
    body?: unknown;
    headers?: Record<string, string>;
    signal?: AbortSignal;
  } = {},
): Promise<Answer> {
  const { token = ADMIN_TOKEN, body, headers, signal } = options;
  const response = await client.request({
    method,
    path,
    headers: {
      ...(token === null ? {} : { authorization: `Bearer ${token}` }),
      ...(body === undefined ? {} : { "content-type": "application/json" }),
      ...headers,
    },
    ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) }),
    ...(signal === undefined ? {} : { signal }),
  });
  const text = await response.body.text();
  return {
    status: response.statusCode,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text) as Record<string, unknown>;
    },
  };
}

/** A ConfigMap to write. */
export function configMap(name: string, data: Record<string, string> = {}): Record<string, unknown> {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name }, data };
}

/** Where the ConfigMaps of the Namespace `default` are. */
export const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
