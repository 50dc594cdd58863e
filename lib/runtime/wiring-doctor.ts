import { LambdaClient } from "@aws-sdk/client-lambda";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { SSMClient } from "@aws-sdk/client-ssm";
import { describeMismatch, mismatchesOf } from "../antrea/announce.ts";
import { findClusterSet, parseClusterSet } from "../antrea/cluster-set.ts";
import { WATCH_AREA, WATCH_TYPE } from "../antrea/imports/watch-condition.ts";
import { LEADER_CONNECTION_TIMEOUT_MS, TOUCH_ANNOTATION } from "../antrea/names.ts";
import { announceObject, announceRef, leaderSecretRef, MEMBER_CLUSTER_ANNOUNCES } from "../antrea/resources.ts";
import { importRights, leaderRights, memberRights } from "../antrea/rights.ts";
import { type Clock, systemClock } from "../base/clock.ts";
import { systemIds } from "../base/ids.ts";
import { systemRandom } from "../base/random.ts";
import { failed, ok } from "../base/result.ts";
import { KubeconfigReader } from "../credentials/kubeconfig.ts";
import { ssmCredentials } from "../credentials/ssm.ts";
import { type DoctorReport, examine } from "../doctor/doctor.ts";
import type { AntreaPorts, AwsPorts, ClusterPorts } from "../doctor/ports.ts";
import { createKubeClient } from "../kube/http-kube-client.ts";
import { Connections } from "../kube/pool.ts";
import type { ProxySettings } from "../kube/proxy.ts";
import { scheduleName } from "../schedule/plan.ts";
import { SdkScheduler } from "../schedule/scheduler.ts";
import type { MembershipKey } from "../state/membership.ts";
import { openState, type State } from "../state/state.ts";
import { isCalm, readImports } from "../status/imports.ts";
import { probeFunction } from "./function-probe.ts";
import { VERSION } from "./version.ts";
import { resolveAccess } from "./wiring-clusters.ts";

/** Of which Hawser a doctor is. */
export interface DoctorSettings {
  readonly stage: string;
  readonly tableName: string;
  readonly functionPrefix: string;
  readonly scheduleGroup: string;
  readonly region: string;
  /** Endpoint of a service where it is not the public one. */
  readonly endpoints?: {
    readonly dynamodb: string;
    readonly lambda: string;
    readonly scheduler: string;
    readonly ssm: string;
  };
  /** Absent: the process's own. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
  /** The proxy on the way to clusters, where there is one. */
  readonly proxy: ProxySettings;
  /** True where a membership may name a kubeconfig file. */
  readonly fileAccess: boolean;
}

/** Examines memberships. */
export interface Doctor {
  examine(key: MembershipKey, signal: AbortSignal): Promise<DoctorReport>;
  /** Ends all connections. */
  close(): Promise<void>;
}

/** A doctor with its adapters; sends nothing yet. */
export function wireDoctor(settings: DoctorSettings): Doctor {
  const clock = systemClock;
  const random = systemRandom;
  const { tableName, region, endpoints, credentials, proxy } = settings;
  const state = openState({
    tableName,
    region,
    ...(endpoints === undefined ? {} : { endpoint: endpoints.dynamodb }),
    ...(credentials === undefined ? {} : { credentials }),
    clock,
    random,
    ids: systemIds(clock, random),
  });
  const clients = awsClients(settings);
  const connections = new Connections({ clock, random, version: VERSION, proxy });
  const ports = {
    clock,
    aws: awsPorts(settings, state, clients, clock),
    clusters: clusterPorts(settings, connections, clients.ssm, clock),
    antrea: ANTREA,
  };
  return {
    examine: async (key, signal) => await examine(key, ports, signal),
    close: async () => {
      await connections.close();
      state.close();
      for (const client of Object.values(clients)) client.destroy();
    },
  };
}

interface Clients {
  readonly lambda: LambdaClient;
  readonly scheduler: SchedulerClient;
  readonly ssm: SSMClient;
}

