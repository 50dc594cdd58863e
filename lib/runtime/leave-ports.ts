import type { Cause } from "../base/cause.ts";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import type { Result } from "../base/result.ts";
import type { StateError } from "../state/errors.ts";
import type { Membership } from "../state/membership.ts";
import type { MembershipStore } from "../state/membership-store.ts";
import type { StepFault } from "./join-ports.ts";
import type { ShardSchedulePorts } from "./shard-schedules.ts";

/** Why a part of a leave did not work, and what stays behind if it is given up. */
export interface PartFault extends StepFault {
  readonly cause: Cause;
  readonly orphan: string;
}

/** A part of a leave that is done. `unchanged`: there was nothing to do. */
export interface PartDone {
  readonly outcome: "done" | "unchanged";
  /** What a person should know about it. */
  readonly message?: string;
}

/** What a protocol does for a leave. Each may be repeated; what is gone already is a success. */
export interface LeaveProtocol {
  /** Takes what joining made out of the cluster. */
  cleanMember(membership: Membership, signal: AbortSignal): Promise<Result<PartDone, PartFault>>;
  /** Takes the cluster out of its hub. */
  leaveHub(membership: Membership, signal: AbortSignal): Promise<Result<PartDone, PartFault>>;
  /** Deletes what was kept for leaving. */
  forget(membership: Membership, signal: AbortSignal): Promise<Result<void, StepFault>>;
}

/** What a leave reads and writes. Every call ends by itself or soon after `signal` fires, and may be repeated. */
export interface LeavePorts extends ShardSchedulePorts {
  readonly clock: Clock;
  readonly random: Random;
  readonly protocol: LeaveProtocol;
  readonly memberships: Pick<
    MembershipStore,
    "readMembership" | "updateMembership" | "detachMembership" | "removeMembership"
  >;
  /** True when no window beats by a view of the shard that is older than the revision. */
  hasSeen(shard: string, revision: number, signal: AbortSignal): Promise<Result<boolean, StateError>>;
}
