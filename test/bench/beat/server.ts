import { stringify } from "yaml";
import { type SimulatedCluster, startSimulatedCluster } from "../../../infra/local/cluster/simulated-cluster.ts";
import { startLeader } from "../../../infra/local/leader/leader.ts";
import { CONTROLLER_SERVICE_ACCOUNT } from "../../../infra/local/leader/resources.ts";
import type { Manifest, MemberClusterSet } from "../../../infra/local/world/manifests.ts";
import {
  customResourceDefinitions,
  leaderIdentity,
  leaderRoles,
  memberServiceAccount,
} from "../../../infra/local/world/onboarding.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { serveCalls } from "../child.ts";
import { memberObjects, memberToken } from "./member-objects.ts";
import {
  CLUSTER_SET,
  COMMON_AREA,
  LEADER_ID,
  type LoggedRequest,
  MEMBER_NAMESPACE,
  MEMBER_SECRET,
  type RunningLeader,
  type ServerCalls,
} from "./protocol.ts";

/** The process of a simulated API server: a leader with everything that members need there, or the members themselves. */

const requests: LoggedRequest[] = [];
/** Connections that have carried announces. */
const connections = new Set<number>();

const calls: ServerCalls = {
  startLeader: async ({ clusters, seed, webhook }) => {
    const leader = await start(LEADER_ID, seed);
    const sets = clusters.map(clusterSetOf);
    for (const object of leaderObjects(sets)) await leader.engine.apply(object);
    if (webhook) await startControllers(leader);
    logMembers(leader, sets);
    const members = sets.map((set) => ({
      cluster: set.clusterId,
      token: leader.tokenFor(COMMON_AREA, memberServiceAccount(set)),
    }));
    return { url: leader.url, caPem: leader.caPem, members };
  },

  startMembers: async ({ leader, seed }) => {
    const members = await start("members", seed);
    for (const object of customResourceDefinitions("member")) await members.engine.apply(object);
    return Promise.all(leader.members.map(async (member) => await furnishMember(members, leader, member.cluster)));
  },

  record: async ({ fromMs, toMs }) => {
    return {
      requests: requests.filter(({ atMs }) => atMs >= fromMs && atMs < toMs),
      connectionsOpened: connections.size,
    };
  },
};

async function start(name: string, seed: number): Promise<SimulatedCluster> {
  // The bench keeps what it needs of the log itself.
  return await startSimulatedCluster({ name, clock: systemClock, random: seededRandom(seed), logCapacity: 1 });
}

function clusterSetOf(cluster: string): MemberClusterSet {
  return {
    name: CLUSTER_SET,
    namespace: MEMBER_NAMESPACE,
    clusterId: cluster,
    leaderId: LEADER_ID,
    leaderNamespace: COMMON_AREA,
    secret: MEMBER_SECRET,
  };
}

function leaderObjects(sets: readonly MemberClusterSet[]): readonly Manifest[] {
  const namespace = { apiVersion: "v1", kind: "Namespace", metadata: { name: COMMON_AREA } };
  const clusterSet = {
    apiVersion: "multicluster.crd.antrea.io/v1alpha2",
    kind: "ClusterSet",
    metadata: { name: CLUSTER_SET, namespace: COMMON_AREA },
    spec: { clusterID: LEADER_ID, leaders: [{ clusterID: LEADER_ID }] },
  };
  const roles = leaderRoles(COMMON_AREA);
  // Tokens are issued directly, so that no token Secret is needed.
  const identities = sets.flatMap(leaderIdentity).filter(({ kind }) => kind !== "Secret");
  return [...customResourceDefinitions("leader"), namespace, clusterSet, ...roles, ...identities];
}

async function startControllers(leader: SimulatedCluster): Promise<void> {
  await startLeader({
    kubeconfig: await leader.kubeconfigFor({
      serviceAccount: { namespace: COMMON_AREA, name: CONTROLLER_SERVICE_ACCOUNT },
    }),
    namespace: COMMON_AREA,
    clock: systemClock,
    webhookTls: { ...(await leader.authority.issueServer(["127.0.0.1"])), ca: leader.caPem },
  });
}

function logMembers(leader: SimulatedCluster, sets: readonly MemberClusterSet[]): void {
  const users = new Map(
    sets.map((set) => [`system:serviceaccount:${COMMON_AREA}:${memberServiceAccount(set)}`, set.clusterId]),
  );
  const writes = new Set(["patch", "create", "update"]);
  leader.requestLog.subscribe((entry) => {
    const cluster = entry.user === undefined ? undefined : users.get(entry.user);
    if (cluster === undefined) return;
    const announce = entry.resource === "memberclusterannounces";
    if (announce) connections.add(entry.connection);
    const succeeded = entry.status >= 200 && entry.status < 300 && entry.complete;
    requests.push({
      cluster,
      verb: entry.verb,
      beat: succeeded && writes.has(entry.verb) && announce,
      atMs: entry.atMs + entry.durationMs,
      status: entry.status,
      connection: entry.connection,
      http2: entry.protocol === "HTTP/2",
      bytesIn: entry.bytesIn,
      bytesOut: entry.bytesOut,
    });
  });
}

/** A member is a Namespace of the one server, and its administrator a token of its own. @returns its kubeconfig */
async function furnishMember(server: SimulatedCluster, leader: RunningLeader, name: string): Promise<string> {
  const token = memberToken(name);
  server.authenticator.setToken({ token, username: name, groups: ["system:masters"] });
  await server.engine.apply({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
  const leaderToken = leader.members.find((member) => member.cluster === name)?.token ?? "";
  for (const object of memberObjects({ cluster: name, namespace: name, leader, token: leaderToken })) {
    await server.engine.apply(object);
  }
  // Each member has an authority of its own in its kubeconfig, as real ones have: connections to members are not shared.
  const ca = Buffer.from(`${server.caPem}\n# ${name}\n`).toString("base64");
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name, cluster: { server: server.url, "certificate-authority-data": ca } }],
    users: [{ name, user: { token } }],
    contexts: [{ name, context: { cluster: name, user: name } }],
    "current-context": name,
  });
}

serveCalls(calls);
