import { judge, type MemberStatus, seen } from "../../../infra/local/leader/member-status.ts";
import { announceRole } from "../../../lib/antrea/announce-role.ts";
import type { AnnounceStore, ClusterConnector } from "../../../lib/antrea/ports.ts";
import { announceRef, clusterSetRef, leaderSecretRef } from "../../../lib/antrea/resources.ts";
import { gridOffsetMs } from "../../../lib/base/grid.ts";
import { failed, ok } from "../../../lib/base/result.ts";
import type { RoleWork } from "../../../lib/relay/ports.ts";
import { DEFAULT_TIMING } from "../../../lib/relay/timing.ts";
import { runWindow } from "../../../lib/relay/window.ts";
import { EPOCH_MS, SimulatedProcess } from "../../relay/simulation/process.ts";
import { SimulatedStore } from "../../relay/simulation/store.ts";
import { settle, World } from "../../relay/simulation/world.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { MemoryCluster } from "../memory-cluster.ts";
import { MemoryStore } from "../memory-store.ts";
import { COMMON_AREA, certificatePem, membershipOf, NAMESPACE, never } from "../role-harness.ts";
import { lossyClient } from "./lossy-client.ts";

/** What a simulated time is made of. */
export interface DayOptions {
  readonly hours: number;
  readonly seed: number;
  /** Share of requests to clusters and table that are lost. */
  readonly lost: number;
  readonly members: readonly string[];
  /** Each firing arrives twice, a few milliseconds apart, and once more seven minutes later. */
  readonly repeated?: boolean;
}

/** What came of it. */
export interface DayReport {
  readonly beats: number;
  readonly handovers: number;
  readonly deployments: number;
  /** Grid points in whose interval no beat arrived, in words. */
  readonly missed: readonly string[];
  /** Changes of a member's state as the leader counts it, its first one left out. */
  readonly disconnects: readonly string[];
  /** Longest time between two beats of one member, in milliseconds. */
  readonly longestGapMs: number;
  /** Kinds of history events, with how often each was written. */
  readonly events: Readonly<Record<string, number>>;
  /** The most beats of one member beyond one for each interval. */
  readonly mostExtra: number;
  /** How the invocations ended. */
  readonly results: Readonly<Record<string, number>>;
  readonly bugs: readonly unknown[];
}

const WINDOW_MS = 900_000;
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const OLD_EVENT_MS = 7 * MINUTE_MS;
/** Clocks as good as NTP makes them. */
const SKEW_MS = 40;
const KEY = { role: "announce", scope: "s" };

/**
 * Hours of a shard in one process: the relay's windows with the role `announce` in them, handed over every ten minutes, a
 * deployment every two hours, and a leader that counts its members as Antrea's does.
 */
export async function simulateDay(options: DayOptions): Promise<DayReport> {
  const day = new Day(options);
  const endMs = options.hours * HOUR_MS;
  while (day.world.step(endMs)) await settle();
  return day.report(endMs);
}

class Day {
  readonly world = new World();
  readonly #options: DayOptions;
  readonly #random: ReturnType<typeof seededRandom>;
  readonly #batons: SimulatedStore;
  readonly #store = new MemoryStore();
  readonly #leader = new MemoryCluster();
  readonly #members = new Map<string, MemoryCluster>();
  readonly #seen = new Map<string, MemberStatus>();
  readonly #arrivals = new Map<string, number[]>();
  readonly #disconnects: string[] = [];
  readonly #results: string[] = [];
  readonly #bugs: unknown[] = [];
  #deployedAt = EPOCH_MS;
  #deployments = 0;
  #ids = 0;

