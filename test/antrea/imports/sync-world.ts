import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import tls from "node:tls";
import { type SimulatedCluster, startSimulatedCluster } from "../../../infra/local/cluster/simulated-cluster.ts";
import type { ApiObject } from "../../../infra/local/cluster/types.ts";
import { MemberSync } from "../../../lib/antrea/imports/member-sync.ts";
import {
  DEFAULT_WATCH_TIMING,
  type SyncConnector,
  type WatchDependencies,
  type WatchTiming,
} from "../../../lib/antrea/imports/sync-ports.ts";
import { MemberVisits } from "../../../lib/antrea/member-visit.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { failed, ok } from "../../../lib/base/result.ts";
import { connectionFromKubeconfig } from "../../../lib/kube/access/kubeconfig.ts";
import type { KubeClient } from "../../../lib/kube/client.ts";
import type { Purpose } from "../../../lib/kube/connection.ts";
import { createKubeClient } from "../../../lib/kube/http-kube-client.ts";
import { Connections } from "../../../lib/kube/pool.ts";
import type { Condition } from "../../../lib/state/condition.ts";
import type { HistoryEvent } from "../../../lib/state/history.ts";
import type { ImportRecord } from "../../../lib/state/imports.ts";
import type { State } from "../../../lib/state/state.ts";
import { specOf as membershipSpec } from "../../state/membership-samples.ts";
import { must, never, type TestServer } from "../../state/test-table.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { settleIo } from "../../support/until.ts";
import type { WireSpec } from "./import-world.ts";

const CRDS = new URL("../../../infra/kubernetes/crds/", import.meta.url).pathname;
const GROUP = "multicluster.crd.antrea.io";
const COMMON_AREA = "antrea-multicluster";

const STORE_CALLS = [
  "readCursor",
  "listImports",
  "writeImport",
  "deleteImport",
  "writeCursor",
  "writeCondition",
] as const;
const MEMBER_CALLS = ["list", "get", "create", "update", "delete"] as const;

/** A window's sync under way. */
interface Window {
  readonly ending: AbortController;
  readonly ended: Promise<void>;
}

/** One member and its leader over HTTPS, a table, and windows that follow each other. */
export class SyncWorld {
  readonly clock = new FakeClock(new Date());
  readonly member: SimulatedCluster;
  readonly leader: SimulatedCluster;
  readonly state: State;
  readonly bugs: unknown[] = [];
  mayWrite = true;
  fence = 0;
  timing: WatchTiming = DEFAULT_WATCH_TIMING;
  pollMs: number | undefined;
  /** Asked before and after each effect of a window: a promise that never resolves kills it there. */
  point: ((name: string) => Promise<void>) | undefined;
  readonly #connections: Connections;
  readonly #leaderRequests: string[] = [];
  readonly #memberRequests: string[] = [];
  #window: Window | undefined;

  private constructor(parts: Pick<SyncWorld, "member" | "leader" | "state">, connections: Connections) {
    this.member = parts.member;
    this.leader = parts.leader;
    this.state = parts.state;
    this.#connections = connections;
    const log = (of: SimulatedCluster, to: string[]): void =>
      void of.requestLog.subscribeReceived(({ verb, resource = "", name = "" }) => {
        to.push(name === "" ? `${verb} ${resource}` : `${verb} ${resource}/${name}`);
      });
    log(this.member, this.#memberRequests);
    log(this.leader, this.#leaderRequests);
  }

  static async start(server: TestServer): Promise<SyncWorld> {
    const random = seededRandom(3);
    const crds = readdirSync(CRDS).map((file) => readFileSync(join(CRDS, file), "utf8"));
    const namespaces = ["shop", COMMON_AREA].map(
      (name) => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`,
    );
    const manifests = [...crds, ...namespaces];
    const member = await startSimulatedCluster({ name: "east", clock: systemClock, random, manifests });
    const leader = await startSimulatedCluster({ name: "north", clock: systemClock, random, manifests });
    const state = (await server.table()).open();
    must(await state.createMembership({ spec: membershipSpec("east"), createdBy: "test", clusterUID: "uid" }, never));
    const connections = new Connections({ clock: systemClock, random, version: "test" });
    const world = new SyncWorld({ member, leader, state }, connections);
    await world.nameLeader("north");
    return world;
  }

  async end(): Promise<void> {
    await this.close();
    await this.#connections.close();
    await this.member.stop();
    await this.leader.stop();
  }

  /** The member's ClusterSet and Secret name a leader; whatever it is called, it is this world's. */
  async nameLeader(leader: string, token = "token"): Promise<void> {
    const encode = (text: string): string => Buffer.from(text).toString("base64");
    await this.member.engine.apply({
      apiVersion: `${GROUP}/v1alpha2`,
      kind: "ClusterSet",
      metadata: { name: "set", namespace: "kube-system" },
      spec: {
        clusterID: "east",
        leaders: [{ clusterID: leader, server: `https://${leader}:6443`, secret: "leader-token" }],
        namespace: COMMON_AREA,
      },
    });
    await this.member.engine.apply({
      apiVersion: "v1",
      kind: "Secret",
      metadata: { name: "leader-token", namespace: "kube-system" },
      data: { "ca.crt": encode(tls.rootCertificates[0] ?? ""), token: encode(token) },
    });
  }

