import type { Cause } from "../base/cause.ts";
import { cutText } from "../base/limits.ts";
import type { MembershipKey, Protocol } from "./membership.ts";

/** The statuses of a Kubernetes condition. */
export const CONDITION_STATUSES = ["True", "False", "Unknown"] as const;

/** Status of a Kubernetes condition. */
export type ConditionStatus = (typeof CONDITION_STATUSES)[number];

/** Names one condition of a membership. Each area has exactly one writing role. */
export interface ConditionKey extends MembershipKey {
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

/** A condition as its writing role sees it now. `lastTransitionTime` follows from what the table holds. */
export type ObservedCondition = Omit<Condition, "lastTransitionTime">;

/** What becomes of an observed condition. */
export type ConditionDecision =
  | { readonly kind: "write"; readonly condition: Condition }
  /** The table says the same already, or said nearly the same less than a minute ago. */
  | { readonly kind: "unchanged" }
  /** A later assignment, a later fence or a later observation stands in the table. */
  | { readonly kind: "outdated" };

/** The types that a protocol reports first, in its order. Those of our own follow. */
const ORDER: Readonly<Record<Protocol, readonly string[]>> = { antrea: ["Ready", "IsLeader"], ocm: [] };

/** Where a condition type stands in the order of its protocol: lower comes first. */
export function conditionRank(protocol: Protocol, type: string): number {
  const index = ORDER[protocol].indexOf(type);
  return index === -1 ? ORDER[protocol].length : index;
}

/** What stays unhealthy is written at most once in this time, in milliseconds. */
export const REPEAT_MS = 60_000;

/**
 * Decides a condition write from what the table holds. Writes are ordered by (assignment, fence), within one fence by
 * `observedAt`; the clocks of two holders are never compared for order.
 */
export function decideConditionWrite(previous: Condition | undefined, observed: ObservedCondition): ConditionDecision {
  const next = { ...observed, message: cutText(observed.message) };
  if (previous === undefined) {
    return { kind: "write", condition: { ...next, lastTransitionTime: next.observedAt } };
  }
  const order = compareStamps(next, previous);
  if (order < 0 || (order === 0 && next.observedAt < previous.observedAt)) return { kind: "outdated" };
  if (saysTheSame(previous, next) || isRepetition(previous, next)) return { kind: "unchanged" };
  const lastTransitionTime = next.status === previous.status ? previous.lastTransitionTime : next.observedAt;
  return { kind: "write", condition: { ...next, lastTransitionTime } };
}

/** Orders two writers: below 0 when `a` comes before `b`, 0 when both are the same holder under the same assignment. */
export function compareStamps(
  a: Pick<Condition, "assignment" | "fence">,
  b: Pick<Condition, "assignment" | "fence">,
): number {
  return a.assignment - b.assignment || a.fence - b.fence;
}

function saysTheSame(a: ObservedCondition, b: ObservedCondition): boolean {
  return sameState(a, b) && a.message === b.message && a.failures === b.failures;
}

/** A failure that goes on: only its count or its words have moved since it was written, less than a minute ago. */
function isRepetition(previous: Condition, next: ObservedCondition): boolean {
  const failing = previous.failures > 0 && next.failures > 0;
  return failing && sameState(previous, next) && Math.abs(next.observedAt - previous.observedAt) < REPEAT_MS;
}

function sameState(a: ObservedCondition, b: ObservedCondition): boolean {
  return a.status === b.status && a.reason === b.reason && a.cause === b.cause;
}
