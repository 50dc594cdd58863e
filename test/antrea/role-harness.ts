import tls from "node:tls";
import type { AnnounceDependencies } from "../../lib/antrea/announce-deps.ts";
import { announceRole } from "../../lib/antrea/announce-role.ts";
import type { KeptLeader } from "../../lib/antrea/kept-leader.ts";
import type { ClusterConnector } from "../../lib/antrea/ports.ts";
import { announceRef, clusterSetRef, leaderSecretRef } from "../../lib/antrea/resources.ts";
import { gridOffsetMs } from "../../lib/base/grid.ts";
import { failed, ok } from "../../lib/base/result.ts";
import type { UserError } from "../../lib/base/user-error.ts";
import type { Hold, RoleWork } from "../../lib/relay/ports.ts";
import type { Membership } from "../../lib/state/membership.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { MemoryCluster, type MemoryRequest } from "./memory-cluster.ts";
import { MemoryStore } from "./memory-store.ts";

/** Any certificate will do: nothing is connected to. */
export const certificatePem = tls.rootCertificates[0] ?? "";

export const NAMESPACE = "kube-system";
export const COMMON_AREA = "antrea-multicluster";
export const never = new AbortController().signal;

/** What a hold was told, and what it says. */
export interface TestHold extends Hold {
  writable: boolean;
  clean: boolean;
  repeatable: boolean;
  readonly rounds: Parameters<Hold["reportRound"]>[0][];
  end(): void;
}

/** One shard of the role with members and leaders in memory, on a clock that stands still until it is advanced. */
export class RoleHarness {
  readonly clock = new FakeClock();
  readonly store = new MemoryStore();
  readonly members = new Map<string, MemoryCluster>();
  readonly leaders = new Map<string, MemoryCluster>();
  readonly beats: { readonly cluster: string; readonly outcome: string }[] = [];
  readonly bugs: unknown[] = [];
  /** Lines of the log, by message. */
  readonly transitions: string[] = [];
  /** Servers that a connection was made to, in order, with the path before their API. */
  readonly connected: string[] = [];
  role: RoleWork;
  accessFault: UserError | undefined;
  mayCreate = true;
  mayKeep = true;
  /** The leaders that were kept, in order. */
  readonly kept: (readonly [cluster: string, kept: KeptLeader])[] = [];
  readsOfKept = 0;
  readonly #deps: AnnounceDependencies;
  #working: Promise<void> | undefined;

  constructor() {
    const connector: ClusterConnector = {
      connectMember: async ({ cluster }) => {
        if (this.accessFault !== undefined) return failed(this.accessFault);
        return ok(this.member(cluster).client(cluster));
      },
      connectLeader: (cluster, { server, credential }) => {
        this.connected.push(server.href);
        return this.leader(server.host).client(cluster, credential.kind === "token" ? credential.token : "");
      },
    };
    this.#deps = {
      clock: this.clock,
      random: seededRandom(1),
      store: this.store,
      connector,
      telemetry: {
        beat: (of) => void this.beats.push(of),
        transition: (message) => void this.transitions.push(message),
        bug: (error) => void this.bugs.push(error),
      },
      mayCreate: async () => this.mayCreate,
      keepLeader: async (cluster, kept) => {
        if (this.mayKeep) this.kept.push([cluster, kept]);
        return this.mayKeep;
      },
      readKeptLeader: async (cluster) => {
        this.readsOfKept += 1;
        return this.kept.findLast(([name]) => name === cluster)?.[1];
      },
    };
    this.role = announceRole("s", this.#deps);
  }

