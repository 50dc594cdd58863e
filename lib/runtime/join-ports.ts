import type { Result } from "../base/result.ts";
import type { ShardEvent } from "../schedule/plan.ts";
import type { StateError } from "../state/errors.ts";
import type { Membership, MembershipKey, MembershipSpec } from "../state/membership.ts";
import type { MembershipChange, MembershipExpectation } from "../state/membership-change.ts";
import type { CreateOutcome, JoinRequest, MembershipOutcome } from "../state/membership-outcome.ts";
import type { ShardSchedulePorts } from "./shard-schedules.ts";

/** Why a step of a join or leave did not work: the remote side's words, made for people, without secrets. */
export interface StepFault {
  readonly message: string;
}

/** What the cluster said of itself before anything was written. */
export interface Preflight {
  /** Who the cluster is: the UID of its `kube-system` Namespace. */
  readonly clusterUID: string;
  /**
   * Keeps what it takes to leave the hub, where it is not kept yet. Undefined: the cluster does not name its hub, or not
   * with a credential that could be kept.
   */
  keep(membership: Membership, signal: AbortSignal): Promise<Result<KeptHub | undefined, StepFault>>;
  /**
   * The first beat, after which the hub knows the cluster; only for a membership that is in the table. May be repeated.
   * `waiting`: the cluster does not name its hub yet, which is no error.
   */
  announce(signal: AbortSignal): Promise<Result<FirstAnnounce, StepFault>>;
}

/** What is kept of a hub, and what is to be noted of it in the table. */
export interface KeptHub {
  readonly outcome: "updated" | "unchanged";
  readonly note: Pick<MembershipChange, "keptLeaderHash" | "leader">;
}

/** What came of a first beat. */
export interface FirstAnnounce {
  readonly outcome: "created" | "updated" | "waiting";
  /** What a person should know about it. */
  readonly message?: string;
}

/** What a protocol does for a join. */
export interface JoinProtocol {
  /** Asks the cluster who it is and how it reaches its hub. Writes nothing. */
  preflight(spec: MembershipSpec, signal: AbortSignal): Promise<Result<Preflight, StepFault>>;
}

/** What a join reads and writes. Every call ends by itself or soon after `signal` fires, and may be repeated. */
export interface JoinPorts extends ShardSchedulePorts {
  readonly protocol: JoinProtocol;
  readonly memberships: {
    createMembership(request: JoinRequest, signal: AbortSignal): Promise<Result<CreateOutcome, StateError>>;
    updateMembership(
      key: MembershipKey,
      change: MembershipChange,
      expect: MembershipExpectation,
      signal: AbortSignal,
    ): Promise<Result<MembershipOutcome | { readonly kind: "absent" }, StateError>>;
  };
  /** True when a window works the role for the shard. */
  readonly isWorked: (event: ShardEvent, signal: AbortSignal) => Promise<Result<boolean, StepFault>>;
  /** Invokes the role once, without waiting for it. */
  readonly invoke: (event: ShardEvent, signal: AbortSignal) => Promise<Result<void, StepFault>>;
}
