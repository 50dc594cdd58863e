import type { TestContext } from "node:test";
import { stringify } from "yaml";
import { type ApiAnswer, ApiClient } from "../../../../infra/local/api-client/api-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../../../../infra/local/cluster/simulated-cluster.ts";
import type { ApiObject } from "../../../../infra/local/cluster/types.ts";
import { type Leader, startLeader } from "../../../../infra/local/leader/leader.ts";
import { CONTROLLER_SERVICE_ACCOUNT, paths } from "../../../../infra/local/leader/resources.ts";
import { customResourceDefinitions, leaderIdentity, leaderRoles } from "../../../../infra/local/world/onboarding.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { settleIo, until } from "../../../support/until.ts";

/** The common area. */
export const AREA = "antrea-multicluster";
const GROUP = "multicluster.crd.antrea.io";

/** A leader over an API server of its own, on a clock that stands still until time is let pass. */
export class LeaderUnderTest {
  readonly clock = new FakeClock(new Date());
  readonly cluster: SimulatedCluster;
  readonly #clients: ApiClient[] = [];
  #leader: Leader | undefined;
  #underWay = 0;

  private constructor(cluster: SimulatedCluster, clock: FakeClock) {
    this.clock = clock;
    this.cluster = cluster;
    // Watches are always under way.
    cluster.requestLog.subscribeReceived(({ verb }) => void (this.#underWay += Number(verb !== "watch")));
    cluster.requestLog.subscribe(({ verb }) => void (this.#underWay -= Number(verb !== "watch")));
  }

  /** The API server with the identities of its members; the leader itself is started by `start`. */
  static async prepare(t: TestContext, ...members: readonly string[]): Promise<LeaderUnderTest> {
    // Certificates are checked by the machine's clock.
    const clock = new FakeClock(new Date());
    const cluster = await startSimulatedCluster({ name: "north", clock, random: seededRandom(3) });
    const made = new LeaderUnderTest(cluster, clock);
    t.after(() => made.#end());
    await cluster.applyManifests(
      [...furnishing(), ...members.flatMap(identity)].map((o) => stringify(o)).join("---\n"),
    );
    return made;
  }

  get leader(): Leader {
    if (this.#leader === undefined) throw new Error("the leader was not started");
    return this.#leader;
  }

  /** Starts the controllers and the webhook as their own ServiceAccount. */
  async start(): Promise<void> {
    this.#leader = await startLeader({
      kubeconfig: await this.cluster.kubeconfigFor({
        serviceAccount: { namespace: AREA, name: CONTROLLER_SERVICE_ACCOUNT },
      }),
      namespace: AREA,
      clock: this.clock,
      webhookTls: { ...(await this.cluster.authority.issueServer(["127.0.0.1"])), ca: this.cluster.caPem },
    });
    await until(() => this.cluster.watches().length > 0);
    await this.settle();
  }

  /** The API as a member's ServiceAccount, or, without a name, as the administrator. */
  async as(member?: string): Promise<ApiClient> {
    const kubeconfig =
      member === undefined
        ? this.cluster.adminKubeconfig()
        : await this.cluster.kubeconfigFor({ serviceAccount: { namespace: AREA, name: `member-${member}` } });
    const client = new ApiClient(kubeconfig);
    this.#clients.push(client);
    return client;
  }

  /** Announces a member for the first time, with the IDs given or the right ones. */
  async announce(id: string, change: Record<string, unknown> = {}): Promise<ApiAnswer> {
    return await (await this.as(id)).request("POST", paths.announces(AREA), this.announceOf(id, change));
  }

  /** Announces a member again. */
  async touch(id: string, patch: Record<string, unknown> = {}): Promise<ApiAnswer> {
    const client = await this.as(id);
    const annotations = { "touch-ts": `${this.clock.now().toISOString().slice(0, 19)}Z` };
    const path = `${paths.announces(AREA)}/member-announce-from-${id}`;
    return await client.request("PATCH", path, { metadata: { annotations }, ...patch }, "application/merge-patch+json");
  }

  /** An announce as a member would create it now. */
  announceOf(id: string, change: Record<string, unknown> = {}): Record<string, unknown> {
    const annotations = { "touch-ts": this.clock.now().toISOString() };
    return {
      apiVersion: `${GROUP}/v1alpha1`,
      kind: "MemberClusterAnnounce",
      metadata: { name: `member-announce-from-${id}`, namespace: AREA, annotations },
      clusterID: id,
      clusterSetID: "set",
      leaderClusterID: "north",
      ...change,
    };
  }

  /** What is stored of a member's announce. */
  stored(id: string): ApiObject | undefined {
    return this.cluster.engine.readOne(GROUP, "memberclusterannounces", AREA, `member-announce-from-${id}`);
  }

  /** What is stored under that name. */
  read(resource: string, name: string): ApiObject | undefined {
    return this.cluster.engine.readOne(GROUP, resource, AREA, name);
  }

  /** Lets time pass no faster than requests are answered: the server's limits run by the same clock. */
  async pass(ms: number, stepMs = 10_000): Promise<void> {
    for (let passed = 0; passed < ms; passed += stepMs) {
      await this.clock.advance(Math.min(stepMs, ms - passed));
      await this.settle();
    }
  }

  async settle(): Promise<void> {
    do {
      await settleIo();
      await until(() => this.#underWay === 0);
    } while (this.#underWay > 0);
  }

  async #end(): Promise<void> {
    await this.#leader?.stop();
    for (const client of this.#clients) await client.close();
    await this.cluster.stop();
  }
}

function furnishing(): unknown[] {
  return [
    { apiVersion: "v1", kind: "Namespace", metadata: { name: AREA } },
    ...customResourceDefinitions("leader"),
    {
      apiVersion: `${GROUP}/v1alpha2`,
      kind: "ClusterSet",
      metadata: { name: "set", namespace: AREA },
      spec: { clusterID: "north", leaders: [{ clusterID: "north" }] },
    },
    ...leaderRoles(AREA),
  ];
}

function identity(id: string): unknown[] {
  return leaderIdentity({
    name: "set",
    namespace: "kube-system",
    clusterId: id,
    leaderId: "north",
    leaderNamespace: AREA,
    secret: "token",
  });
}
