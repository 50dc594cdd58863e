import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type SimulatedCluster, startSimulatedCluster } from "../../../infra/local/cluster/simulated-cluster.ts";
import type { ApiObject } from "../../../infra/local/cluster/types.ts";
import { Claims } from "../../../lib/antrea/imports/claims.ts";
import { MemberObjects } from "../../../lib/antrea/imports/member-objects.ts";
import { plannedProgress } from "../../../lib/antrea/imports/planned-progress.ts";
import { reconcileImport } from "../../../lib/antrea/imports/reconcile-import.ts";
import type { ImportContext, ImportOutcome, ImportSettings } from "../../../lib/antrea/imports/reconciler.ts";
import { type ResourceImport, readResourceImport } from "../../../lib/antrea/imports/resource-import.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { connectionFromKubeconfig } from "../../../lib/kube/access/kubeconfig.ts";
import type { KubeClient } from "../../../lib/kube/client.ts";
import { createKubeClient } from "../../../lib/kube/http-kube-client.ts";
import { Connections } from "../../../lib/kube/pool.ts";
import type { ImportRecord } from "../../../lib/state/imports.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { seededRandom } from "../../support/seeded-random.ts";

const CRDS = new URL("../../../infra/kubernetes/crds/", import.meta.url).pathname;
const COMMON_AREA = "antrea-multicluster";

/** A ResourceImport's `spec`, as on the wire. */
export type WireSpec = Readonly<Record<string, unknown>>;

/** A member and a leader over HTTPS, and the reconcilers between them, with what the engine would keep kept by name. */
export class ImportWorld {
  readonly clock = new FakeClock(new Date());
  readonly records = new Map<string, ImportRecord>();
  readonly member: SimulatedCluster;
  readonly leader: SimulatedCluster;
  readonly client: KubeClient;
  readonly settings: { -readonly [K in keyof ImportSettings]: ImportSettings[K] } = {
    clusterID: "east",
    namespace: "kube-system",
    commonArea: COMMON_AREA,
    labelIdentities: true,
  };
  /** What is known of the member; a new window begins with nothing. */
  objects = new MemberObjects();
  claims = new Claims();
  mayWrite = (): boolean => true;
  readonly #leaderClient: KubeClient;
  readonly #connections: Connections;
  readonly #requests: string[] = [];

  private constructor(
    parts: Pick<ImportWorld, "member" | "leader">,
    clients: readonly [KubeClient, KubeClient, Connections],
  ) {
    this.member = parts.member;
    this.leader = parts.leader;
    [this.client, this.#leaderClient, this.#connections] = clients;
    this.member.requestLog.subscribeReceived(({ verb, resource = "", name = "" }) => {
      this.#requests.push(name === "" ? `${verb} ${resource}` : `${verb} ${resource}/${name}`);
    });
  }

  static async start(): Promise<ImportWorld> {
    const random = seededRandom(3);
    const crds = readdirSync(CRDS).map((file) => readFileSync(join(CRDS, file), "utf8"));
    const namespaces = ["shop", COMMON_AREA].map(
      (name) => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`,
    );
    const manifests = [...crds, ...namespaces];
    const member = await startSimulatedCluster({ name: "east", clock: systemClock, random, manifests });
    const leader = await startSimulatedCluster({ name: "north", clock: systemClock, random, manifests });
    const connections = new Connections({ clock: systemClock, random, version: "test" });
    const client = async (cluster: string, kubeconfig: string): Promise<KubeClient> => {
      const connection = await connectionFromKubeconfig(kubeconfig, {});
      if (!connection.ok) throw new Error(connection.error.problem);
      return createKubeClient({ cluster, connection: connection.value, purpose: "member", connections });
    };
    const clients = [
      await client("east", member.adminKubeconfig()),
      await client("leader of east", leader.adminKubeconfig()),
      connections,
    ] as const;
    return new ImportWorld({ member, leader }, clients);
  }

  async end(): Promise<void> {
    await this.#connections.close();
    await this.member.stop();
    await this.leader.stop();
  }

  get context(): ImportContext {
    return {
      member: this.client,
      leader: this.#leaderClient,
      objects: this.objects,
      claims: this.claims,
      settings: this.settings,
      clock: this.clock,
      timeoutMs: 5_000,
      signal: new AbortController().signal,
      mayWrite: () => this.mayWrite(),
    };
  }

  /** One round for an import as it stands in the leader; undefined: it is gone. What comes of it is kept. */
  async reconcile(name: string, spec: WireSpec | undefined): Promise<ImportOutcome> {
    const wanted = spec === undefined ? undefined : importOf(name, spec);
    const record = this.records.get(name);
    const outcome = await reconcileImport({ name, wanted, record }, this.context);
    if (outcome.kind === "removed" || outcome.kind === "ignored") this.records.delete(name);
    if (outcome.kind === "settled" || outcome.kind === "failed") {
      this.records.set(name, { ...STAMP, ...outcome.next });
    }
    return outcome;
  }

  /** Reconciles, and again as long as it asks for at once. */
  async settle(name: string, spec: WireSpec | undefined): Promise<ImportOutcome> {
    for (;;) {
      const outcome = await this.reconcile(name, spec);
      if (outcome.kind !== "settled" || outcome.afterMs !== 0) return outcome;
    }
  }

  /** What the engine writes before the first round of an import. */
  intend(name: string, spec: WireSpec): void {
    this.records.set(name, { ...STAMP, ...plannedProgress(importOf(name, spec), this.settings) });
  }

  /** Forgets what is known of the member, as the next window does. */
  newWindow(): void {
    this.objects = new MemberObjects();
    this.claims = new Claims();
    this.claims.noteRecords(this.records.values());
  }

  read(group: string, resource: string, name: string, namespace?: string): ApiObject | undefined {
    return this.member.engine.readOne(group, resource, namespace, name);
  }

  /** Someone else writes in the member. */
  async put(object: object): Promise<void> {
    await this.member.engine.apply(object);
  }

  /** Requests to the member since the last call, as `verb resource/name`. */
  requests(): readonly string[] {
    return this.#requests.splice(0);
  }
}

const STAMP = { since: 0, attempts: 0, assignment: 1, fence: 1 };

/** A ResourceImport as the leader shows it. */
export function importOf(name: string, spec: WireSpec): ResourceImport {
  return readResourceImport({ metadata: { name, namespace: COMMON_AREA, uid: `uid-${name}` }, spec });
}

/** A ServiceImport-kind import of `shop/<name>` with TCP ports. */
export function serviceSpec(name: string, ports: readonly number[] = [80], more: WireSpec = {}): WireSpec {
  const wire = ports.map((port) => ({ name: `p-${port}`, port, protocol: "TCP" }));
  return {
    kind: "ServiceImport",
    namespace: "shop",
    name,
    serviceImport: { spec: { type: "ClusterSetIP", ports: wire } },
    ...more,
  };
}

/** `spec` of an object; empty where there is none. */
export function specOf(object: ApiObject | undefined): Readonly<Record<string, unknown>> {
  return (object?.["spec"] ?? {}) as Readonly<Record<string, unknown>>;
}
