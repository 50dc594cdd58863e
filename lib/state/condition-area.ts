import { type Condition, compareStamps, decideConditionWrite, type ObservedCondition } from "./condition.ts";

/** Conditions of one area by type. */
export type AreaConditions = Readonly<Record<string, Condition>>;

/** What becomes of an area. */
export type AreaDecision =
  /** The items to write: those that change, and those that only take the new writer's stamp. */
  { readonly kind: "write"; readonly conditions: AreaConditions } | { readonly kind: "unchanged" | "outdated" };

/**
 * Decides a write of one or more conditions of an area. All conditions of an area carry the same (assignment, fence):
 * when the first of them changes under a new one, the others take its stamp in the same transaction, so that a reader
 * can tell a view that two holders have made from a view of one.
 */
export function decideAreaWrite(
  previous: AreaConditions,
  observed: Readonly<Record<string, ObservedCondition>>,
): AreaDecision {
  const entries = Object.entries(observed);
  const later = Object.values(previous).some((standing) => entries.some(([, o]) => compareStamps(standing, o) > 0));
  if (later) return { kind: "outdated" };
  const decisions = entries.map(([type, o]) => [type, decideConditionWrite(previous[type], o)] as const);
  if (decisions.some(([, decision]) => decision.kind === "outdated")) return { kind: "outdated" };
  const changed = decisions.flatMap(([type, d]) => (d.kind === "write" ? [[type, d.condition] as const] : []));
  const [writer] = changed;
  if (writer === undefined) return { kind: "unchanged" };
  const changedTypes = new Set(changed.map(([type]) => type));
  const restamped = Object.entries(previous)
    .filter(([type, standing]) => !changedTypes.has(type) && compareStamps(standing, writer[1]) < 0)
    .map(([type, standing]) => [type, restamp(standing, writer[1])] as const);
  return { kind: "write", conditions: Object.fromEntries([...changed, ...restamped]) };
}

/** The same statement under another holder's stamp; the old holder's clock must not hold the new one's writes back. */
function restamp(standing: Condition, { assignment, fence, observedAt }: Condition): Condition {
  return { ...standing, assignment, fence, observedAt: Math.min(standing.observedAt, observedAt) };
}
