import { announceRole } from "../../../lib/antrea/announce-role.ts";
import type { AnnounceTelemetry, ClusterConnector } from "../../../lib/antrea/ports.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { systemIds } from "../../../lib/base/ids.ts";
import { ok } from "../../../lib/base/result.ts";
import { KubeconfigReader } from "../../../lib/credentials/kubeconfig.ts";
import { Connections } from "../../../lib/kube/pool.ts";
import { DEFAULT_TIMING } from "../../../lib/relay/timing.ts";
import { runWindow } from "../../../lib/relay/window.ts";
import { createBeatTelemetry } from "../../../lib/runtime/beat-telemetry.ts";
import { createLog, createLogger } from "../../../lib/runtime/log.ts";
import { createRoleMetrics } from "../../../lib/runtime/metrics.ts";
import { VERSION } from "../../../lib/runtime/version.ts";
import { createClusterConnector } from "../../../lib/runtime/wiring-clusters.ts";
import type { Membership } from "../../../lib/state/membership.ts";
import { MemoryStore } from "../../antrea/memory-store.ts";
import { InMemoryBatonStore } from "../../support/in-memory-baton-store.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { serveCalls } from "../child.ts";
import { sampleIntervals, sampleRetained } from "../sampling.ts";
import { MembersInMemory } from "./member-in-memory.ts";
import { type BenchMember, type DriverCalls, MEMBER_NAMESPACE, type RunningLeader } from "./protocol.ts";

/**
 * The process of Hawser: the role `announce` in a window of the relay, wired as the function wires it (clients,
 * connections, telemetry), except that the table is in memory and that the window does not end.
 */

const SHARD = "bench";
/** Never less: a window that nears its end would ask to be relieved. */
const REMAINING_MS = 900_000;

const calls: DriverCalls = {
  begin: async ({ leader, seed }) => {
    const store = new MemoryStore();
    for (const member of leader.members) store.add(membershipOf(member));
    const announced = new Announced(leader.members.length);
    runRole(store, connectorOf(leader, seed), seed, announced);
    await announced.all;
    return {};
  },
  measure: sampleIntervals,
  retained: sampleRetained,
};

/** Who has announced at least once. */
class Announced {
  readonly #clusters = new Set<string>();
  readonly #count: number;
  readonly #done = Promise.withResolvers<void>();

  constructor(count: number) {
    this.#count = count;
    if (count === 0) this.#done.resolve();
  }

  get all(): Promise<void> {
    return this.#done.promise;
  }

  add(cluster: string): void {
    if (this.#clusters.size === this.#count) return;
    if (this.#clusters.add(cluster).size === this.#count) this.#done.resolve();
  }
}

function connectorOf(leader: RunningLeader, seed: number): ClusterConnector {
  const connections = new Connections({ clock: systemClock, random: seededRandom(seed), version: VERSION });
  const members = new Map(leader.members.map((member) => [member.cluster, member]));
  const inMemory = new MembersInMemory(leader);
  const connector = createClusterConnector({
    connections,
    kubeconfigs: new KubeconfigReader({
      clock: systemClock,
      parameters: { read: async (name) => ok(members.get(name)?.kubeconfig ?? "") },
      fileAccess: false,
    }),
    fileAccess: false,
  });
  return {
    connectLeader: (cluster, connection) => connector.connectLeader(cluster, connection),
    connectMember: async (of, signal) => {
      const member = members.get(of.cluster);
      if (member === undefined) throw new Error(`the bench has no member ${of.cluster}`);
      return member.kubeconfig === undefined ? ok(inMemory.connect(member)) : connector.connectMember(of, signal);
    },
  };
}

function runRole(store: MemoryStore, connector: ClusterConnector, seed: number, announced: Announced): void {
  const clock = systemClock;
  const random = seededRandom(seed);
  const log = createLog(createLogger());
  const facts = { role: "announce", shard: SHARD };
  const metrics = createRoleMetrics(clock, { stage: "bench", ...facts });
  const real = createBeatTelemetry(
    { clock, log, metrics },
    { ...facts, protocol: "antrea" },
    DEFAULT_TIMING.intervalMs,
  );
  const telemetry: AnnounceTelemetry = {
    ...real,
    beat: (report) => {
      real.beat(report);
      if (report.outcome === "ok") announced.add(report.cluster);
    },
  };
  const work = announceRole(SHARD, {
    clock,
    random,
    store,
    connector,
    telemetry,
    mayCreate: async () => true,
    keepLeader: async () => true,
    readKeptLeader: async () => undefined,
  });
  const window = runWindow({
    key: { role: "announce", scope: SHARD },
    shard: SHARD,
    store: new InMemoryBatonStore(),
    revisions: { readRevision: async () => ok(store.revision) },
    work,
    clock,
    random,
    ids: systemIds(clock, random),
    remainingMs: () => REMAINING_MS,
    deployedAt: 0,
    standby: "cold",
    repeatable: true,
    signal: new AbortController().signal,
  });
  // Only a bug ends it; the process ends with it, and the bench with the process.
  void window.then((result) => {
    throw new Error(`the window ended: ${JSON.stringify(result)}`);
  });
}

function membershipOf({ cluster, kubeconfig }: BenchMember): Membership {
  return {
    cluster,
    protocol: "antrea",
    access: { kubeconfig: { ssm: cluster } },
    antrea: { namespace: kubeconfig === undefined ? MEMBER_NAMESPACE : cluster },
    options: { failureThreshold: 3, networkProfile: "default" },
    shard: SHARD,
    phase: "joined",
    assignment: 1,
    connectedOnce: true,
    createdAt: 0,
    createdBy: "bench",
    updatedAt: 0,
    summary: { state: "Pending", since: 0 },
  };
}

serveCalls(calls);
