import { never } from "../base/result.ts";
import type { WindowEvent, WindowResult } from "../relay/window-options.ts";
import type { Facts, Log } from "./log.ts";
import type { Counter, RoleMetrics, Timer } from "./metrics.ts";

/** What is shown of something that happened: at most one line, one count, one duration. */
export interface Effects {
  readonly line?: { readonly level: "debug" | "info" | "warn"; readonly message: string; readonly facts: Facts };
  readonly count?: Counter;
  readonly time?: { readonly timer: Timer; readonly ms: number };
}

/** The one place that maps the life of a window to log lines and metrics: what repeats is counted, what changes is told. */
export function effectsOfEvent(event: WindowEvent): Effects {
  switch (event.kind) {
    case "claimed":
      return line("debug", "next take reserved", { window: event.window, fence: event.fence });
    case "prepared":
      return line("info", "prepared", { window: event.window, revision: event.revision, ms: event.ms });
    case "prepareFailed":
      return {
        ...line("warn", "preparation failed", {
          window: event.window,
          outcome: event.failure.kind,
          why: event.failure.message,
        }),
        count: "PreparationsFailed",
      };
    case "taken":
      return {
        ...line("info", "baton taken", { window: event.window, fence: event.fence, predecessor: event.predecessor }),
        count: "BatonsTaken",
      };
    case "exclusive":
      return line("debug", "predecessor has stopped", { window: event.window, fence: event.fence });
    case "renewed":
      return { time: { timer: "RenewalDuration", ms: event.ms } };
    case "yielding":
      return line("info", "asks to be relieved", { window: event.window, fence: event.fence, because: event.because });
    case "storeLost":
      return {
        ...line("warn", "state table lost", { window: event.window, fence: event.fence, why: event.failure.message }),
        count: "StoreLosses",
      };
    case "storeBack":
      return line("info", "state table is back", { window: event.window, fence: event.fence });
    case "ended":
      return line("info", "hold ended", { window: event.window, fence: event.fence, outcome: event.because });
    case "unsettled":
      return {
        ...line("warn", "work did not settle in time", { window: event.window, fence: event.fence }),
        count: "WindowsUnsettled",
      };
    default:
      return never(event);
  }
}

/** Makes the effects of an event happen. */
export function applyEffects(effects: Effects, log: Log, metrics: RoleMetrics, facts: Facts): void {
  if (effects.line !== undefined) {
    log[effects.line.level](effects.line.message, { ...facts, ...effects.line.facts });
  }
  if (effects.count !== undefined) metrics.count(effects.count);
  if (effects.time !== undefined) metrics.time(effects.time.timer, effects.time.ms);
  metrics.flushIfDue();
}

/**
 * Why a window is a failure of its invocation, so that the platform counts it as one; `undefined` for the others. A window
 * that leaves the baton to its holder is none.
 */
export function failureOfWindow(result: WindowResult): string | undefined {
  if (result.kind === "storeUnavailable") return `the state table could not be used: ${result.failure.message}`;
  if (result.kind !== "worked") return undefined;
  if (result.ended === "notPrepared") return "the work of the shard could not be prepared; the log says why";
  if (result.ended === "storeLost") return "the state table was lost until the end; the baton has to expire";
  return undefined;
}

function line(level: "debug" | "info" | "warn", message: string, facts: Facts): Effects {
  return { line: { level, message, facts } };
}
