import { MemberSync } from "../../../lib/antrea/imports/member-sync.ts";
import {
  DEFAULT_WATCH_TIMING,
  type SyncConnector,
  type WatchDependencies,
} from "../../../lib/antrea/imports/sync-ports.ts";
import { MemberVisits } from "../../../lib/antrea/member-visit.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { systemIds } from "../../../lib/base/ids.ts";
import { systemRandom } from "../../../lib/base/random.ts";
import { ok } from "../../../lib/base/result.ts";
import { connectionFromKubeconfig } from "../../../lib/kube/access/kubeconfig.ts";
import type { Connection, Purpose } from "../../../lib/kube/connection.ts";
import { createKubeClient } from "../../../lib/kube/http-kube-client.ts";
import { Connections } from "../../../lib/kube/pool.ts";
import { openState, type State } from "../../../lib/state/state.ts";
import { Child } from "../child.ts";
import type { ImportsBenchOptions } from "../imports.ts";
import { describeMachine } from "../machine.ts";
import { markdownTable, showNumber } from "../markdown.ts";
import { type Percentiles, percentilesOf } from "../statistics.ts";
import type { BenchRequests, BenchServerCalls, BenchServers } from "./server.ts";

/** What a part of the bench came to. */
interface Part {
  readonly ms: number;
  readonly requests: BenchRequests;
  /** The most that was seen, in MB. */
  readonly rssMB: number;
}

/** All figures. */
interface ImportsFigures {
  readonly size: number;
  readonly events: number;
  /** From the write in the leader to the object in the member, in milliseconds. */
  readonly latency: Percentiles | undefined;
  readonly latencyRequests: BenchRequests;
  /** Everything is new. */
  readonly install: Part;
  /** Everything is right already: a complete compare. */
  readonly compare: Part;
}

/** Measures and reports. */
export async function runImports({ size, events, json }: ImportsBenchOptions): Promise<void> {
  process.env["AWS_ACCESS_KEY_ID"] ??= "local";
  process.env["AWS_SECRET_ACCESS_KEY"] ??= "local";
  await using servers = new Child<BenchServerCalls>(new URL("./server.ts", import.meta.url));
  const places = await servers.call("start", null);
  const bench = await Bench.open(places);
  try {
    const figures = await measure(bench, servers, size, events);
    const machine = describeMachine();
    console.log(json ? JSON.stringify({ bench: "imports", machine, ...figures }, null, 2) : report(figures, machine));
  } finally {
    await bench.close();
  }
}

async function measure(
  bench: Bench,
  servers: Child<BenchServerCalls>,
  size: number,
  events: number,
): Promise<ImportsFigures> {
  const part = async (work: () => Promise<void>): Promise<Part> => {
    await servers.call("requests", null);
    const began = performance.now();
    const sampling = sampleRss();
    await work();
    const rssMB = sampling.end();
    return { ms: performance.now() - began, requests: await servers.call("requests", null), rssMB };
  };
  console.error(`imports: writing ${size} into the leader`);
  await servers.call("put", { count: size, port: 80 });
  console.error("imports: installing them");
  const install = await part(async () => await bench.window(async () => await bench.applied(size)));
  console.error("imports: a complete compare");
  const compare = await part(async () => {
    await bench.forgetCursor();
    await bench.window(async () => await bench.compared(size));
  });
  console.error(`imports: ${events} events`);
  const latencies: number[] = [];
  await bench.window(async () => {
    await bench.watching();
    await servers.call("requests", null);
    for (let i = 0; i < events; i += 1) {
      latencies.push(await servers.call("time", { name: `import-${i % size}`, port: 1_000 + i }));
    }
  });
  const latencyRequests = await servers.call("requests", null);
  return { size, events, latency: percentilesOf(latencies), latencyRequests, install, compare };
}

/** One member's sync, window by window, over HTTPS and the AWS SDK. */
class Bench {
  readonly #state: State;
  readonly #connections = new Connections({ clock: systemClock, random: systemRandom, version: "bench" });
  #fence = 0;
  #settled = 0;
  #compares = 0;
  #leader: Connection | undefined;
  #member: Connection | undefined;

