import type { ItemKey } from "./keys.ts";
import type { Membership } from "./membership.ts";
import { type Expression, expr, path, value } from "./table/expression.ts";
import type { Item, TransactionAnswer, WriteAnswer } from "./table/table.ts";

/** The item is not there. */
export const absent: Expression = expr`attribute_not_exists(${path("pk")})`;

/** The item is there. */
export const present: Expression = expr`attribute_exists(${path("pk")})`;

/** A condition on a plain attribute. */
export function equals(name: string, to: unknown): Expression {
  return expr`${path(name)} = ${value(to)}`;
}

/** No item of a later writer stands there: rules for items that a role writes under its baton. */
export function notLaterThan({ assignment, fence }: { assignment: number; fence: number }): Expression {
  return expr`attribute_not_exists(${path("pk")}) OR ${path("assignment")} < ${value(assignment)} OR (${path("assignment")} = ${value(assignment)} AND ${path("fence")} <= ${value(fence)})`;
}

/** True when a refused write has in fact arrived before: what stands there carries our own write id. */
export function arrivedBefore(answer: WriteAnswer | TransactionAnswer, writeId: string): boolean {
  if (answer.kind !== "refused") return false;
  const standing: readonly (Item | undefined)[] =
    "refusals" in answer ? answer.refusals.map((refusal) => refusal.standing) : [answer.standing];
  return standing.some((item) => item?.["writeId"] === writeId);
}

/** The membership item. `version` rises with each change but those that conditions make. */
export function membershipItem(key: ItemKey, membership: Membership, version: number, writeId: string): Item & ItemKey {
  const { summary } = membership;
  return { ...key, ...membership, summaryState: summary.state, fences: {}, version, writeId };
}
