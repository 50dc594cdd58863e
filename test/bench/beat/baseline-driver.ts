import tls from "node:tls";
import pLimit from "p-limit";
import { buildConnector, Client } from "undici";
import { announceObject, announceRef } from "../../../lib/antrea/resources.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { gridOffsetMs, gridPointAfter } from "../../../lib/base/grid.ts";
import type { KubeObject } from "../../../lib/kube/client.ts";
import { objectPath } from "../../../lib/kube/request-path.ts";
import { serveCalls } from "../child.ts";
import { sampleIntervals, sampleRetained } from "../sampling.ts";
import {
  type BenchMember,
  CLUSTER_SET,
  COMMON_AREA,
  type DriverCalls,
  LEADER_ID,
  type RunningLeader,
} from "./protocol.ts";

/**
 * The process of the baseline: for each member what the in-cluster agent does. A beat is a GET and a PUT of the announce
 * (a POST where there is none), over a connection of the member's own, HTTP/2 where it is offered.
 *
 * In its favour: all agents share one process, one trust store and one heap, where each is a Pod in truth; they keep
 * to the same grid as Hawser; and they do nothing but beat (no watch, no leader election, no conditions).
 */

const INTERVAL_MS = 10_000;
const TIMEOUT_MS = 10_000;
/** How long client-go keeps a connection that is not used. */
const KEEP_IDLE_MS = 90_000;
/** Connections that are opened at a time, at the start. */
const STARTING = 64;

const calls: DriverCalls = {
  begin: async ({ leader }) => {
    const secureContext = tls.createSecureContext({ ca: leader.caPem });
    const starting = pLimit(STARTING);
    const agents = leader.members.map((member) => new Agent(leader, member, secureContext));
    await Promise.all(agents.map((agent) => starting(async () => await agent.beat())));
    for (const agent of agents) void agent.run();
    const [first] = leader.members;
    if (first === undefined) return {};
    return { authorizationBytes: await new Agent(leader, first, secureContext).authorizationBytes() };
  },
  measure: sampleIntervals,
  retained: sampleRetained,
};

class Agent {
  readonly #cluster: string;
  readonly #authorization: string;
  readonly #path: string;
  readonly #client: Client;
  #socket: tls.TLSSocket | undefined;

  constructor(leader: RunningLeader, { cluster, token }: BenchMember, secureContext: tls.SecureContext) {
    const ref = announceRef(COMMON_AREA, cluster);
    this.#cluster = cluster;
    this.#authorization = `Bearer ${token}`;
    this.#path = objectPath(ref.type, ref.namespace, ref.name) ?? "";
    const connect = buildConnector({ secureContext, allowH2: true });
    this.#client = new Client(leader.url, {
      allowH2: true,
      keepAliveTimeout: KEEP_IDLE_MS,
      connect: (options, callback) =>
        connect(options, (error, socket) => {
          if (error !== null) return callback(error, null);
          if (socket instanceof tls.TLSSocket) this.#socket = socket;
          return callback(null, socket);
        }),
    });
  }

  async run(): Promise<never> {
    const offset = gridOffsetMs(this.#cluster, INTERVAL_MS);
    for (;;) {
      const nowMs = systemClock.now().getTime();
      await systemClock.sleep(gridPointAfter(nowMs, offset, INTERVAL_MS) - nowMs);
      // What failed is in the leader's log, or missing there.
      await this.beat().catch(() => undefined);
    }
  }

  async beat(): Promise<void> {
    const found = await this.#request("GET", this.#path);
    const touchTs = `${systemClock.now().toISOString().slice(0, 19)}Z`;
    if (found === undefined) {
      const ids = { clusterID: this.#cluster, clusterSetID: CLUSTER_SET, leaderClusterID: LEADER_ID };
      const collection = this.#path.slice(0, this.#path.lastIndexOf("/"));
      await this.#request("POST", collection, announceObject(ids, COMMON_AREA, {}));
      return;
    }
    const annotations = { ...found.metadata.annotations, "touch-ts": touchTs };
    await this.#request("PUT", this.#path, { ...found, metadata: { ...found.metadata, annotations } });
  }

  /**
   * What one `Authorization` header costs on the wire: the difference between the same request with and without it, once
   * everything else is in the connection's HPACK table. For an agent that does nothing else: an API server closes a
   * connection that brings a request without a credential.
   */
  async authorizationBytes(): Promise<number> {
    const sent = async (headers: Record<string, string>): Promise<number> => {
      const before = this.#socket?.bytesWritten ?? 0;
      const { body } = await this.#client.request({ method: "GET", path: "/version", headers });
      await body.dump();
      return (this.#socket?.bytesWritten ?? 0) - before;
    };
    const authorization = this.#authorization;
    await sent({ authorization });
    const withHeader = await sent({ authorization });
    const without = await sent({});
    await this.#client.close();
    return withHeader - without;
  }

  /** @returns undefined where there is no such object */
  async #request(method: "GET" | "PUT" | "POST", path: string, object?: object): Promise<KubeObject | undefined> {
    const { statusCode, body } = await this.#client.request({
      method,
      path,
      headersTimeout: TIMEOUT_MS,
      bodyTimeout: TIMEOUT_MS,
      headers: {
        accept: "application/json",
        authorization: this.#authorization,
        "user-agent": "baseline/1.0",
        ...(object === undefined ? {} : { "content-type": "application/json" }),
      },
      ...(object === undefined ? {} : { body: JSON.stringify(object) }),
    });
    if (statusCode === 404) {
      await body.dump();
      return undefined;
    }
    const answer = (await body.json()) as KubeObject;
    if (statusCode >= 300) throw new Error(`${method} ${path}: ${statusCode} ${JSON.stringify(answer)}`);
    return answer;
  }
}

serveCalls(calls);
