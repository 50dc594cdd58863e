import { ApiClient, type ApiRecord } from "../../../infra/local/api-client/api-client.ts";
import { kubeconfigYaml } from "../../../infra/local/cluster/kubeconfig.ts";
import type { Leader } from "../../../infra/local/leader/leader.ts";
import { paths, TOUCH_ANNOTATION } from "../../../infra/local/leader/resources.ts";
import type { WorldManifests } from "../../../infra/local/world/manifests.ts";
import type { DoctorReport } from "../../../lib/doctor/doctor.ts";
import { wireDoctor } from "../../../lib/runtime/wiring-doctor.ts";
import type { MembershipSpec } from "../../../lib/state/membership.ts";
import { AT, type EmbeddedAws, FUNCTIONS, GROUP, STAGE, startEmbeddedAws, TABLE } from "./embedded-aws.ts";

/** The common area. */
export const AREA = "antrea-multicluster";
export const NAMESPACE = "kube-system";
const MERGE = "application/merge-patch+json";
export const CLUSTER_SET = `${paths.clusterSets(NAMESPACE)}/set`;
export const SECRET = `/api/v1/namespaces/${NAMESPACE}/secrets/leader-token`;
export const ANNOUNCE = `${paths.announces(AREA)}/member-announce-from-east`;

/** A cluster of a world, simulated or real, as its administrator has it. */
export interface FurnishedCluster {
  readonly url: string;
  readonly caPem: string;
  readonly admin: ApiClient;
}

/** Clusters of any kind: a leader with its controllers, and the member `east` of ClusterSet `set`, tied to it. */
export interface DoctorClusters {
  readonly leader: FurnishedCluster;
  readonly member: FurnishedCluster;
  readonly controllers: Pick<Leader, "stopWebhook" | "startWebhook">;
  /** With the rights that Hawser has in the member. */
  readonly memberKubeconfig: string;
  /** Token of the member's ServiceAccount in the leader. */
  readonly leaderToken: string;
}

/** A healthy membership, in which faults are planted. */
export interface DoctorWorld extends DoctorClusters {
  readonly aws: EmbeddedAws;
  /** Sends one beat, as the window does. */
  readonly beat: () => Promise<void>;
  /** The leader has taken the member in, and will not write to its announce by itself. */
  settle(): Promise<void>;
  /** What must stand in no report. */
  readonly secrets: readonly string[];
  /** What a doctor says now. */
  examine(cluster?: string): Promise<DoctorReport>;
  stop(): Promise<void>;
}

/** What the clusters of a world are furnished by. */
export const MANIFESTS: WorldManifests = {
  leader: [],
  members: [
    {
      cluster: "east",
      clusterSet: {
        name: "set",
        namespace: NAMESPACE,
        clusterId: "east",
        leaderId: "north",
        leaderNamespace: AREA,
        secret: "leader-token",
      },
      objects: [
        {
          apiVersion: "v1",
          kind: "Secret",
          metadata: { name: "leader-token", namespace: NAMESPACE },
          type: "Opaque",
          data: { "ca.crt": "", token: "" },
        },
        {
          apiVersion: "multicluster.crd.antrea.io/v1alpha2",
          kind: "ClusterSet",
          metadata: { name: "set", namespace: NAMESPACE },
          spec: {
            clusterID: "east",
            leaders: [{ clusterID: "north", server: "https://replaced", secret: "leader-token" }],
            namespace: AREA,
          },
        },
      ],
    },
  ],
};

const SPEC: MembershipSpec = {
  cluster: "east",
  protocol: "antrea",
  access: { kubeconfig: { ssm: "/clusters/east" } },
  antrea: { namespace: NAMESPACE },
  options: { failureThreshold: 3, networkProfile: "default" },
};

