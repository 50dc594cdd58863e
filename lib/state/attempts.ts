import { failed, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";

/** Most readings of one item before its change is given up: each failed try means that another writer succeeded. */
const TRIES = 20;

/**
 * Reads, decides and writes until the write meets what was read. `again` says that another writer came between; an
 * item that is never left alone ends as `throttled`.
 */
export async function untilSettled<T>(
  what: string,
  signal: AbortSignal,
  attempt: () => Promise<Result<T, StateError> | "again">,
): Promise<Result<T, StateError>> {
  for (let tries = 0; tries < TRIES && !signal.aborted; tries += 1) {
    const result = await attempt();
    if (result !== "again") return result;
  }
  if (signal.aborted) return failed({ kind: "timeout", message: `${what}: ended by its caller; it is tried again` });
  return failed({ kind: "throttled", message: `${what}: other writers came first each time; it is tried again` });
}
