import { failed, ok, type Result } from "../base/result.ts";
import { untilSettled } from "./attempts.ts";
import {
  type Condition,
  type ConditionKey,
  compareStamps,
  conditionRank,
  type ObservedCondition,
} from "./condition.ts";
import { type AreaConditions, decideAreaWrite } from "./condition-area.ts";
import type { StateError } from "./errors.ts";
import type { NewHistoryEvent } from "./history.ts";
import { eventWrites } from "./history-store.ts";
import { items, readItem } from "./items.ts";
import { conditionPrefix, keys } from "./keys.ts";
import type { MembershipKey, Summary } from "./membership.ts";
import { readAll, under } from "./pages.ts";
import type { StoreParts } from "./store-parts.ts";
import { allOf, assign, type Expression, expr, path, value } from "./table/expression.ts";
import type { Call, Write } from "./table/table.ts";
import { absent, arrivedBefore, equals } from "./writes.ts";

/** A condition with its name. */
export type NamedCondition = Condition & Pick<ConditionKey, "area" | "type">;

/** An area of a membership: all conditions that one role writes. */
export type ConditionArea = MembershipKey & Pick<ConditionKey, "area">;

/** What is written in the same transaction as a condition, and only if the condition is. */
export interface ConditionCompanions {
  readonly summary?: Summary | undefined;
  readonly event?: NewHistoryEvent | undefined;
}

/** What came of a condition write. */
export type ConditionOutcome =
  | { readonly kind: "written"; readonly condition: Condition }
  /** The table says the same, or said nearly the same less than a minute ago; nothing was sent. */
  | { readonly kind: "unchanged"; readonly condition: Condition }
  /** A later writer was there, or the membership is gone, newly assigned or being left: what stands there, if anything. */
  | { readonly kind: "outdated"; readonly standing: Condition | undefined };

/** What came of a write of several conditions; the area's conditions by type as they stand after it. */
export interface AreaOutcome {
  readonly kind: "written" | "unchanged" | "outdated";
  readonly conditions: AreaConditions;
}

/** Conditions in the table. */
export interface ConditionStore {
  /**
   * The conditions of a membership, in the protocol's order: one strongly consistent query, of each area only what one
   * holder has made.
   */
  readConditions(
    cluster: string,
    protocol: MembershipKey["protocol"],
    signal: AbortSignal,
  ): Promise<Result<readonly NamedCondition[], StateError>>;
  /**
   * Refuses from now on what a writer with an earlier stamp sends to the area, also where this one has nothing to write.
   * `outdated`: a later one was there, or the membership is gone or newly assigned.
   */
  fenceConditions(
    area: ConditionArea,
    stamp: Pick<Condition, "assignment" | "fence">,
    signal: AbortSignal,
  ): Promise<Result<"fenced" | "outdated", StateError>>;
  /** Writes one condition, ordered by (assignment, fence), within one fence by `observedAt`. */
  writeCondition(
    key: ConditionKey,
    next: ObservedCondition,
    companions: ConditionCompanions,
    signal: AbortSignal,
  ): Promise<Result<ConditionOutcome, StateError>>;
  /** Writes several conditions of an area together, all or none. */
  writeConditions(
    area: ConditionArea,
    next: Readonly<Record<string, ObservedCondition>>,
    companions: ConditionCompanions,
    signal: AbortSignal,
  ): Promise<Result<AreaOutcome, StateError>>;
}

/** How often a view that two holders have made is read again before it is given up. */
const VIEW_TRIES = 5;

/** Conditions in the table. */
export function conditionStore(parts: StoreParts): ConditionStore {
  return {
    readConditions: async (cluster, protocol, signal) => await readConditions(parts, { cluster, protocol }, signal),
    fenceConditions: async (area, stamp, signal) => await fenceConditions(parts, area, stamp, signal),
    writeConditions: async (area, next, companions, signal) =>
      await writeConditions(parts, { area, next, companions }, signal),
    writeCondition: async ({ type, ...area }, next, companions, signal) => {
      const outcome = await writeConditions(parts, { area, next: { [type]: next }, companions }, signal);
      if (!outcome.ok) return outcome;
      const { kind, conditions } = outcome.value;
      const condition = conditions[type];
      return ok(
        kind === "outdated" || condition === undefined
          ? { kind: "outdated", standing: condition }
          : { kind, condition },
      );
    },
  };
}

async function readConditions(
  { table }: StoreParts,
  { cluster, protocol }: MembershipKey,
  signal: AbortSignal,
): Promise<Result<readonly NamedCondition[], StateError>> {
  const call = { what: `read the conditions of ${cluster}/${protocol}`, signal };
  for (let tries = 0; tries < VIEW_TRIES; tries += 1) {
    const found = await readAll(table, { where: under(keys.cluster(cluster), conditionPrefix(protocol)) }, call);
    if (!found.ok) return found;
    const named: NamedCondition[] = [];
    for (const item of found.value) {
      const read = readItem(items.condition, item);
      if (!read.ok) return read;
      const [, , area = "", type = ""] = String(item["sk"]).split("#");
      named.push({ ...read.value, area, type });
    }
    if (isOfOneHolder(named)) return ok(named.toSorted((a, b) => compareNames(protocol, a, b)));
  }
  return failed({ kind: "unavailable", message: `${call.what}: they changed during each reading; it is tried again` });
}

/** A query may meet a transaction half way: each area must carry one stamp. */
function isOfOneHolder(conditions: readonly NamedCondition[]): boolean {
  const first = new Map<string, NamedCondition>();
  return conditions.every((condition) => {
    const seen = first.get(condition.area);
    if (seen === undefined) first.set(condition.area, condition);
    return seen === undefined || compareStamps(seen, condition) === 0;
  });
}

