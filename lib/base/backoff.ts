import type { Random } from "./random.ts";

/** Exponential backoff with full jitter between half and the whole of the step. */
export interface BackoffPolicy {
  /** First step, in milliseconds. */
  readonly baseMs: number;
  /** Largest step, in milliseconds. */
  readonly capMs: number;
}

/**
 * How long to wait before try number `attempt + 1`, in milliseconds.
 * @param attempt failures so far, from 1
 */
export function backoffMs(policy: BackoffPolicy, attempt: number, random: Random): number {
  const step = Math.min(policy.capMs, policy.baseMs * 2 ** Math.min(Math.max(0, attempt - 1), 30));
  return step / 2 + random.next() * (step / 2);
}
