import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import tls from "node:tls";
import { type SimulatedCluster, startSimulatedCluster } from "../../../infra/local/cluster/simulated-cluster.ts";
import { startTable } from "../../../infra/local/table/table.ts";
import { createTableFromTemplate } from "../../../infra/local/table/template.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { serviceSpec, specOf } from "../../antrea/imports/import-world.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { serveCalls } from "../child.ts";

const CRDS = new URL("../../../infra/kubernetes/crds/", import.meta.url).pathname;
const TEMPLATE = new URL("../../../infra/aws/table.yml", import.meta.url);
const GROUP = "multicluster.crd.antrea.io";
const COMMON_AREA = "antrea-multicluster";
const TABLE = "hawser-bench";

/** Where everything is. */
export interface BenchServers {
  readonly member: string;
  readonly leader: string;
  readonly tableUrl: string;
  readonly tableName: string;
}

/** Requests since the last count. */
export interface BenchRequests {
  readonly leader: number;
  readonly member: number;
  /** Those that write. */
  readonly memberWrites: number;
}

/** What the process with the servers can be asked. */
export type BenchServerCalls = {
  start(none: null): Promise<BenchServers>;
  /** Writes imports of Services, with one port each. */
  put(of: { readonly count: number; readonly port: number }): Promise<void>;
  /** How long until a changed import is in the member, in milliseconds. */
  time(of: { readonly name: string; readonly port: number }): Promise<number>;
  requests(none: null): Promise<BenchRequests>;
};

let leader: SimulatedCluster;
let member: SimulatedCluster;
const counted = { leader: 0, member: 0, memberWrites: 0 };

async function start(): Promise<BenchServers> {
  const random = seededRandom(1);
  const crds = readdirSync(CRDS).map((file) => readFileSync(join(CRDS, file), "utf8"));
  const namespaces = ["shop", COMMON_AREA].map(
    (name) => `apiVersion: v1\nkind: Namespace\nmetadata: {name: ${name}}\n`,
  );
  const manifests = [...crds, ...namespaces];
  member = await startSimulatedCluster({ name: "east", clock: systemClock, random, manifests });
  leader = await startSimulatedCluster({ name: "north", clock: systemClock, random, manifests });
  member.requestLog.subscribeReceived(({ verb }) => {
    counted.member += 1;
    if (!/^(get|list|watch)$/.test(verb)) counted.memberWrites += 1;
  });
  leader.requestLog.subscribeReceived(() => {
    counted.leader += 1;
  });
  await member.engine.apply({
    apiVersion: `${GROUP}/v1alpha2`,
    kind: "ClusterSet",
    metadata: { name: "set", namespace: "kube-system" },
    spec: {
      clusterID: "east",
      leaders: [{ clusterID: "north", server: "https://north:6443", secret: "leader-token" }],
      namespace: COMMON_AREA,
    },
  });
  const encode = (text: string): string => Buffer.from(text).toString("base64");
  await member.engine.apply({
    apiVersion: "v1",
    kind: "Secret",
    metadata: { name: "leader-token", namespace: "kube-system" },
    data: { "ca.crt": encode(tls.rootCertificates[0] ?? ""), token: encode("token") },
  });
  const table = await startTable({ clock: systemClock });
  await createTableFromTemplate(table.url, readFileSync(TEMPLATE, "utf8"), TABLE);
  return {
    member: member.adminKubeconfig(),
    leader: leader.adminKubeconfig(),
    tableUrl: table.url,
    tableName: TABLE,
  };
}

async function putOne(name: string, port: number): Promise<void> {
  await leader.engine.apply({
    apiVersion: `${GROUP}/v1alpha1`,
    kind: "ResourceImport",
    metadata: { name, namespace: COMMON_AREA },
    spec: serviceSpec(name, [port]),
  });
}

async function time({ name, port }: { readonly name: string; readonly port: number }): Promise<number> {
  const began = performance.now();
  await putOne(name, port);
  for (;;) {
    const service = member.engine.readOne("", "services", "shop", `antrea-mc-${name}`);
    const ports = specOf(service)["ports"] as readonly { readonly port: number }[] | undefined;
    if (ports?.[0]?.port === port) return performance.now() - began;
    await new Promise((resolve) => setImmediate(resolve));
  }
}

serveCalls({
  start,
  put: async ({ count, port }: { count: number; port: number }) => {
    for (let i = 0; i < count; i += 1) await putOne(`import-${i}`, port);
  },
  time,
  requests: async () => {
    const seen = { ...counted };
    Object.assign(counted, { leader: 0, member: 0, memberWrites: 0 });
    return seen;
  },
} satisfies BenchServerCalls);