  /** A window begins: another process under a higher fence. */
  async open(): Promise<void> {
    this.fence += 1;
    const deps: WatchDependencies = {
      clock: this.clock,
      random: seededRandom(this.fence),
      store: this.#killable(this.state, STORE_CALLS, "table"),
      connector: this.#connector(),
      telemetry: {
        settled: () => undefined,
        compared: () => undefined,
        transition: () => undefined,
        bug: (error) => void this.bugs.push(error),
      },
    };
    const membership = must(await this.state.readMembership("east", "antrea", never));
    if (membership === undefined) throw new Error("no membership");
    const { timing, pollMs } = this;
    const visits = new MemberVisits(this.clock, deps.connector, timing.callMs);
    const sync = new MemberSync(membership, { deps, timing, visits, pollMs });
    const ending = new AbortController();
    const hold = { fence: this.fence, mayWrite: () => this.mayWrite };
    this.#window = { ending, ended: sync.run(hold, ending.signal) };
  }

  /**
   * The window ends; resolves when it has.
   * @param killed true: it was killed on its way
   */
  async close(killed: () => boolean = () => false): Promise<void> {
    const window = this.#window;
    if (window === undefined) return;
    this.#window = undefined;
    window.ending.abort();
    let over = false;
    void window.ended.finally(() => {
      over = true;
    });
    await this.until("the window to end", () => over || killed());
    if (over) await window.ended;
  }