/** Starts Hawser's own side around the clusters. */
export async function startDoctorWorld(clusters: DoctorClusters): Promise<DoctorWorld> {
  const aws = await startEmbeddedAws(SPEC);
  await aws.putParameter("/clusters/east", clusters.memberKubeconfig);
  const { url: server, caPem } = clusters.leader;
  const credential = { token: clusters.leaderToken };
  const beating = new ApiClient(kubeconfigYaml({ cluster: "north", server, caPem, user: "member-east", credential }));
  return {
    ...clusters,
    aws,
    beat: async () => await beat(beating),
    settle: async () => {
      do await beat(beating);
      while ((await expectCode(200, beating, "GET", ANNOUNCE)).metadata.finalizers === undefined);
    },
    secrets: [clusters.leaderToken, tokenOf(clusters.memberKubeconfig)],
    examine: async (cluster = "east") => {
      const { endpoints } = aws;
      const names = { stage: STAGE, tableName: TABLE, functionPrefix: FUNCTIONS, scheduleGroup: GROUP };
      const doctor = wireDoctor({ ...names, ...AT, endpoints, proxy: {}, fileAccess: false });
      try {
        return await doctor.examine({ cluster, protocol: "antrea" }, new AbortController().signal);
      } finally {
        await doctor.close();
      }
    },
    stop: async () => {
      await beating.close();
      await aws.stop();
    },
  };
}

function tokenOf(kubeconfig: string): string {
  const token = /token: "?([^"\s]+)/.exec(kubeconfig)?.[1];
  if (token === undefined) throw new Error("the kubeconfig has no token");
  return token;
}

async function beat(client: ApiClient): Promise<void> {
  const annotations = { [TOUCH_ANNOTATION]: new Date().toISOString() };
  const touched = await client.request("PATCH", ANNOUNCE, { metadata: { annotations } }, MERGE);
  if (touched.code === 200) return;
  await expectCode(201, client, "POST", paths.announces(AREA), {
    apiVersion: "multicluster.crd.antrea.io/v1alpha1",
    kind: "MemberClusterAnnounce",
    metadata: { name: "member-announce-from-east", namespace: AREA, annotations },
    clusterID: "east",
    clusterSetID: "set",
    leaderClusterID: "north",
  });
}

/** One request that must be answered so. */
export async function expectCode(
  code: number,
  client: ApiClient,
  method: string,
  path: string,
  body?: object,
): Promise<ApiRecord> {
  const type = method === "PATCH" ? MERGE : "application/json";
  const answer = await client.request(method, path, body, type);
  if (answer.code !== code) throw new Error(`${method} ${path}: ${answer.code} ${answer.body.message ?? ""}`);
  return answer.body;
}

/** Undoes a fault. */
export type Undo = () => Promise<void>;

/** Changes an object by merge patches, there and back. */
export async function patched(client: ApiClient, path: string, there: object, back: object): Promise<Undo> {
  await expectCode(200, client, "PATCH", path, there);
  return async () => void (await expectCode(200, client, "PATCH", path, back));
}

/** Deletes an object, and makes it again. */
export async function deleted(client: ApiClient, path: string): Promise<Undo> {
  const { metadata, status: _status, ...rest } = await expectCode(200, client, "GET", path);
  const { name, namespace, labels, annotations } = metadata;
  await expectCode(200, client, "DELETE", path);
  const again = { ...rest, metadata: { name, ...(namespace === undefined ? {} : { namespace }), labels, annotations } };
  return async () => void (await expectCode(201, client, "POST", path.slice(0, path.lastIndexOf("/")), again));
}

/**
 * Deletes a RoleBinding; API servers learn of it, and of its return, some time later.
 * @param right one that it gives to the ServiceAccount
 */
export async function unbound(
  client: ApiClient,
  path: string,
  account: { readonly namespace: string; readonly name: string },
  right: Readonly<Record<string, string>>,
): Promise<Undo> {
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  const until = async (allowed: boolean): Promise<void> => {
    const kind = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview" };
    const review = { ...kind, spec: { user, resourceAttributes: right } };
    const asked = async () =>
      await expectCode(201, client, "POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", review);
    while (((await asked())["status"] as { allowed?: boolean }).allowed !== allowed);
  };
  const undo = await deleted(client, path);
  await until(false);
  return async () => {
    await undo();
    await until(true);
  };
}

/** Undoes several, last first. */
export function all(...undos: readonly Undo[]): Undo {
  return async () => {
    for (const undo of undos.toReversed()) await undo();
  };
}
