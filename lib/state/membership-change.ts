import { isDeepStrictEqual } from "node:util";
import type { NewHistoryEvent } from "./history.ts";
import type {
  LeaderIdentity,
  LeaveProgress,
  LeaveReason,
  Membership,
  MembershipSpec,
  Phase,
  Summary,
} from "./membership.ts";

/** What a role may change in a membership. What is absent stays, `null` takes the field away. */
export interface MembershipChange {
  readonly phase?: Phase;
  readonly connectedOnce?: boolean;
  /** May be set once; another one afterwards is another cluster. */
  readonly clusterUID?: string;
  readonly summary?: Summary;
  readonly access?: MembershipSpec["access"];
  readonly antrea?: MembershipSpec["antrea"];
  readonly options?: MembershipSpec["options"];
  readonly paused?: boolean;
  readonly leader?: LeaderIdentity | null;
  readonly keptLeaderHash?: string | null;
  readonly leaveReason?: LeaveReason | null;
  readonly leave?: LeaveProgress | null;
  /** The leader or its credential has changed: conditions are ordered anew. A changed `access` or `antrea` implies it. */
  readonly reassign?: boolean;
  /** A line for people, written with the change and only if there is one. */
  readonly event?: NewHistoryEvent;
}

/**
 * Fields that no window works by: a change of them alone does not raise the shard's revision. Each of the others makes
 * every holder of the shard read its memberships again.
 */
const BOOKKEEPING = [
  "summary",
  "updatedAt",
  "leader",
  "keptLeaderHash",
  "leave",
] as const satisfies (keyof Membership)[];

/** What must hold for a change. */
export interface MembershipExpectation {
  readonly phase?: readonly Phase[];
  readonly assignment?: number;
}

/** What must hold for a departure, and the line for people that goes with it. */
export interface Departure extends MembershipExpectation {
  readonly event?: NewHistoryEvent;
}

/** Why a membership is left as it is. */
export type MembershipRefusal =
  /** The name belongs to a cluster with another `kube-system` Namespace UID. */
  | "OtherCluster"
  /** The cluster has joined under another name already. */
  | "SameCluster"
  /** It is being left; joining again is possible after that. */
  | "Leaving"
  /** The expectation of the caller does not hold. */
  | "NotAsExpected";

/** What becomes of a change. */
export type MembershipDecision =
  | { readonly kind: "change"; readonly next: Membership; readonly raisesRevision: boolean }
  | { readonly kind: "unchanged" }
  | { readonly kind: "refused"; readonly because: MembershipRefusal };

/** Decides a change of a membership; `now` in milliseconds since the epoch. The shard is not changed here. */
export function decideMembershipChange(
  previous: Membership,
  change: MembershipChange,
  expect: MembershipExpectation,
  now: number,
): MembershipDecision {
  if (isOtherCluster(previous, change.clusterUID)) return { kind: "refused", because: "OtherCluster" };
  if (expect.phase?.includes(previous.phase) === false) return { kind: "refused", because: "NotAsExpected" };
  if (expect.assignment !== undefined && expect.assignment !== previous.assignment) {
    return { kind: "refused", because: "NotAsExpected" };
  }
  // It is out of its shard: there is no way back but a new join.
  if (previous.phase === "left" && (change.phase ?? "left") !== "left") return { kind: "refused", because: "Leaving" };
  const { reassign, summary, event: _event, ...fields } = change;
  const changed = changedBy(previous, fields);
  const reassigned =
    reassign === true ||
    !isDeepStrictEqual(changed.access, previous.access) ||
    !isDeepStrictEqual(changed.antrea, previous.antrea);
  const next: Membership = {
    ...changed,
    assignment: previous.assignment + (reassigned ? 1 : 0),
    summary: nextSummary(previous.summary, summary),
  };
  if (isDeepStrictEqual(next, previous)) return { kind: "unchanged" };
  const raisesRevision = !isDeepStrictEqual(withoutBookkeeping(next), withoutBookkeeping(previous));
  return { kind: "change", next: { ...next, updatedAt: now }, raisesRevision };
}

/** Decides what a membership document changes in a membership that exists. */
export function decideRejoin(
  previous: Membership,
  spec: MembershipSpec,
  clusterUID: string | undefined,
  now: number,
): MembershipDecision {
  if (isOtherCluster(previous, clusterUID)) return { kind: "refused", because: "OtherCluster" };
  if (previous.phase === "leaving" || previous.phase === "left") return { kind: "refused", because: "Leaving" };
  const { access, antrea, options } = spec;
  const change = { access, antrea, options, ...(clusterUID === undefined ? {} : { clusterUID }) };
  return decideMembershipChange(previous, change, {}, now);
}

function isOtherCluster(previous: Membership, clusterUID: string | undefined): boolean {
  return clusterUID !== undefined && previous.clusterUID !== undefined && clusterUID !== previous.clusterUID;
}

/** `since` is when the state began, so it moves only with the state. */
function nextSummary(previous: Summary, next: Summary | undefined): Summary {
  if (next === undefined) return previous;
  return next.state === previous.state ? { ...next, since: previous.since } : next;
}

function changedBy(previous: Membership, change: Omit<MembershipChange, "reassign" | "summary" | "event">): Membership {
  const { paused, leader, keptLeaderHash, leaveReason, leave, ...rest } = change;
  const stays = withoutOptional(previous);
  return {
    ...stays,
    ...defined(rest),
    // A pause that has ended leaves nothing behind.
    ...optional("paused", previous, paused === false ? null : paused),
    ...optional("leader", previous, leader),
    ...optional("keptLeaderHash", previous, keptLeaderHash),
    ...optional("leaveReason", previous, leaveReason),
    ...optional("leave", previous, leave),
  };
}

function withoutOptional(membership: Membership): Membership {
  const {
    paused: _paused,
    leader: _leader,
    keptLeaderHash: _hash,
    leaveReason: _reason,
    leave: _leave,
    ...stays
  } = membership;
  return stays;
}

function optional<K extends "paused" | "leader" | "keptLeaderHash" | "leaveReason" | "leave">(
  name: K,
  previous: Membership,
  given: Membership[K] | null | undefined,
): Pick<Membership, K> | object {
  const next = given === undefined ? previous[name] : given;
  return next === null || next === undefined ? {} : { [name]: next };
}

function withoutBookkeeping(membership: Membership): object {
  const passedOver = new Set<string>(BOOKKEEPING);
  return Object.fromEntries(Object.entries(membership).filter(([name]) => !passedOver.has(name)));
}

function defined<T extends object>(of: T): Partial<T> {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as Partial<T>;
}
