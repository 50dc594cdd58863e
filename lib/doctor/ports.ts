import type { Cause } from "../base/cause.ts";
import type { Clock } from "../base/clock.ts";
import type { Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { CallOptions, KubeClient, KubeObject, ObjectRef, ResourceType } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import type { KubeError } from "../kube/errors.ts";
import type { Proxy } from "../kube/proxy.ts";
import type { BatonRecord } from "../relay/ports.ts";
import type { ScheduleError } from "../schedule/errors.ts";
import type { Condition } from "../state/condition.ts";
import type { StateError } from "../state/errors.ts";
import type { ImportState } from "../state/imports.ts";
import type { AntreaMembership, Membership, Protocol } from "../state/membership.ts";
import type { Shard } from "../state/shard.ts";

/** A cluster, seen with one credential. Nothing of it is changed: creates and patches are reviews and dry runs. */
export type Cluster = Pick<KubeClient, "cluster" | "get" | "list" | "create" | "mergePatch" | "close">;

/** How the doctor reaches clusters. */
export interface ClusterPorts {
  /** What the membership's access leads to. */
  resolveMember(membership: Membership, signal: AbortSignal): Promise<Result<Connection, KubeError | UserError>>;
  /** A client; sends nothing. @param name of the cluster in messages */
  connect(name: string, connection: Connection): Cluster;
  /** The proxy on the way, where there is one. */
  proxyFor(connection: Connection): Proxy | undefined;
  /** PEM certificates for a proxy that is spoken to by https. */
  readonly proxyCa: string | undefined;
}

/** What ties a member to its leader, as the member's ClusterSet says it. */
export interface Tie {
  readonly clusterID: string;
  readonly clusterSetID: string;
  readonly leaderClusterID: string;
  readonly server: string;
  /** Name of the Secret with the leader's CA and token. */
  readonly secret: string;
  /** The leader's Namespace. */
  readonly commonArea: string;
}

/** Why something of Antrea's is not as it must be. */
export interface TieFault {
  readonly cause: Cause;
  readonly message: string;
}

/** A right, as a SelfSubjectAccessReview asks for it. */
export interface Right {
  readonly verb: string;
  readonly type: Pick<ResourceType, "group" | "resource">;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

/** What the doctor knows of Antrea Multi-cluster; the same readers that the beats use. */
export interface AntreaPorts {
  /** Finds and checks the member's ClusterSet. */
  readTie(member: Cluster, choice: AntreaMembership, options: CallOptions): Promise<Result<Tie, TieFault>>;
  secretRef(namespace: string, tie: Tie): ObjectRef;
  announceRef(tie: Tie): ObjectRef;
  /** The announce as the first beat would make it. @param touchTs RFC 3339 */
  announceObject(tie: Tie, touchTs: string): { readonly type: ResourceType; readonly object: KubeObject };
  /** The patch that a beat is. */
  touchPatch(touchTs: string): object;
  /** When the last beat came; undefined where it does not say. */
  touchedAt(announce: KubeObject): number | undefined;
  /** What is wrong with the announce's IDs, in words; undefined when nothing is. */
  mismatch(announce: KubeObject, tie: Tie): string | undefined;
  /** What Hawser uses in a member. @param tie where it is known */
  memberRights(choice: AntreaMembership, tie: Tie | undefined): readonly Right[];
  /** What importing uses in a member. */
  importRights(choice: AntreaMembership): readonly Right[];
  /** What Hawser uses in a leader. */
  leaderRights(tie: Tie): readonly Right[];
  /** The leader calls a member disconnected when its last announce is older, in milliseconds. */
  readonly connectionTimeoutMs: number;
}

/** Hawser's own side. */
export interface AwsPorts {
  /** For messages and commands: `hawser-prod`. */
  readonly tableName: string;
  readonly functionPrefix: string;
  /** What a command of the AWS CLI needs to name beside its subject: ` --region eu-central-1`. */
  readonly cliOptions: string;
  readMembership(
    cluster: string,
    protocol: Protocol,
    signal: AbortSignal,
  ): Promise<Result<Membership | undefined, StateError>>;
  readShard(shard: string, signal: AbortSignal): Promise<Result<Shard | undefined, StateError>>;
  readBaton(role: string, shard: string, signal: AbortSignal): Promise<Result<BatonRecord | undefined, StateError>>;
  /** What the role `watch` says of a membership; undefined: nothing yet. */
  readWatchCondition(
    cluster: string,
    protocol: Protocol,
    signal: AbortSignal,
  ): Promise<Result<WatchCondition | undefined, StateError>>;
  /** All imports of a cluster. */
  readImports(cluster: string, signal: AbortSignal): Promise<Result<readonly ImportSummary[], StateError>>;
  /** The schedule that fires a role for a shard; `found` is undefined when there is none. */
  readSchedule(role: string, shard: Shard, signal: AbortSignal): Promise<Result<ScheduleReading, ScheduleError>>;
  /** Asks whether a function is there and may be invoked, without invoking it. */
  probeFunction(role: string, signal: AbortSignal): Promise<Result<void, FunctionFault>>;
}

/** Whether the leader's imports are followed. */
export type WatchCondition = Pick<Condition, "status" | "reason" | "message" | "cause" | "lastTransitionTime">;

/** How one import stands. */
export interface ImportSummary {
  readonly name: string;
  readonly state: ImportState;
  readonly error?: string;
  /** It is as it is to be. */
  readonly calm: boolean;
}

/** A schedule's name, and what there is of it. */
export interface ScheduleReading {
  readonly name: string;
  readonly group: string;
  readonly found: { readonly enabled: boolean; readonly expression: string } | undefined;
}

/** Why a function cannot be invoked. */
export interface FunctionFault {
  readonly kind: "absent" | "denied" | "unreachable";
  readonly message: string;
}

/** Everything that the doctor asks. */
export interface DoctorPorts {
  readonly clock: Clock;
  readonly aws: AwsPorts;
  readonly clusters: ClusterPorts;
  readonly antrea: AntreaPorts;
}
