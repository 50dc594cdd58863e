import type { Measured, Sample } from "../sampling.ts";

/** The common area of the bench's leader. */
export const COMMON_AREA = "antrea-multicluster";
/** ID of the leader. */
export const LEADER_ID = "north";
/** ID of the ClusterSet. */
export const CLUSTER_SET = "bench";
/** Namespace of ClusterSet and Secret in a member. */
export const MEMBER_NAMESPACE = "kube-system";
/** The member's Secret with the leader's credential. */
export const MEMBER_SECRET = "leader-token";

/** One member of the bench, as its driver knows it. */
export interface BenchMember {
  /** Also its cluster ID. */
  readonly cluster: string;
  /** Token of its ServiceAccount in the leader. */
  readonly token: string;
  /** Kubeconfig of the member, where members are API servers. */
  readonly kubeconfig?: string;
}

/** A leader that is up. */
export interface RunningLeader {
  readonly url: string;
  readonly caPem: string;
  readonly members: readonly BenchMember[];
}

/** One request of a member, as the leader logged it. */
export interface LoggedRequest {
  readonly cluster: string;
  readonly verb: string;
  /** A write of the announce that succeeded: a beat. */
  readonly beat: boolean;
  /** When its answer was complete, milliseconds since the epoch. */
  readonly atMs: number;
  readonly status: number;
  readonly connection: number;
  readonly http2: boolean;
  /** As the server counts them: in is what the driver sent. */
  readonly bytesIn: number;
  readonly bytesOut: number;
}

/** What a leader has seen. */
export interface LeaderRecord {
  readonly requests: readonly LoggedRequest[];
  /** Connections that have carried announces since the start. */
  readonly connectionsOpened: number;
}

/** The process of a leader, or of the members' API server. */
export type ServerCalls = {
  readonly startLeader: (of: {
    readonly clusters: readonly string[];
    readonly seed: number;
    readonly webhook: boolean;
  }) => Promise<RunningLeader>;
  /** One API server that stands for all members; answers their kubeconfigs, in order. */
  readonly startMembers: (of: { readonly leader: RunningLeader; readonly seed: number }) => Promise<readonly string[]>;
  /** Requests that were answered between two moments. */
  readonly record: (between: { readonly fromMs: number; readonly toMs: number }) => Promise<LeaderRecord>;
};

/** The process of a driver. */
export type DriverCalls = {
  /** Begins to beat; answers when every member has announced once. */
  readonly begin: (of: { readonly leader: RunningLeader; readonly seed: number }) => Promise<DriverFacts>;
  readonly measure: (when: Measured) => Promise<readonly Sample[]>;
  /** After a full garbage collection. */
  readonly retained: (of: Record<string, never>) => Promise<Sample>;
};

/** What a driver knows of itself. */
export interface DriverFacts {
  /** Bytes of one `Authorization` header on the wire, where the driver can tell. */
  readonly authorizationBytes?: number;
}
