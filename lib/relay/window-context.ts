import type { Preparation } from "./preparation.ts";
import type { RelayRules } from "./rules.ts";
import type { StoreCalls } from "./store-calls.ts";
import type { RelayTiming } from "./timing.ts";
import type { WindowOptions } from "./window-options.ts";

/** What the phases of one window share. */
export interface WindowContext {
  readonly options: WindowOptions;
  readonly timing: RelayTiming;
  readonly rules: RelayRules;
  readonly calls: StoreCalls;
  readonly preparation: Preparation;
  /** Fires when the window ends, from outside or by itself. */
  readonly signal: AbortSignal;
  /** Id of this window. */
  readonly id: string;
  /** The whole length of this window, in milliseconds. */
  readonly windowMs: number;
  /** Until work must end, in milliseconds. */
  readonly workRemainingMs: () => number;
}
