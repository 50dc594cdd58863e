import * as v from "valibot";
import type { ConditionStatus } from "../state/condition.ts";
import type { Connectivity, ConnectivityCondition } from "./connectivity.ts";
import { MESSAGE_DISCONNECTED_FROM_LEADER, MESSAGE_NOT_YET_CONNECTED } from "./names.ts";

/** A ClusterSet of a member, as far as its status needs it. */
export interface ObservedClusterSet {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  readonly generation: number;
  /** The leader's ID, if the ClusterSet names one. */
  readonly leaderClusterID: string | undefined;
  /** As it was on the wire. */
  readonly status: unknown;
}

/** A condition of a ClusterSet on the wire. Empty texts are left out, as the API server would. */
interface WireCondition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
  readonly message?: string;
  readonly reason?: string;
}

/** `status` of a ClusterSet in a member. */
export interface ClusterSetStatus {
  readonly observedGeneration: number;
  readonly totalClusters: number;
  readonly readyClusters: number;
  readonly clusterStatuses: readonly { readonly clusterID: string; readonly conditions: readonly WireCondition[] }[];
  readonly conditions: readonly Readonly<Record<string, unknown>>[];
}

const TEXT = v.optional(v.string(), "");
const CONDITION = v.looseObject({ type: TEXT, status: TEXT, lastTransitionTime: TEXT, message: TEXT, reason: TEXT });
const CLUSTER = v.object({ clusterID: TEXT, conditions: v.optional(v.array(CONDITION), []) });
const STATUS = v.object({
  observedGeneration: v.optional(v.number(), 0),
  totalClusters: v.optional(v.number(), 0),
  readyClusters: v.optional(v.number(), 0),
  clusterStatuses: v.optional(v.array(CLUSTER), []),
  conditions: v.optional(v.array(CONDITION), []),
});

type Shown = v.InferOutput<typeof STATUS>;
type ShownCondition = v.InferOutput<typeof CONDITION>;

/**
 * The status that a member's ClusterSet should show; `undefined` when it shows it already.
 *
 * One entry for the leader with `Ready` and `IsLeader`; one cluster in all, ready when the leader is; and the overall
 * `Ready`: True when the leader is Ready and IsLeader, Unknown while it is only Ready, False otherwise. The time of
 * the overall condition moves only with its status, also where several conditions of that type are found (one is left);
 * conditions of other types are not ours and are kept. Absent, null, empty and zero are the same.
 *
 * @param connectivity `undefined`: no connection has been tried
 * @param now milliseconds since the epoch
 */
export function planClusterSetStatus(
  observed: ObservedClusterSet,
  connectivity: Connectivity | undefined,
  now: number,
): ClusterSetStatus | undefined {
  const parsed = v.safeParse(STATUS, withoutNulls(observed.status ?? {}));
  // What does not even have the shape of a status is replaced.
  const shown: Shown = parsed.success ? parsed.output : v.parse(STATUS, {});
  const leader = observed.leaderClusterID === undefined ? undefined : connectivity;
  const wanted: ClusterSetStatus = {
    observedGeneration: observed.generation,
    totalClusters: 1,
    readyClusters: leader?.ready.status === "True" ? 1 : 0,
    clusterStatuses:
      leader === undefined || observed.leaderClusterID === undefined
        ? []
        : [
            {
              clusterID: observed.leaderClusterID,
              conditions: [wireCondition("Ready", leader.ready), wireCondition("IsLeader", leader.isLeader)],
            },
          ],
    conditions: overallConditions(shown.conditions, overall(leader), now),
  };
  return parsed.success && same(shown, v.parse(STATUS, wanted)) ? undefined : wanted;
}

/** ID of the leader whose conditions a ClusterSet shows. */
export function shownLeader(observed: ObservedClusterSet): string | undefined {
  const parsed = v.safeParse(STATUS, withoutNulls(observed.status ?? {}));
  return parsed.success ? parsed.output.clusterStatuses[0]?.clusterID : undefined;
}

interface Overall {
  readonly status: ConditionStatus;
  readonly message: string;
}

function overall(leader: Connectivity | undefined): Overall {
  if (leader?.ready.status !== "True") return { status: "False", message: MESSAGE_DISCONNECTED_FROM_LEADER };
  if (leader.isLeader.status !== "True") return { status: "Unknown", message: MESSAGE_NOT_YET_CONNECTED };
  return { status: "True", message: "" };
}

/** The conditions with exactly one of type `Ready`, in the place of the first one. */
function overallConditions(
  shown: readonly ShownCondition[],
  wanted: Overall,
  now: number,
): readonly Readonly<Record<string, unknown>>[] {
  const unchanged = shown.find((c) => c.type === "Ready" && c.status === wanted.status);
  const since = unchanged?.lastTransitionTime ?? "";
  const ready = {
    type: "Ready",
    status: wanted.status,
    lastTransitionTime: Number.isNaN(Date.parse(since)) ? wireTime(now) : since,
    ...(wanted.message === "" ? {} : { message: wanted.message }),
  };
  const first = shown.findIndex((c) => c.type === "Ready");
  const others = shown.filter((c) => c.type !== "Ready").map(withoutEmpty);
  return first === -1 ? [...others, ready] : [...others.slice(0, first), ready, ...others.slice(first)];
}

function wireCondition(type: string, condition: ConnectivityCondition): WireCondition {
  // A True condition has neither on the wire, whatever the table says beside it; IsLeader's message is fixed.
  const message = type === "Ready" && condition.status === "True" ? "" : condition.message;
  return {
    type,
    status: condition.status,
    lastTransitionTime: wireTime(condition.lastTransitionTime),
    ...(message === "" ? {} : { message }),
    ...(condition.reason === "" ? {} : { reason: condition.reason }),
  };
}

/** RFC 3339 in UTC, to the second, as Kubernetes' `metav1.Time` is written. */
function wireTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}

function withoutEmpty(condition: ShownCondition): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Object.entries(condition).filter(([, value]) => value !== ""));
}

function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, field]) => field !== null)
      .map(([key, field]) => [key, withoutNulls(field)]),
  );
}

function same(shown: Shown, wanted: Shown): boolean {
  return canonical(shown) === canonical(wanted);
}

/** Both sides have passed the schema, so absent and empty are the same; times are compared as moments, in seconds. */
function canonical(status: Shown): string {
  const conditions = (list: readonly ShownCondition[]): readonly unknown[] =>
    list.map(({ type, status, lastTransitionTime, message, reason, ...rest }) => [
      type,
      status,
      Math.floor(Date.parse(lastTransitionTime) / 1000),
      message,
      reason,
      Object.entries(rest).toSorted(([a], [b]) => (a < b ? -1 : 1)),
    ]);
  return JSON.stringify([
    status.observedGeneration,
    status.totalClusters,
    status.readyClusters,
    status.clusterStatuses.map((c) => [c.clusterID, conditions(c.conditions)]),
    conditions(status.conditions),
  ]);
}
