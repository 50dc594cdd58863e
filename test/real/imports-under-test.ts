import assert from "node:assert/strict";
import type { ApiClient, ApiRecord } from "../../infra/local/api-client/api-client.ts";
import { eventually } from "../../infra/local/control-plane/apply.ts";
import { Claims } from "../../lib/antrea/imports/claims.ts";
import { type CleanedOut, cleanOut } from "../../lib/antrea/imports/clean-out.ts";
import { MemberObjects } from "../../lib/antrea/imports/member-objects.ts";
import { reconcileImport } from "../../lib/antrea/imports/reconcile-import.ts";
import type { ImportContext } from "../../lib/antrea/imports/reconciler.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { connectionFromKubeconfig } from "../../lib/kube/access/kubeconfig.ts";
import type { KubeClient } from "../../lib/kube/client.ts";
import { createKubeClient } from "../../lib/kube/http-kube-client.ts";
import { Connections } from "../../lib/kube/pool.ts";
import type { ImportRecord } from "../../lib/state/imports.ts";
import { importOf, type WireSpec } from "../antrea/imports/import-world.ts";
import { memberManifests } from "../support/member-manifests.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { type AntreaClusters, AREA, furnishAntreaClusters } from "./antrea-clusters.ts";

/** The member east on a real API server, imported into with the identities that a user gives to Hawser. */
export class ImportsUnderTest {
  readonly records = new Map<string, ImportRecord>();
  readonly admin: ApiClient;
  /** The leader, as its administrator. */
  readonly leader: ApiClient;
  readonly #clusters: AntreaClusters;
  readonly #connections: Connections;
  readonly #clients: readonly [member: KubeClient, leader: KubeClient];
  #objects = new MemberObjects();
  #claims = new Claims();

  private constructor(
    clusters: AntreaClusters,
    connections: Connections,
    clients: readonly [member: KubeClient, leader: KubeClient],
  ) {
    this.#clusters = clusters;
    this.#connections = connections;
    this.#clients = clients;
    this.admin = clusters.east.admin;
    this.leader = clusters.leaderCluster.admin;
  }

  static async start(): Promise<ImportsUnderTest> {
    const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: "shop" } };
    const members = ["east", "west"].map((cluster) => {
      const manifests = memberManifests(cluster, AREA);
      return { ...manifests, objects: [...manifests.objects, namespace] };
    });
    const clusters = await furnishAntreaClusters({ leader: [], members });
    const connections = new Connections({ clock: systemClock, random: seededRandom(1), version: "test" });
    const connect = async (cluster: string, kubeconfig: string): Promise<KubeClient> => {
      const connection = await connectionFromKubeconfig(kubeconfig, {});
      assert.ok(connection.ok);
      return createKubeClient({ cluster, connection: connection.value, purpose: "member", connections });
    };
    const east = clusters.members.find(({ cluster }) => cluster === "east")?.kubeconfig ?? "";
    const account = { namespace: AREA, name: "member-east" };
    const leader = await clusters.leaderCluster.kubeconfigFor({ serviceAccount: account });
    const clients = [await connect("east", east), await connect("leader of east", leader)] as const;
    return new ImportsUnderTest(clusters, connections, clients);
  }

  /** One round of an import; what comes of it is kept. Answers how many writes it took. */
  async reconcile(name: string, spec: WireSpec | undefined): Promise<number> {
    const wanted = spec === undefined ? undefined : importOf(name, spec);
    const outcome = await reconcileImport({ name, wanted, record: this.records.get(name) }, this.#context);
    assert.ok(outcome.kind === "settled" || outcome.kind === "removed", JSON.stringify(outcome));
    if (outcome.kind === "removed") this.records.delete(name);
    else this.records.set(name, { ...STAMP, ...outcome.next });
    return outcome.done.writes;
  }

  /** Reconciles until the import waits for no controller. */
  async settle(name: string, spec: WireSpec): Promise<void> {
    await eventually(systemClock, `${name} to be settled`, async () => {
      await this.reconcile(name, spec);
      return this.state(name) === "Pending" ? undefined : true;
    });
    assert.equal(this.state(name), "Applied");
  }

  state(name: string): string | undefined {
    return this.records.get(name)?.state;
  }

  newWindow(): void {
    this.#objects = new MemberObjects();
    this.#claims = new Claims();
  }

  async cleanOut(): Promise<CleanedOut> {
    this.newWindow();
    const cleaned = await cleanOut(this.#context, [...this.records.values()], async () => undefined);
    assert.ok(cleaned.ok);
    return cleaned.value;
  }

  async namespace(name: string): Promise<void> {
    await this.#clusters.east.applyManifests(`apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`);
  }

  async read(path: string): Promise<ApiRecord> {
    const { code, body } = await this.admin.request("GET", path);
    assert.equal(code, 200, body.message);
    return body;
  }

  async code(path: string): Promise<number> {
    return (await this.admin.request("GET", path)).code;
  }

  async end(): Promise<void> {
    await this.#connections.close();
    await this.#clusters.end();
  }

  get #context(): ImportContext {
    const [member, leader] = this.#clients;
    return {
      member,
      leader,
      objects: this.#objects,
      claims: this.#claims,
      settings: { clusterID: "east", namespace: "kube-system", commonArea: AREA, labelIdentities: true },
      clock: systemClock,
      timeoutMs: 10_000,
      signal: NEVER,
      mayWrite: () => true,
    };
  }
}

const NEVER = new AbortController().signal;
const STAMP = { since: 0, attempts: 0, assignment: 1, fence: 1 };