  constructor(options: DayOptions) {
    this.#options = options;
    this.#random = seededRandom(options.seed);
    this.#batons = new SimulatedStore(this.world, this.#random);
    this.#batons.faults = { throttled: options.lost, lostAnswer: options.lost, late: 0, latencyMs: 8 };
    for (const cluster of options.members) this.#join(cluster);
    this.#every(
      MINUTE_MS,
      () => this.#random.next() * MINUTE_MS,
      () => this.#fire(),
    );
    this.#every(
      2 * HOUR_MS,
      () => HOUR_MS / 2 + this.#random.next() * HOUR_MS,
      () => this.#deploy(),
    );
    this.#every(
      10_000,
      () => 0,
      () => this.#judge(),
    );
  }

  report(endMs: number): DayReport {
    const arrivals = [...this.#arrivals];
    return {
      beats: arrivals.reduce((sum, [, at]) => sum + at.length, 0),
      handovers: (this.#batons.inner.peek(KEY)?.fence ?? 1) - 1,
      deployments: this.#deployments,
      missed: arrivals.flatMap(([cluster, at]) => missedPoints(cluster, at, endMs)),
      disconnects: this.#disconnects,
      longestGapMs: Math.max(...arrivals.flatMap(([, at]) => at.slice(1).map((ms, i) => ms - (at[i] ?? 0)))),
      mostExtra: Math.max(...arrivals.map(([, at]) => extraBeats(at))),
      results: counted(this.#results),
      events: counted(this.#store.events.map(({ kind }) => kind)),
      bugs: this.#bugs,
    };
  }

  /** Calls `act` once in each period, `within` it. */
  #every(periodMs: number, within: () => number, act: () => void): void {
    const { world } = this;
    const begin = (startMs: number): void => {
      world.at(startMs + within(), act);
      world.at(startMs + periodMs, () => begin(startMs + periodMs));
    };
    begin(0);
  }

  #join(cluster: string): void {
    const member = new MemoryCluster();
    this.#members.set(cluster, member);
    const encode = (text: string): string => Buffer.from(text).toString("base64");
    const leaders = [{ clusterID: "north", server: "https://north:6443", secret: "leader-token" }];
    member.put(clusterSetRef(NAMESPACE, "set"), {
      metadata: {},
      spec: { clusterID: cluster, leaders, namespace: COMMON_AREA },
    });
    const data = { "ca.crt": encode(certificatePem), token: encode(`token-of-${cluster}`) };
    member.put(leaderSecretRef(NAMESPACE, "leader-token"), { metadata: {}, data });
    this.#store.add(membershipOf(cluster));
  }

  #deploy(): void {
    this.#deployments += 1;
    this.#deployedAt = EPOCH_MS + Math.floor(this.world.nowMs);
  }

  #judge(): void {
    for (const [cluster, before] of this.#seen) {
      const now = judge(before, this.world.nowMs);
      this.#seen.set(cluster, now);
      if (before.connected && !now.connected) this.#disconnects.push(`${cluster} at ${seconds(this.world.nowMs)}`);
    }
  }

  #fire(): void {
    void this.#invoke();
    if (this.#options.repeated !== true) return;
    const { world } = this;
    world.at(world.nowMs + 5 * this.#random.next(), () => void this.#invoke());
    world.at(world.nowMs + OLD_EVENT_MS, () => void this.#invoke());
  }

  async #invoke(): Promise<void> {
    const process = new SimulatedProcess(this.world, (2 * this.#random.next() - 1) * SKEW_MS);
    const batons = this.#batons.clientOf(process);
    const endMs = this.world.nowMs + WINDOW_MS;
    const { kind } = await runWindow({
      key: KEY,
      shard: "s",
      store: batons,
      revisions: { readRevision: async () => ok(this.#store.revision) },
      work: this.#work(process),
      clock: process,
      random: this.#random,
      ids: { uuid: () => `id-${(this.#ids += 1)}` },
      remainingMs: () => endMs - this.world.nowMs,
      deployedAt: this.#deployedAt,
      standby: "cold",
      repeatable: true,
      signal: never,
      timing: DEFAULT_TIMING,
    });
    this.#results.push(kind);
  }

  #work(process: SimulatedProcess): RoleWork {
    return announceRole("s", {
      clock: process,
      random: this.#random,
      store: this.#lossyStore(process),
      connector: this.#connector(process),
      telemetry: {
        beat: () => undefined,
        transition: () => undefined,
        bug: (error) => void this.#bugs.push(error),
      },
      mayCreate: async () => true,
      keepLeader: async () => true,
      readKeptLeader: async () => undefined,
    });
  }

  #connector(process: SimulatedProcess): ClusterConnector {
    const wire = { process, random: this.#random, lost: this.#options.lost };
    return {
      connectMember: async ({ cluster }) => {
        const member = this.#members.get(cluster);
        if (member === undefined) throw new Error(`no member ${cluster}`);
        member.requests.length = 0;
        return ok(lossyClient(member.client(cluster), wire));
      },
      connectLeader: (cluster) => lossyClient(this.#counting(cluster.replace("leader of ", "")), wire),
    };
  }

  /** The leader as one member uses it; each changed announce is an event for the leader's controller. */
  #counting(cluster: string): ReturnType<MemoryCluster["client"]> {
    const client = this.#leader.client(cluster);
    const version = (): string | undefined =>
      this.#leader.read(announceRef(COMMON_AREA, cluster))?.metadata.resourceVersion;
    const counted = async <T>(act: () => Promise<T>): Promise<T> => {
      this.#leader.requests.length = 0;
      const before = version();
      const answer = await act();
      if (version() !== before) this.#arrived(cluster);
      return answer;
    };
    return {
      ...client,
      create: (type, namespace, object, options) => counted(() => client.create(type, namespace, object, options)),
      mergePatch: (ref, patch, options) => counted(() => client.mergePatch(ref, patch, options)),
    };
  }

  #arrived(cluster: string): void {
    const { nowMs } = this.world;
    this.#seen.set(cluster, seen(this.#seen.get(cluster), cluster, nowMs));
    const before = this.#arrivals.get(cluster);
    if (before === undefined) this.#arrivals.set(cluster, [nowMs]);
    else before.push(nowMs);
  }

  #lossyStore(process: SimulatedProcess): AnnounceStore {
    const away = failed({ kind: "timeout", message: "no answer in time" } as const);
    const lossy =
      <A extends unknown[], R>(call: (...args: A) => Promise<R>) =>
      async (...args: A): Promise<R | typeof away> => {
        await process.sleep(4 + 10 * this.#random.next());
        const arrives = this.#random.next();
        if (arrives < this.#options.lost / 2) return away;
        const answer = await call(...args);
        return arrives > 1 - this.#options.lost / 2 ? away : answer;
      };
    const store = this.#store;
    return {
      readShardMemberships: lossy(store.readShardMemberships),
      readConditions: lossy(store.readConditions),
      writeConditions: lossy(store.writeConditions),
      fenceConditions: lossy(store.fenceConditions),
      updateMembership: lossy(store.updateMembership),
      writeEvent: lossy(store.writeEvent),
    };
  }
}

/** Beats beyond one for each interval between the first and the last. */
function extraBeats(arrivals: readonly number[]): number {
  const lastedMs = (arrivals.at(-1) ?? 0) - (arrivals[0] ?? 0);
  return arrivals.length - 1 - Math.round(lastedMs / DEFAULT_TIMING.intervalMs);
}

/** Grid points without a beat before the next one; a tenth of a second allows for the clocks. */
function missedPoints(cluster: string, arrivals: readonly number[], endMs: number): readonly string[] {
  const { intervalMs } = DEFAULT_TIMING;
  const slackMs = 100;
  const offsetMs = gridOffsetMs(cluster, intervalMs);
  const missed: string[] = [];
  let index = 0;
  const firstMs = Math.ceil(((arrivals[0] ?? 0) - offsetMs) / intervalMs) * intervalMs + offsetMs;
  for (let pointMs = firstMs; pointMs + intervalMs < endMs; pointMs += intervalMs) {
    while ((arrivals[index] ?? Number.POSITIVE_INFINITY) < pointMs - slackMs) index += 1;
    if ((arrivals[index] ?? Number.POSITIVE_INFINITY) >= pointMs + intervalMs - slackMs)
      missed.push(`${cluster}: the beat of ${seconds(pointMs)}`);
  }
  return missed;
}

function counted(kinds: readonly string[]): Readonly<Record<string, number>> {
  const count: Record<string, number> = {};
  for (const kind of kinds) count[kind] = (count[kind] ?? 0) + 1;
  return count;
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
