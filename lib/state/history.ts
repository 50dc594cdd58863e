import type { Cause } from "../base/cause.ts";
import type { Protocol } from "./membership.ts";

/** A transition, for people. */
export interface HistoryEvent {
  /** ULID: sorts by time. */
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly protocol: Protocol;
  /** What happened, in one word: `Connected`, `Disconnected`, `Joined`, `Left`. */
  readonly kind: string;
  /** At most 4,096 bytes. */
  readonly message: string;
  readonly cause?: Cause;
}

/** An event that has not happened to be named yet: its `id` is given when it is written. */
export type NewHistoryEvent = Omit<HistoryEvent, "id">;

/** How long an event is kept, in milliseconds: 30 days. */
export const HISTORY_MS = 30 * 24 * 60 * 60 * 1000;

/** When the table may drop an event, in seconds since the epoch, the unit of DynamoDB's TTL. */
export function eventTtlSeconds(at: number): number {
  return Math.floor((at + HISTORY_MS) / 1000);
}