  /** True when the window has ended by itself. */
  async ended(): Promise<boolean> {
    const open = Symbol("open");
    return (await Promise.race([this.#window?.ended, Promise.resolve(open)])) !== open;
  }

  /** Lets time pass until it holds: 10 ms at a time, so that no limit passes while an answer is on its way. */
  async until(what: string, holds: () => boolean | Promise<boolean>): Promise<void> {
    for (let steps = 0; steps < 6_000; steps += 1) {
      if (await holds()) return;
      await this.clock.advance(10);
      await settleIo();
    }
    throw new Error(`waited in vain for ${what}`);
  }

  /** Lets time pass, a second at a time, and everything that it brings about come to its end. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 1_000) {
      await this.clock.advance(1_000);
      for (let turns = 0; turns < 10; turns += 1) await settleIo();
    }
  }

  /** Someone writes a ResourceImport in the leader. */
  async put(name: string, spec: WireSpec): Promise<void> {
    const kind = "ResourceImport";
    const apiVersion = `${GROUP}/v1alpha1`;
    await this.leader.engine.apply({ apiVersion, kind, metadata: { name, namespace: COMMON_AREA }, spec });
  }

  /** Someone deletes one. */
  async remove(name: string): Promise<void> {
    const admin = await this.#client("north", this.leader, "member");
    const type = { group: GROUP, version: "v1alpha1", resource: "resourceimports" };
    const deleted = await admin.delete({ type, namespace: COMMON_AREA, name }, {}, { timeoutMs: 5_000 });
    if (!deleted.ok && deleted.error.kind !== "notFound") throw new Error(deleted.error.message);
    await admin.close();
  }

  /** The Service of an import of `shop/<name>`. */
  service(name: string): ApiObject | undefined {
    return this.member.engine.readOne("", "services", "shop", `antrea-mc-${name}`);
  }

  async records(): Promise<ReadonlyMap<string, ImportRecord>> {
    const page = must(await this.state.listImports("east", { limit: 1_000 }, never));
    return new Map(page.imports.map((record) => [record.name, record]));
  }

  async events(): Promise<readonly HistoryEvent[]> {
    return must(await this.state.readEvents("east", { limit: 200 }, never)).events.toReversed();
  }

  async condition(): Promise<Condition | undefined> {
    const conditions = must(await this.state.readConditions("east", "antrea", never));
    return conditions.find(({ type }) => type === "ImportsWatched");
  }

  /** Requests to the leader and the member since the last call. */
  requests(): { readonly leader: readonly string[]; readonly member: readonly string[] } {
    return { leader: this.#leaderRequests.splice(0), member: this.#memberRequests.splice(0) };
  }

  /** The window's process is gone: what it waits for never comes, and what it holds is forgotten. */
  kill(): void {
    this.#window = undefined;
  }

  /** The same object, with a point before and after each of the calls. */
  #killable<T extends object>(of: T, calls: readonly (keyof T & string)[], whose: string): T {
    const { point } = this;
    if (point === undefined) return of;
    const killable =
      (name: string, call: (...args: unknown[]) => unknown) =>
      async (...args: unknown[]): Promise<unknown> => {
        await point(`before ${whose} ${name}`);
        const answer = await call.apply(of, args);
        await point(`after ${whose} ${name}`);
        return answer;
      };
    return new Proxy(of, {
      get: (target, name) => {
        const found: unknown = Reflect.get(target, name);
        if (typeof found !== "function") return found;
        const call = found as (...args: unknown[]) => unknown;
        return calls.some((one) => one === name) ? killable(String(name), call) : call.bind(target);
      },
    });
  }

  #connector(): SyncConnector {
    const lazily = (cluster: string, of: SimulatedCluster, purpose: Purpose): KubeClient =>
      lazyClient(cluster, () => this.#client(cluster, of, purpose));
    return {
      connectMember: async () => {
        const connection = await connectionFromKubeconfig(this.member.adminKubeconfig(), {});
        if (!connection.ok) return failed(connection.error);
        const client = await this.#client("east", this.member, "member");
        return ok(this.#killable(client, MEMBER_CALLS, "member"));
      },
      watchLeader: (cluster) => this.#killable(lazily(cluster, this.leader, "watch"), ["list"], "leader"),
    };
  }

  async #client(cluster: string, of: SimulatedCluster, purpose: Purpose): Promise<KubeClient> {
    const connection = await connectionFromKubeconfig(of.adminKubeconfig(), {});
    if (!connection.ok) throw new Error(connection.error.problem);
    return createKubeClient({ cluster, connection: connection.value, purpose, connections: this.#connections });
  }
}

/** A client that is made with its first call. */
function lazyClient(cluster: string, make: () => Promise<KubeClient>): KubeClient {
  let made: Promise<KubeClient> | undefined;
  const client = (): Promise<KubeClient> => (made ??= make());
  return {
    cluster,
    get: async (...args) => await (await client()).get(...args),
    list: async (...args) => await (await client()).list(...args),
    watch: async (...args) => await (await client()).watch(...args),
    create: async (...args) => await (await client()).create(...args),
    update: async (...args) => await (await client()).update(...args),
    updateStatus: async (...args) => await (await client()).updateStatus(...args),
    mergePatch: async (...args) => await (await client()).mergePatch(...args),
    mergePatchStatus: async (...args) => await (await client()).mergePatchStatus(...args),
    delete: async (...args) => await (await client()).delete(...args),
    getText: async (...args) => await (await client()).getText(...args),
    close: async () => await (await client()).close(),
  };
}
