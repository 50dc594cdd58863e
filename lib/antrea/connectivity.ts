import { cutText } from "../base/limits.ts";
import { never } from "../base/result.ts";
import type { Condition } from "../state/condition.ts";
import type { Summary } from "../state/membership.ts";
import type { Fault } from "./fault.ts";
import {
  MESSAGE_IS_LEADER,
  MESSAGE_LEADER_ADDED,
  MESSAGE_PAUSED,
  REASON_DISCONNECTED,
  REASON_PAUSED,
} from "./names.ts";

/** A condition without the order of writers, which only the table knows. */
export type ConnectivityCondition = Omit<Condition, "assignment" | "fence">;

/** The two conditions that a member keeps for its leader. */
export interface Connectivity {
  readonly ready: ConnectivityCondition;
  readonly isLeader: ConnectivityCondition;
}

/** What a beat, or the attempt to prepare one, has shown. */
export type ConnectivityObservation =
  /**
   * The leader took the announce. `found`: it existed before. `mismatch`: it carries other IDs than it should, which
   * a leader does not refuse on an update.
   */
  | { readonly kind: "announced"; readonly found: boolean; readonly mismatch?: Fault }
  /** It could not be brought to the leader. `found`: the refusal proves nevertheless that an announce exists. */
  | { readonly kind: "failed"; readonly fault: Fault; readonly found: boolean }
  /** What the member says about its leader cannot be used: no beat is possible until a person mends it. */
  | { readonly kind: "misconfigured"; readonly fault: Fault }
  /** The member has no ClusterSet (yet). */
  | { readonly kind: "waiting"; readonly fault: Fault }
  /** A person has asked for a rest: nothing is sent, so nothing is known. */
  | { readonly kind: "paused" };

/** What may be tuned. */
export interface ConnectivityOptions {
  /** Failed beats in a row that turn `Ready` False; 1: the first one does, as in the in-cluster agent. */
  readonly failureThreshold: number;
}

/**
 * The conditions of a connection that has not beaten yet: a new leader, another one, or a new ClusterSet. A changed URL,
 * Secret, window or holder is not a new connection.
 * @param now milliseconds since the epoch
 */
export function initialConnectivity(now: number): Connectivity {
  const added = { reason: "", message: MESSAGE_LEADER_ADDED, lastTransitionTime: now, observedAt: now, failures: 0 };
  return { ready: { status: "Unknown", ...added }, isLeader: { status: "False", ...added } };
}

/**
 * The one place that decides connectivity.
 *
 * As the in-cluster agent does: a success makes `Ready` True without reason or message; a failure makes it False with
 * reason `Disconnected` and the error; `IsLeader` becomes True when the leader shows that it has our announce and does
 * not go back for this connection. Better than it: failures must repeat, recovery is at once, a connection that never
 * worked shows its error and is False at the threshold, and the latest error is always the one shown.
 *
 * @param previous `undefined`: a connection that has not beaten yet
 * @param now milliseconds since the epoch
 */
export function decideConnectivity(
  previous: Connectivity | undefined,
  observation: ConnectivityObservation,
  now: number,
  options: ConnectivityOptions,
): Connectivity {
  const before = previous ?? initialConnectivity(now);
  switch (observation.kind) {
    case "announced":
      return {
        ready: next(before.ready, now, { status: "True", reason: "", failures: 0, fault: observation.mismatch }),
        isLeader: leaderSeen(before.isLeader, observation.found, now),
      };
    case "failed": {
      const failures = before.ready.failures + 1;
      return {
        ready: afterFailure(before.ready, observation.fault, now, failures, failures >= options.failureThreshold),
        isLeader: leaderSeen(before.isLeader, observation.found, now),
      };
    }
    case "misconfigured":
      // Not a flap: the member's own objects say it, and nothing but a change of them will help.
      return {
        ready: afterFailure(before.ready, observation.fault, now, before.ready.failures + 1, true),
        isLeader: before.isLeader,
      };
    case "waiting":
      // Deleting the ClusterSet is how an Antrea member leaves: there is no leader any more, so nothing is kept.
      return {
        ready: next(before.ready, now, { status: "Unknown", reason: "", failures: 0, fault: observation.fault }),
        isLeader: next(before.isLeader, now, { status: "False", reason: "", failures: 0, fault: observation.fault }),
      };
    case "paused":
      return { ready: paused(before.ready, now), isLeader: { ...before.isLeader, observedAt: now } };
    default:
      return never(observation);
  }
}

/** The line about the membership that goes with these conditions. */
export function summarise(connectivity: Connectivity): Summary {
  const { status, reason, cause, lastTransitionTime } = connectivity.ready;
  if (reason === REASON_PAUSED) return { state: "Paused", since: lastTransitionTime };
  const state = { True: "Connected", False: "Disconnected", Unknown: "Pending" } as const;
  return { state: state[status], ...(cause === undefined ? {} : { cause }), since: lastTransitionTime };
}

function afterFailure(
  before: ConnectivityCondition,
  fault: Fault,
  now: number,
  failures: number,
  disconnected: boolean,
): ConnectivityCondition {
  if (disconnected || before.status === "False") {
    return next(before, now, { status: "False", reason: REASON_DISCONNECTED, failures, fault });
  }
  // Connected, and not yet enough failures to say otherwise: only the count tells.
  if (before.status === "True") return { ...before, observedAt: now, failures };
  return next(before, now, { status: "Unknown", reason: "", failures, fault });
}

function paused(before: ConnectivityCondition, now: number): ConnectivityCondition {
  const rest = { status: "Unknown", reason: REASON_PAUSED, failures: 0, fault: undefined } as const;
  return { ...next(before, now, rest), message: MESSAGE_PAUSED };
}

function leaderSeen(before: ConnectivityCondition, found: boolean, now: number): ConnectivityCondition {
  if (!found || before.status === "True") return { ...before, observedAt: now };
  return {
    status: "True",
    reason: "",
    message: MESSAGE_IS_LEADER,
    lastTransitionTime: now,
    observedAt: now,
    failures: 0,
  };
}

function next(
  before: ConnectivityCondition,
  now: number,
  to: Pick<ConnectivityCondition, "status" | "reason" | "failures"> & { readonly fault: Fault | undefined },
): ConnectivityCondition {
  return {
    status: to.status,
    reason: to.reason,
    message: cutText(to.fault?.message ?? ""),
    ...(to.fault === undefined ? {} : { cause: to.fault.cause }),
    lastTransitionTime: before.status === to.status ? before.lastTransitionTime : now,
    observedAt: now,
    failures: to.failures,
  };
}
