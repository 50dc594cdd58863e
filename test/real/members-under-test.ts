import assert from "node:assert/strict";
import type { RealCluster } from "../../infra/local/control-plane/real-cluster.ts";
import { CLUSTER_ID_ANNOTATION, paths } from "../../infra/local/leader/resources.ts";
import { announceRole } from "../../lib/antrea/announce-role.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { Connections } from "../../lib/kube/pool.ts";
import type { RoleWork } from "../../lib/relay/ports.ts";
import type { Condition } from "../../lib/state/condition.ts";
import { countedConnector } from "../antrea/counted-connector.ts";
import { MemoryStore } from "../antrea/memory-store.ts";
import { membershipOf, NAMESPACE, never, type WireStatus } from "../antrea/role-harness.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { memberManifests } from "../support/member-manifests.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { type AntreaClusters, AREA, furnishAntreaClusters } from "./antrea-clusters.ts";

export const MERGE_PATCH = "application/merge-patch+json";
export const BEAT_MS = 10_000;

/** Two members that are announced to a leader, all three on real API servers; time passes only beat by beat. */
export class MembersUnderTest {
  readonly clusters: AntreaClusters;
  readonly store: MemoryStore;
  /** What the role threw. */
  readonly bugs: readonly unknown[];
  /** Lets time pass, no faster than calls are answered. */
  readonly pass: (ms: number) => Promise<void>;
  readonly end: () => Promise<void>;

  private constructor(parts: Pick<MembersUnderTest, "clusters" | "store" | "bugs" | "pass" | "end">) {
    this.clusters = parts.clusters;
    this.store = parts.store;
    this.bugs = parts.bugs;
    this.pass = parts.pass;
    this.end = parts.end;
  }

  /**
   * Furnishes the clusters and starts to beat.
   * @param spoil what is done to the clusters before
   */
  static async start(spoil?: (clusters: AntreaClusters) => Promise<void>): Promise<MembersUnderTest> {
    const clock = new FakeClock(new Date());
    const random = seededRandom(1);
    const connections = new Connections({ clock: systemClock, random, version: "test" });
    const store = new MemoryStore();
    const bugs: unknown[] = [];
    const ids = ["east", "west"];
    const members = ids.map((cluster) => memberManifests(cluster, AREA));
    const clusters = await furnishAntreaClusters({ leader: [], members });
    await spoil?.(clusters);
    const kubeconfigs = new Map(clusters.members.map(({ cluster, kubeconfig }) => [cluster, kubeconfig]));
    const { connector, pass } = countedConnector(kubeconfigs, connections, clock);
    const bug = (error: unknown): void => void bugs.push(error);
    const telemetry = { beat: () => undefined, transition: () => undefined, bug };
    const role = announceRole("s", {
      clock,
      random,
      store,
      connector,
      telemetry,
      mayCreate: async () => true,
      keepLeader: async () => true,
      readKeptLeader: async () => undefined,
    });
    for (const cluster of ids) store.add(membershipOf(cluster));
    await role.prepare(store.revision, never);
    const ended = new AbortController();
    const working = workOf(role, ended.signal);
    const end = async (): Promise<void> => {
      ended.abort();
      await working;
      await role.close();
      await connections.close();
      await clusters.end();
    };
    return new MembersUnderTest({ clusters, store, bugs, pass, end });
  }

  ready(cluster: string): Condition | undefined {
    return this.store.condition(cluster, "Ready");
  }

  announcePath(cluster: string): string {
    return `${paths.announces(AREA)}/member-announce-from-${cluster}`;
  }

  async announce(cluster: string) {
    return await this.clusters.leaderCluster.admin.request("GET", this.announcePath(cluster));
  }

  async clusterSet(cluster: RealCluster) {
    return (await cluster.admin.request("GET", `${paths.clusterSets(NAMESPACE)}/set`)).body;
  }

  /** The ClusterSet's status in a member. */
  async status(cluster: RealCluster): Promise<WireStatus> {
    return ((await this.clusterSet(cluster))["status"] ?? {}) as WireStatus;
  }

  /** Says, in the leader, whose ServiceAccount that is. */
  async annotate(account: string, id: string | null): Promise<void> {
    await change(this.clusters.leaderCluster, `${paths.serviceAccounts(AREA)}/${account}`, {
      metadata: { annotations: { [CLUSTER_ID_ANNOTATION]: id } },
    });
  }

  /** Lets beats pass until it holds; two minutes of the role's time at most. */
  async beatsUntil(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let beat = 0; beat < 12; beat += 1) {
      if (await holds()) return;
      await this.pass(BEAT_MS);
    }
    assert.ok(await holds(), `${what}; east: ${show(this.ready("east"))}, west: ${show(this.ready("west"))}`);
  }
}

/** Changes an object as its cluster's administrator. */
export async function change(cluster: RealCluster, path: string, patch: object): Promise<void> {
  const { code, body } = await cluster.admin.request("PATCH", path, patch, MERGE_PATCH);
  assert.equal(code, 200, body.message);
}

/** Changes a member's Secret; null takes a key away. */
export async function changeSecret(cluster: RealCluster, data: Readonly<Record<string, string | null>>): Promise<void> {
  const encoded = Object.entries(data).map(([key, value]) => [
    key,
    value === null ? null : Buffer.from(value).toString("base64"),
  ]);
  const path = `/api/v1/namespaces/${NAMESPACE}/secrets/leader-token`;
  await change(cluster, path, { data: Object.fromEntries(encoded) });
}

async function workOf(role: RoleWork, signal: AbortSignal): Promise<void> {
  await role.work({
    fence: 1,
    holder: "w",
    previousRoundAt: undefined,
    signal,
    predecessorStopped: () => true,
    mayWrite: () => true,
    mayRepeat: () => true,
    reportRound: () => undefined,
  });
}

function show(condition: Condition | undefined): string {
  return `${condition?.status} ${condition?.cause ?? ""} ${condition?.message ?? ""}`;
}
