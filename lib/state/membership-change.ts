import { isDeepStrictEqual } from "node:util";
import type { Membership, MembershipSpec, Phase, Summary } from "./membership.ts";

/** What a role may change in a membership. What is absent stays. */
export interface MembershipChange {
  readonly phase?: Phase;
  readonly connectedOnce?: boolean;
  /** May be set once; another one afterwards is another cluster. */
  readonly clusterUID?: string;
  readonly summary?: Summary;
  readonly access?: MembershipSpec["access"];
  readonly antrea?: MembershipSpec["antrea"];
  readonly options?: MembershipSpec["options"];
  /** The leader or its credential has changed: conditions are ordered anew. A changed `access` or `antrea` implies it. */
  readonly newAssignment?: boolean;
}

/** What must hold for a change. */
export interface MembershipExpectation {
  readonly phase?: readonly Phase[];
  readonly assignment?: number;
}

/** Why a membership is left as it is. */
export type MembershipRefusal =
  /** The name belongs to a cluster with another `kube-system` Namespace UID. */
  | "OtherCluster"
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
  const { newAssignment, summary, ...fields } = change;
  const changed: Membership = { ...previous, ...defined(fields) };
  const reassigned =
    newAssignment === true ||
    !isDeepStrictEqual(changed.access, previous.access) ||
    !isDeepStrictEqual(changed.antrea, previous.antrea);
  const next: Membership = {
    ...changed,
    assignment: previous.assignment + (reassigned ? 1 : 0),
    summary: nextSummary(previous.summary, summary),
  };
  if (isDeepStrictEqual(next, previous)) return { kind: "unchanged" };
  const raisesRevision = !isDeepStrictEqual({ ...next, summary: previous.summary }, previous);
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

function defined<T extends object>(of: T): Partial<T> {
  return Object.fromEntries(Object.entries(of).filter(([, value]) => value !== undefined)) as Partial<T>;
}