function awsClients({ region, endpoints, credentials }: DoctorSettings): Clients {
  const at = (service: "lambda" | "scheduler" | "ssm") => ({
    region,
    ...(endpoints === undefined ? {} : { endpoint: endpoints[service] }),
    ...(credentials === undefined ? {} : { credentials }),
    maxAttempts: 2,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 3_000, throwOnRequestTimeout: true },
  });
  return {
    lambda: new LambdaClient(at("lambda")),
    scheduler: new SchedulerClient(at("scheduler")),
    ssm: new SSMClient(at("ssm")),
  };
}

function awsPorts(settings: DoctorSettings, state: State, clients: Clients, clock: Clock): AwsPorts {
  const { stage, tableName, functionPrefix, scheduleGroup: group, region, endpoints } = settings;
  const scheduler = new SdkScheduler(clients.scheduler, clock, systemIds(clock, systemRandom));
  return {
    tableName,
    functionPrefix,
    cliOptions: endpoints === undefined ? ` --region ${region}` : "",
    readMembership: async (cluster, protocol, signal) => await state.readMembership(cluster, protocol, signal),
    readShard: async (shard, signal) => await state.readShard(shard, signal),
    readBaton: async (role, scope, signal) => await state.batons.read({ role, scope }, signal),
    readWatchCondition: async (cluster, protocol, signal) => {
      const read = await state.readConditions(cluster, protocol, signal);
      return read.ok ? ok(read.value.find(({ area, type }) => area === WATCH_AREA && type === WATCH_TYPE)) : read;
    },
    readImports: async (cluster, signal) => {
      const read = await readImports(state, cluster, signal);
      return read.ok ? ok(read.value.map((one) => ({ ...one, calm: isCalm(one) }))) : read;
    },
    readSchedule: async (role, shard, signal) => {
      const name = scheduleName(stage, role, shard);
      const read = await scheduler.read({ name, group }, signal);
      return read.ok ? ok({ name, group, found: read.value }) : read;
    },
    probeFunction: async (role, signal) =>
      await probeFunction(clients.lambda, clock, `${functionPrefix}${role}`, signal),
  };
}

function clusterPorts(
  { proxy, fileAccess }: DoctorSettings,
  connections: Connections,
  ssm: SSMClient,
  clock: Clock,
): ClusterPorts {
  const parameters = ssmCredentials({ client: ssm, clock });
  const kubeconfigs = new KubeconfigReader({ clock, parameters, fileAccess });
  return {
    resolveMember: async ({ cluster, access }, signal) =>
      await resolveAccess(cluster, access.kubeconfig, { kubeconfigs, fileAccess }, signal),
    connect: (cluster, connection) => createKubeClient({ cluster, connection, purpose: "member", connections }),
    proxyFor: (connection) => connections.proxyFor(connection),
    proxyCa: proxy.proxyCa,
  };
}

/** The readers by which windows beat are those by which the doctor asks. */
const ANTREA: AntreaPorts = {
  readTie: async (member, choice, options) => {
    const search = await findClusterSet(member, choice, options);
    return search.kind === "found" ? parseClusterSet(search.object, member.cluster) : failed(search.fault);
  },
  secretRef: (namespace, { secret }) => leaderSecretRef(namespace, secret),
  announceRef: ({ commonArea, clusterID }) => announceRef(commonArea, clusterID),
  announceObject: (tie, touchTs) => ({
    type: MEMBER_CLUSTER_ANNOUNCES,
    object: announceObject(tie, tie.commonArea, { [TOUCH_ANNOTATION]: touchTs }),
  }),
  touchPatch: (touchTs) => ({ metadata: { annotations: { [TOUCH_ANNOTATION]: touchTs } } }),
  touchedAt: ({ metadata }) => {
    const at = Date.parse(metadata.annotations?.[TOUCH_ANNOTATION] ?? "");
    return Number.isNaN(at) ? undefined : at;
  },
  mismatch: (announce, tie) => {
    const mismatches = mismatchesOf(announce, tie);
    return mismatches.length === 0 ? undefined : describeMismatch(mismatches, tie);
  },
  memberRights,
  importRights,
  leaderRights,
  connectionTimeoutMs: LEADER_CONNECTION_TIMEOUT_MS,
};