function compareNames(protocol: MembershipKey["protocol"], a: NamedCondition, b: NamedCondition): number {
  const byRank = conditionRank(protocol, a.type) - conditionRank(protocol, b.type);
  if (byRank !== 0) return byRank;
  return `${a.area}#${a.type}` < `${b.area}#${b.type}` ? -1 : 1;
}

async function fenceConditions(
  { table }: StoreParts,
  area: ConditionArea,
  stamp: Pick<Condition, "assignment" | "fence">,
  signal: AbortSignal,
): Promise<Result<"fenced" | "outdated", StateError>> {
  const call = { what: `fence the ${area.area} conditions of ${area.cluster}/${area.protocol}`, signal };
  const answer = await table.write(membershipStamp(area, stamp, undefined), call);
  if (!answer.ok) return answer;
  return ok(answer.value.kind === "written" ? "fenced" : "outdated");
}

interface AreaWrite {
  readonly area: ConditionArea;
  readonly next: Readonly<Record<string, ObservedCondition>>;
  readonly companions: ConditionCompanions;
}

interface Standing {
  readonly conditions: AreaConditions;
  readonly writeIds: Readonly<Record<string, unknown>>;
}

async function writeConditions(
  parts: StoreParts,
  write: AreaWrite,
  signal: AbortSignal,
): Promise<Result<AreaOutcome, StateError>> {
  const { cluster, protocol, area } = write.area;
  const call = { what: `write the ${area} conditions of ${cluster}/${protocol}`, signal };
  return await untilSettled<AreaOutcome>(parts, call, async () => {
    const standing = await readArea(parts, write.area, call);
    if (!standing.ok) return standing;
    const { conditions } = standing.value;
    const decision = decideAreaWrite(conditions, write.next);
    if (decision.kind !== "write") return ok({ kind: decision.kind, conditions });
    return await send(parts, write, { standing: standing.value, changed: decision.conditions }, call);
  });
}

async function readArea(
  { table }: StoreParts,
  { cluster, protocol, area }: ConditionArea,
  call: Call,
): Promise<Result<Standing, StateError>> {
  const found = await readAll(table, { where: under(keys.cluster(cluster), conditionPrefix(protocol, area)) }, call);
  if (!found.ok) return found;
  const conditions: Record<string, Condition> = {};
  const writeIds: Record<string, unknown> = {};
  for (const item of found.value) {
    const read = readItem(items.condition, item);
    if (!read.ok) return read;
    const type = String(item["sk"]).split("#")[3] ?? "";
    conditions[type] = read.value;
    writeIds[type] = item["writeId"];
  }
  return ok({ conditions, writeIds });
}

/**
 * One transaction: each condition meets what was read, the membership is still there under this assignment and no later
 * fence has written the area, and summary and event go along.
 */
async function send(
  { table, ids }: StoreParts,
  { area, companions }: AreaWrite,
  { standing, changed }: { readonly standing: Standing; readonly changed: AreaConditions },
  call: Call,
): Promise<Result<AreaOutcome, StateError> | "again"> {
  const writeId = ids.uuid();
  const puts = Object.entries(changed).map(([type, condition]): Write => {
    const item = { ...keys.condition({ ...area, type }), ...condition, writeId };
    return { kind: "put", item, condition: unlessMoved(standing, type) };
  });
  const [stamp] = Object.values(changed);
  if (stamp === undefined) return ok({ kind: "unchanged", conditions: standing.conditions });
  const writes: Write[] = [
    membershipStamp(area, stamp, companions.summary),
    ...puts,
    ...eventWrites(area.cluster, companions.event, ids),
  ];
  const answer = await table.transact(writes, call);
  if (!answer.ok) return answer;
  const conditions = { ...standing.conditions, ...changed };
  if (answer.value.kind === "written" || arrivedBefore(answer.value, writeId))
    return ok({ kind: "written", conditions });
  const membershipRefused = answer.value.refusals.some((refusal) => refusal.index === 0);
  return membershipRefused ? ok({ kind: "outdated", conditions: standing.conditions }) : "again";
}

function unlessMoved({ writeIds, conditions }: Standing, type: string): Expression {
  return conditions[type] === undefined ? absent : equals("writeId", writeIds[type]);
}

/** The membership's part: it orders the writes of all holders, also where an area has no condition yet. */
function membershipStamp(
  area: ConditionArea,
  { assignment, fence }: Pick<Condition, "assignment" | "fence">,
  summary: Summary | undefined,
): Extract<Write, { kind: "update" }> {
  const stamped = path("fences", area.area);
  const conditions = [
    equals("assignment", assignment),
    expr`attribute_not_exists(${stamped}) OR ${stamped} <= ${value(fence)}`,
    // Leaving is the last word: a beat that was still under way must not show the membership as connected again.
    ...(summary === undefined || summary.state === "Leaving" ? [] : [expr`${path("phase")} <> ${value("leaving")}`]),
    // So is a pause, until it ends.
    ...(summary === undefined || summary.state === "Leaving" || summary.state === "Paused"
      ? []
      : [expr`attribute_not_exists(${path("paused")})`]),
  ];
  const summaryFields = summary === undefined ? {} : { summary, summaryState: summary.state };
  return {
    kind: "update",
    key: keys.membership(area.cluster, area.protocol),
    update: assign(summaryFields, [expr`${stamped} = ${value(fence)}`]),
    condition: allOf(conditions),
  };
}
