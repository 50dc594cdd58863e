import { type BackoffPolicy } from "../../base/backoff.ts";
import type { Condition } from "../../state/condition.ts";
import type { NewHistoryEvent } from "../../state/history.ts";
import type { Fault } from "../fault.ts";
import type { WatchHealth } from "./leader-watch.ts";

/** The condition area of the role `watch`; the role is its only writer. */
export const WATCH_AREA = "watch";

/** Whether the leader's ResourceImports are followed; Hawser's own, in the table alone. */
export const WATCH_TYPE = "ImportsWatched";

/** What the condition says. */
export type WatchStatement = Pick<Condition, "status" | "reason" | "message" | "cause">;

/** What it is decided from. */
export interface WatchFacts {
  readonly health: WatchHealth;
  /** Why the member is not written to. */
  readonly memberFault: Fault | undefined;
  /** Failures in a row that may pass unsaid. */
  readonly threshold: number;
}

/** What is to be said of a watch; undefined while nothing is known. */
export function decideWatchStatement({ health, memberFault, threshold }: WatchFacts): WatchStatement | undefined {
  const { fault, failures, held, worked } = health;
  if (fault !== undefined && failures >= threshold) {
    return { status: "False", reason: "WatchFailed", cause: fault.cause, message: fault.message };
  }
  if (held > 0) {
    const message =
      `A complete list of the leader lacks ${held} imports, over half of all: ` +
      "they stay until a second list, a minute later, agrees";
    return { status: "False", reason: "RemovalHeld", message };
  }
  if (memberFault !== undefined) {
    return { status: "False", reason: "ImportsNotApplied", cause: memberFault.cause, message: memberFault.message };
  }
  return worked ? { status: "True", reason: "Watching", message: "" } : undefined;
}

/** What is to be said while there is nothing to watch with. */
export function notConnected({ cause, message }: Fault): WatchStatement {
  return { status: "Unknown", reason: "NotConnected", cause, message };
}

/** The line for people when the status is another one. */
export function watchEvent({ status, cause, message }: WatchStatement, now: number): NewHistoryEvent {
  const kind = { True: "ImportsWatched", False: "ImportsNotWatched", Unknown: "ImportsNotWatched" }[status];
  const words = status === "True" ? "The leader's ResourceImports are followed" : message;
  return { at: now, protocol: "antrea", kind, message: words, ...(cause === undefined ? {} : { cause }) };
}

/** Other words for the same are written at most this often, in milliseconds. */
const REWORD_MS = 60_000;

/** True when the table is to be told. `sinceMs`: how long ago it was told `before`, in milliseconds. */
export function isNews(before: WatchStatement | undefined, next: WatchStatement, sinceMs: number): boolean {
  if (before === undefined) return true;
  if (before.status !== next.status || before.reason !== next.reason || before.cause !== next.cause) return true;
  return before.message !== next.message && sinceMs >= REWORD_MS;
}

/** A table that does not answer is asked again. */
export const TABLE_RETRY: BackoffPolicy = { baseMs: 1_000, capMs: 30_000 };
