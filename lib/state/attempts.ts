import { backoffMs } from "../base/backoff.ts";
import type { Clock } from "../base/clock.ts";
import type { Random } from "../base/random.ts";
import { failed, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";
import type { Call } from "./table/table.ts";

/** Longest that an item is tried for while others write it, in milliseconds: within a beat of 10 s. */
const CONTENTION_MS = 8_000;

const BACKOFF = { baseMs: 10, capMs: 500 };

/**
 * Reads, decides and writes until the write meets what was read. `again` says that another writer came between; then
 * everything is read anew, as the other may have done what this one was for. An item that is never left alone ends as
 * `throttled`.
 */
export async function untilSettled<T>(
  { clock, random }: { readonly clock: Clock; readonly random: Random },
  { what, signal }: Call,
  attempt: () => Promise<Result<T, StateError> | "again">,
): Promise<Result<T, StateError>> {
  const end = clock.monotonicMs() + CONTENTION_MS;
  for (let tries = 1; !signal.aborted && clock.monotonicMs() < end; tries += 1) {
    const result = await attempt();
    if (result !== "again") return result;
    // The first time the other writer is done already; who comes again meets a crowd and spreads out.
    if (tries > 1) await clock.sleep(backoffMs(BACKOFF, tries - 1, random), signal);
  }
  if (signal.aborted) return failed({ kind: "timeout", message: `${what}: ended by its caller; it is tried again` });
  return failed({ kind: "throttled", message: `${what}: other writers came first each time; it is tried again` });
}
