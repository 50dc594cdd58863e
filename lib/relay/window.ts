import { type Entry, EntryPhase } from "./entry.ts";
import { HoldPhase } from "./hold-phase.ts";
import { Preparation } from "./preparation.ts";
import { RELAY_RULES } from "./rules.ts";
import { settlesWithin } from "./settling.ts";
import { StoreCalls } from "./store-calls.ts";
import { DEFAULT_TIMING, timingFaults } from "./timing.ts";
import type { WindowContext } from "./window-context.ts";
import type { HoldEnd, WindowOptions, WindowResult } from "./window-options.ts";

/**
 * The life of one invocation: ends at once when the baton is held and fresh, else claims, prepares, takes, works, and
 * gives the baton back before the platform's deadline. Nothing of it outlives the returned promise.
 *
 * Rejects only for bugs (of the role's work, too), after the baton was given back.
 */
export async function runWindow(options: WindowOptions): Promise<WindowResult> {
  const end = new AbortController();
  const window = contextOf(options, AbortSignal.any([options.signal, end.signal]));
  try {
    return await live(window);
  } finally {
    end.abort();
    await settlesWithin(window.preparation.settled(), window.timing.settleMs, options.clock);
    await options.work.close();
  }
}

async function live(window: WindowContext): Promise<WindowResult> {
  let worked: Extract<WindowResult, { kind: "worked" }> | undefined;
  let entry = await new EntryPhase(window).run();
  while (entry.kind === "taken") {
    const { fence } = entry.taken.record;
    const { ended, record } = await new HoldPhase(window, entry.taken).run();
    worked = { kind: "worked", fence, ended };
    if (!staysAsStandby(window, ended)) return worked;
    entry = await new EntryPhase(window).run(record);
  }
  return worked ?? resultOf(entry);
}

/** After a handover the old holder of a hot relay is the standby that is there before the next firing. */
function staysAsStandby(window: WindowContext, ended: HoldEnd): boolean {
  const handedOver = ended === "yielded" || ended === "deployment" || ended === "superseded";
  return handedOver && window.options.standby === "hot";
}

function resultOf(entry: Exclude<Entry, { kind: "taken" }>): WindowResult {
  if (entry.kind === "failed") return { kind: "storeUnavailable", failure: entry.failure };
  if (entry.claimed || entry.because === "aborted") {
    return { kind: "stoodBy", because: entry.because };
  }
  return { kind: "heldByOther", holder: entry.record?.holder, fence: entry.record?.fence ?? 0 };
}

function contextOf(options: WindowOptions, signal: AbortSignal): WindowContext {
  const timing = options.timing ?? DEFAULT_TIMING;
  const faults = timingFaults(timing);
  if (faults.length > 0) throw new Error(`the numbers of the relay do not hold together: ${faults.join("; ")}`);
  const id = options.ids.uuid();
  const calls = new StoreCalls(options, timing);
  return {
    options,
    timing,
    rules: options.rules ?? RELAY_RULES,
    calls,
    preparation: new Preparation(options, calls, id),
    signal,
    id,
    windowMs: options.remainingMs(),
    workRemainingMs: () => options.remainingMs() - timing.releaseBeforeDeadlineMs,
  };
}