  private constructor(places: BenchServers) {
    this.#state = openState({
      tableName: places.tableName,
      endpoint: places.tableUrl,
      region: "local",
      clock: systemClock,
      random: systemRandom,
      ids: systemIds(systemClock, systemRandom),
    });
  }

  static async open(places: BenchServers): Promise<Bench> {
    const bench = new Bench(places);
    bench.#leader = await connectionOf(places.leader);
    bench.#member = await connectionOf(places.member);
    const spec = {
      cluster: "east",
      protocol: "antrea",
      access: { kubeconfig: { file: "east" } },
      antrea: { namespace: "kube-system" },
      options: { failureThreshold: 3, networkProfile: "default" },
    } as const;
    const signal = AbortSignal.timeout(30_000);
    const created = await bench.#state.createMembership({ spec, createdBy: "bench" }, signal);
    if (!created.ok) throw new Error(created.error.message);
    return bench;
  }

  async close(): Promise<void> {
    await this.#connections.close();
    this.#state.close();
  }

  /** A window, for as long as `what` takes. */
  async window(what: () => Promise<void>): Promise<void> {
    this.#fence += 1;
    this.#settled = 0;
    this.#compares = 0;
    const membership = await this.#state.readMembership("east", "antrea", AbortSignal.timeout(30_000));
    if (!membership.ok || membership.value === undefined) throw new Error("no membership");
    const deps = this.#dependencies();
    const visits = new MemberVisits(systemClock, deps.connector, DEFAULT_WATCH_TIMING.callMs);
    const sync = new MemberSync(membership.value, { deps, timing: DEFAULT_WATCH_TIMING, visits, pollMs: undefined });
    const ending = new AbortController();
    const ended = sync.run({ fence: this.#fence, mayWrite: () => true }, ending.signal);
    await what();
    ending.abort();
    await ended;
  }

  /** Until so many imports have come to rest. */
  async applied(count: number): Promise<void> {
    while (this.#settled < count) await systemClock.sleep(5);
  }

  /** Until a complete compare has looked at so many. */
  async compared(count: number): Promise<void> {
    while (this.#compares === 0) await systemClock.sleep(5);
    await this.applied(count);
  }

  /** Until the window watches: a little later than its start, as it has nothing to compare. */
  async watching(): Promise<void> {
    await systemClock.sleep(2_000);
  }

  async forgetCursor(): Promise<void> {
    await this.#state.deleteCursor("east", "resourceimports", AbortSignal.timeout(30_000));
  }

  #dependencies(): WatchDependencies {
    const client = (cluster: string, connection: Connection | undefined, purpose: Purpose) => {
      if (connection === undefined) throw new Error("not connected");
      return createKubeClient({ cluster, connection, purpose, connections: this.#connections });
    };
    const connector: SyncConnector = {
      connectMember: async () => ok(client("east", this.#member, "member")),
      watchLeader: (cluster) => client(cluster, this.#leader, "watch"),
    };
    return {
      clock: systemClock,
      random: systemRandom,
      store: this.#state,
      connector,
      telemetry: {
        settled: () => {
          this.#settled += 1;
        },
        compared: () => {
          this.#compares += 1;
        },
        transition: () => undefined,
        bug: (error) => console.error(error),
      },
    };
  }
}

async function connectionOf(kubeconfig: string): Promise<Connection> {
  const connection = await connectionFromKubeconfig(kubeconfig, {});
  if (!connection.ok) throw new Error(connection.error.problem);
  return connection.value;
}

function sampleRss(): { end(): number } {
  let most = process.memoryUsage.rss();
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 20);
  return {
    end: () => {
      clearInterval(timer);
      return most / 1_048_576;
    },
  };
}

function report({ size, events, latency, latencyRequests, install, compare }: ImportsFigures, machine: object): string {
  const each = (count: number, of: number): string => showNumber(count / of);
  const partRow = (name: string, { ms, requests, rssMB }: Part): readonly string[] => [
    name,
    showNumber(ms / 1_000),
    each(requests.leader, size),
    each(requests.member, size),
    each(requests.memberWrites, size),
    showNumber(rssMB),
  ];
  return [
    `# Imports: ${size} of them, ${events} events`,
    "",
    markdownTable(
      ["", "s", "leader requests each", "member requests each", "member writes each", "RSS, MB"],
      [partRow("all are new", install), partRow("complete compare, all are right", compare)],
    ),
    "",
    markdownTable(
      ["event to object, ms", "p50", "p99", "max", "member requests each"],
      [
        [
          "one after the other",
          showNumber(latency?.p50),
          showNumber(latency?.p99),
          showNumber(latency?.max),
          each(latencyRequests.member, events),
        ],
      ],
    ),
    "",
    JSON.stringify(machine),
  ].join("\n");
}
