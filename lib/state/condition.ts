import type { Cause } from "../base/cause.ts";
import type { Protocol } from "./membership.ts";

/** Status of a Kubernetes condition. */
export type ConditionStatus = "True" | "False" | "Unknown";

/** Names one condition of a membership. Each area has exactly one writing role. */
export interface ConditionKey {
  readonly cluster: string;
  readonly protocol: Protocol;
  readonly area: string;
  readonly type: string;
}

/** A condition as the table holds it. All moments are milliseconds since the epoch. */
export interface Condition {
  readonly status: ConditionStatus;
  /** The reason that the wire knows; empty where the protocol has none. */
  readonly reason: string;
  /** At most 4,096 bytes. */
  readonly message: string;
  readonly cause?: Cause;
  /** Moves only when `status` moves. */
  readonly lastTransitionTime: number;
  readonly observedAt: number;
  /** Failures in a row that led here; 0 when all is well. */
  readonly failures: number;
  readonly assignment: number;
  readonly fence: number;
}