  /** Another process takes the place of this one: nothing is remembered. */
  async replaceProcess(): Promise<void> {
    await this.role.close();
    this.role = announceRole("s", this.#deps);
  }

  member(cluster: string): MemoryCluster {
    return getOrMake(this.members, cluster);
  }

  leader(host = "north"): MemoryCluster {
    return getOrMake(this.leaders, host);
  }

  /** A membership in the table; its ClusterSet and Secret in the member unless told otherwise. */
  join(
    cluster: string,
    more: { readonly leader?: string; readonly bare?: boolean } & Omit<Partial<Membership>, "leader"> = {},
  ): void {
    const { leader = "north", bare = false, ...change } = more;
    this.store.add({ ...membershipOf(cluster), ...change });
    if (bare) return;
    this.clusterSet(cluster, leader);
    this.secret(cluster);
  }

  clusterSet(cluster: string, leader = "north", spec: Record<string, unknown> = {}): void {
    const ref = clusterSetRef(NAMESPACE, "set");
    const before = this.member(cluster).read(ref);
    this.member(cluster).put(ref, {
      ...before,
      metadata: { ...before?.metadata },
      spec: {
        clusterID: cluster,
        leaders: [{ clusterID: leader, server: `https://${leader}:6443`, secret: "leader-token" }],
        namespace: COMMON_AREA,
        ...spec,
      },
    });
  }

  secret(cluster: string, data: Record<string, string> = { "ca.crt": certificatePem, token: "token-1" }): void {
    const encoded = Object.entries(data).map(([key, value]) => [key, Buffer.from(value).toString("base64")]);
    this.member(cluster).put(leaderSecretRef(NAMESPACE, "leader-token"), {
      metadata: {},
      data: Object.fromEntries(encoded),
    });
  }

  /** Prepares and begins to work under the given fence. */
  async start(fence = 1, more: Partial<Pick<TestHold, "writable" | "clean">> = {}): Promise<TestHold> {
    await this.prepare();
    const ended = new AbortController();
    const hold: TestHold = {
      fence,
      holder: `window-${fence}`,
      previousRoundAt: undefined,
      signal: ended.signal,
      writable: true,
      clean: true,
      repeatable: true,
      rounds: [],
      mayWrite: () => hold.writable,
      predecessorStopped: () => hold.clean,
      mayRepeat: () => hold.repeatable,
      reportRound: (round) => void hold.rounds.push(round),
      end: () => ended.abort(),
      ...more,
    };
    this.#working = this.role.work(hold);
    await this.clock.advance(0);
    return hold;
  }

  async prepare(): Promise<void> {
    const settled = new AbortController();
    const prepared = this.role.prepare(this.store.revision, never).finally(() => settled.abort());
    await this.clock.advance(0);
    while (!settled.signal.aborted) await this.clock.advance(1_000);
    const result = await prepared;
    if (!result.ok) throw new Error(result.error.message);
  }

  async stop(hold: TestHold): Promise<void> {
    hold.end();
    await this.clock.advance(0);
    await this.#working;
  }

  /** The announce of a member, as it stands on the leader. */
  announce(cluster: string, leader = "north"): ReturnType<MemoryCluster["read"]> {
    return this.leader(leader).read(announceRef(COMMON_AREA, cluster));
  }

  /** `status` of the member's ClusterSet. */
  status(cluster: string): WireStatus {
    return this.member(cluster).read(clusterSetRef(NAMESPACE, "set"))?.["status"] as WireStatus;
  }

  /** `Ready` and `IsLeader` in the table, and the line for lists. */
  shown(cluster: string): readonly (string | undefined)[] {
    const status = (type: string): string | undefined => this.store.condition(cluster, type)?.status;
    return [status("Ready"), status("IsLeader"), this.store.memberships.get(cluster)?.summary.state];
  }

  /** Requests to the leader about one member since `from`. */
  requests(cluster: string, from = 0): readonly MemoryRequest[] {
    return this.leader()
      .requests.slice(from)
      .filter((r) => r.name.endsWith(`from-${cluster}`));
  }

  /** Advances to just after the member's next grid point. */
  async toGridPoint(cluster: string): Promise<void> {
    const offset = gridOffsetMs(cluster, 10_000);
    const now = this.clock.now().getTime();
    await this.clock.advance(10_000 - ((now - offset) % 10_000) + 1);
  }
}

/** A ClusterSet's status on the wire. */
export interface WireStatus {
  readonly observedGeneration?: number;
  readonly totalClusters?: number;
  readonly readyClusters?: number;
  readonly clusterStatuses?: { clusterID: string; conditions: Record<string, string>[] }[];
  readonly conditions?: Record<string, string>[];
}

export function membershipOf(cluster: string): Membership {
  return {
    cluster,
    protocol: "antrea",
    access: { kubeconfig: { file: cluster } },
    antrea: { namespace: NAMESPACE },
    options: { failureThreshold: 3, networkProfile: "default" },
    shard: "s",
    phase: "joined",
    assignment: 1,
    connectedOnce: false,
    createdAt: 0,
    createdBy: "test",
    updatedAt: 0,
    summary: { state: "Pending", since: 0 },
  };
}

function getOrMake(map: Map<string, MemoryCluster>, key: string): MemoryCluster {
  const found = map.get(key) ?? new MemoryCluster();
  map.set(key, found);
  return found;
}
