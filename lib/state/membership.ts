import type { Cause } from "../base/cause.ts";

/** The protocols by which a cluster joins a hub. */
export const PROTOCOLS = ["antrea", "ocm"] as const;

/** One of {@link PROTOCOLS}. */
export type Protocol = (typeof PROTOCOLS)[number];

/** How Hawser reaches the cluster that joins. Exactly one way; never a secret itself, always a reference to one. */
export type Access = { readonly kubeconfig: KubeconfigReference };

/** Where a kubeconfig lies: a file (local world only) or an SSM parameter (SecureString). */
export type KubeconfigReference =
  | { readonly file: string; readonly context?: string }
  | { readonly ssm: string; readonly context?: string };

/** What an Antrea membership needs to know beyond the cluster's own ClusterSet. */
export interface AntreaMembership {
  /** Namespace of the ClusterSet and its token Secret in the member. */
  readonly namespace: string;
  /** Name of the ClusterSet; absent: the one ClusterSet of the Namespace. */
  readonly clusterSet?: string;
  readonly imports?: ImportOptions;
}

/** What of the leader's ResourceImports a member takes, and how soon. */
export interface ImportOptions {
  /** Whether LabelIdentities are imported: Antrea's `enableStretchedNetworkPolicy`. Default: false. */
  readonly labelIdentities?: boolean;
  /** The only Namespaces that imports may write to; absent: all but those whose names begin with `kube-`. */
  readonly namespaces?: readonly string[];
}

/** What a user may tune. */
export interface MembershipOptions {
  /** Beats that must fail in a row before a membership that was connected is shown as disconnected. */
  readonly failureThreshold: number;
  /** Which network the functions must run in to reach the cluster; a shard serves one network profile. */
  readonly networkProfile: string;
}

/** What the user asked for, validated: the membership document with its defaults filled in. */
export interface MembershipSpec {
  /** Hawser's own name of the cluster, unique per stage; a DNS-1123 label. */
  readonly cluster: string;
  readonly protocol: Protocol;
  readonly access: Access;
  readonly antrea: AntreaMembership;
  readonly options: MembershipOptions;
}

/** Names one membership. */
export interface MembershipKey {
  readonly cluster: string;
  readonly protocol: Protocol;
}

/** The phases of a membership's life. */
export const PHASES = ["joining", "joined", "leaving", "left"] as const;

/** Where a membership is in its life. */
export type Phase = (typeof PHASES)[number];

/** The states by which memberships are listed. */
export const SUMMARY_STATES = ["Pending", "Connected", "Disconnected", "Unknown", "Paused", "Leaving"] as const;

/** One of {@link SUMMARY_STATES}. */
export type SummaryState = (typeof SUMMARY_STATES)[number];

/** One line about a membership for lists, written together with the condition that changes it. */
export interface Summary {
  readonly state: SummaryState;
  readonly cause?: Cause;
  /** Milliseconds since the epoch. */
  readonly since: number;
}

/** Why a membership is left. After `ClusterSetDeleted` it stays in the table and waits for the next ClusterSet. */
export const LEAVE_REASONS = ["Requested", "ClusterSetDeleted"] as const;

/** One of {@link LEAVE_REASONS}. */
export type LeaveReason = (typeof LEAVE_REASONS)[number];

/** The leader that a membership was last connected to. */
export interface LeaderIdentity {
  readonly clusterID: string;
  /** Its API server, in its normal form. */
  readonly server: string;
}

/** How far a leave has come, and why it waits. */
export interface LeaveProgress {
  /** What cannot be reached is given up and named, instead of being tried again. */
  readonly force: boolean;
  readonly startedAt: number;
  /** Tries that did not come to the end. */
  readonly attempts: number;
  readonly nextAttemptAt?: number;
  /** Why the last try did not come to the end; at most 4,096 bytes. */
  readonly problem?: string;
}

/** The membership item. All moments are milliseconds since the epoch. */
export interface Membership extends MembershipSpec {
  readonly shard: string;
  readonly phase: Phase;
  /** Rises when the membership changes shard, leader or credential; orders condition writes before the fence does. */
  readonly assignment: number;
  /** UID of the `kube-system` Namespace: the identity behind the name. */
  readonly clusterUID?: string;
  /** True: its roles let it rest until it is resumed. */
  readonly paused?: boolean;
  readonly leader?: LeaderIdentity;
  /** Keyed hash of what the credential store keeps of the leader; absent: nothing is known to be kept. */
  readonly keptLeaderHash?: string;
  readonly leaveReason?: LeaveReason;
  readonly leave?: LeaveProgress;
  /** Set once the first beat has succeeded; `watch` starts by it. */
  readonly connectedOnce: boolean;
  readonly createdAt: number;
  readonly createdBy: string;
  readonly updatedAt: number;
  readonly summary: Summary;
}
