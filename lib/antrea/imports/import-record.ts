import { isDeepStrictEqual } from "node:util";
import { type BackoffPolicy, backoffMs } from "../../base/backoff.ts";
import type { Random } from "../../base/random.ts";
import { causeOf } from "../../kube/cause.ts";
import type { NewHistoryEvent } from "../../state/history.ts";
import type { ImportRecord, ImportState } from "../../state/imports.ts";
import { decideIntent } from "./intent.ts";
import { plannedProgress } from "./planned-progress.ts";
import type { ImportOutcome, ImportProgress, ImportRequest, ImportSettings } from "./reconciler.ts";

/** Who writes, and when (milliseconds since the epoch). */
export interface Stamp {
  readonly assignment: number;
  readonly fence: number;
  readonly now: number;
}

/** Tries of one import: from a second to ten minutes. */
const RETRY: BackoffPolicy = { baseMs: 1_000, capMs: 600_000 };

/**
 * What the record must say before anything is made or taken away, so that whoever goes on knows of it; undefined: it says
 * it already, or nothing is to be done.
 */
export function beginning(request: ImportRequest, settings: ImportSettings): ImportProgress | undefined {
  const { wanted, record } = request;
  const intent = decideIntent(request, settings);
  if (intent.kind === "install" && record === undefined) return plannedProgress(intent.wanted, settings);
  if (wanted !== undefined || record === undefined || record.state === "Removing") return undefined;
  const { name, kind, target, objects } = record;
  return { name, kind, target, objects, state: "Removing" };
}

/** The record with another progress; its `since` moves with its state, its tries begin anew. */
export function advance(before: ImportRecord | undefined, next: ImportProgress, stamp: Stamp): ImportRecord {
  const { assignment, fence, now } = stamp;
  const since = before?.state === next.state ? before.since : now;
  return { ...next, since, attempts: 0, assignment, fence };
}

/** The record after a try that failed, with the moment of the next one. */
export function failedRecord(
  before: ImportRecord | undefined,
  { next, error }: Extract<ImportOutcome, { kind: "failed" }>,
  stamp: Stamp,
  random: Random,
): ImportRecord & { readonly nextAttemptAt: number } {
  const attempts = (before?.attempts ?? 0) + 1;
  const waitMs = "retryAfterMs" in error ? (error.retryAfterMs ?? 0) : 0;
  const nextAttemptAt = Math.round(stamp.now + Math.max(waitMs, backoffMs(RETRY, attempts, random)));
  return { ...advance(before, next, stamp), attempts, nextAttemptAt };
}

/** True when the table says the same already, whoever wrote it. */
export function saysTheSame(before: ImportRecord | undefined, next: ImportRecord): boolean {
  if (before === undefined) return false;
  const { assignment: _a, fence: _f, ...said } = before;
  const { assignment: _b, fence: _g, ...says } = next;
  return isDeepStrictEqual(said, says);
}

/** States that people are told of when an import comes into them. */
const TOLD: Partial<Record<ImportState, string>> = {
  Applied: "ImportApplied",
  Conflicted: "ImportConflicted",
  Failed: "ImportFailed",
  Invalid: "ImportInvalid",
  WaitingForNamespace: "ImportWaiting",
};

/**
 * The line for people of a change, once for each transition. States on the way (planned, being removed) are passed over:
 * `settled` is the last state that was told.
 */
export function transitionEvent(
  settled: ImportState | undefined,
  next: ImportRecord,
  outcome: ImportOutcome,
  now: number,
): NewHistoryEvent | undefined {
  const kind = TOLD[next.state];
  const what = `${next.kind} ${targetWords(next)}`;
  const released = "done" in outcome ? outcome.done.released : [];
  if (released.length > 0) {
    const message = `${what}: its user has taken over, and keeps, ${released.join(", ")}`;
    return { at: now, protocol: "antrea", kind: "ImportReleased", message };
  }
  if (kind === undefined || settled === next.state) return undefined;
  const message = next.error === undefined ? `${what} is imported` : `${what}: ${next.error}`;
  const cause = outcome.kind === "failed" ? { cause: causeOf(outcome.error) } : {};
  return { at: now, protocol: "antrea", kind, message, ...cause };
}

/** The line for people of an import that is gone from the member. */
export function removalEvent(
  record: Pick<ImportRecord, "kind" | "target">,
  released: readonly string[],
  now: number,
): NewHistoryEvent {
  const what = `${record.kind} ${targetWords(record)}`;
  const kept = released.length === 0 ? "" : `; its user has taken over, and keeps, ${released.join(", ")}`;
  return { at: now, protocol: "antrea", kind: "ImportRemoved", message: `${what} is imported no more${kept}` };
}

/** `shop/web` */
function targetWords({ target: { namespace, name } }: Pick<ImportRecord, "target">): string {
  return namespace === undefined ? name : `${namespace}/${name}`;
}
