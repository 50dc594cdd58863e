import type { Clock } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import type { Random } from "../base/random.ts";
import type { BatonKey, BatonStore, RevisionSource, RoleWork, StoreFailure } from "./ports.ts";
import type { RelayRules } from "./rules.ts";
import type { RelayTiming } from "./timing.ts";

/** What one invocation of a role is made of. */
export interface WindowOptions {
  readonly key: BatonKey;
  /** Whose revision tells of changed memberships. */
  readonly shard: string;
  readonly store: BatonStore;
  readonly revisions: RevisionSource;
  readonly work: RoleWork;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Pick<Ids, "uuid">;
  /** Until the platform ends the invocation, in milliseconds; asked again and again. */
  readonly remainingMs: () => number;
  /** When this code was deployed, milliseconds since the epoch; the later deployment wins, also a rollback. */
  readonly deployedAt: number;
  readonly standby: "cold" | "hot";
  /** What the role does is harmless when doubled, and it goes on while the store cannot be reached (`announce`). */
  readonly repeatable: boolean;
  /** Ends the window early: work ends and the baton is released. */
  readonly signal: AbortSignal;
  /** Default: the numbers of the design. Must be free of faults (`timingFaults`). */
  readonly timing?: RelayTiming;
  readonly rules?: RelayRules;
  /** Told what happens, for log and metrics; must not throw. */
  readonly observe?: (event: WindowEvent) => void;
}

/** What happens in the life of a window. */
export type WindowEvent =
  | { readonly kind: "claimed"; readonly window: string; readonly fence: number; readonly until: number }
  | { readonly kind: "prepared"; readonly window: string; readonly revision: number; readonly ms: number }
  | { readonly kind: "prepareFailed"; readonly window: string; readonly failure: StoreFailure }
  | {
      readonly kind: "taken";
      readonly window: string;
      readonly fence: number;
      readonly predecessor: string | undefined;
    }
  /** From here on `mayWrite()` may be true. */
  | { readonly kind: "exclusive"; readonly window: string; readonly fence: number }
  | { readonly kind: "renewed"; readonly window: string; readonly fence: number; readonly ms: number }
  | {
      readonly kind: "yielding";
      readonly window: string;
      readonly fence: number;
      readonly because: "time" | "deployment";
    }
  | { readonly kind: "storeLost"; readonly window: string; readonly fence: number; readonly failure: StoreFailure }
  | { readonly kind: "storeBack"; readonly window: string; readonly fence: number }
  | { readonly kind: "ended"; readonly window: string; readonly fence: number; readonly because: HoldEnd }
  | { readonly kind: "unsettled"; readonly window: string; readonly fence: number };

/**
 * Why a hold ended: `finished`: the work was done; `deadline`: the invocation's time was up and the baton is released;
 * `yielded`: a successor came when asked; `deployment`: a window of a newer deployment took it; `superseded`: another took
 * it unasked; `storeLost`: the time was up and the store could not be reached, so that the baton has to expire;
 * `aborted`: the caller's signal; `notPrepared`: the work could not be prepared, and trying again would not help.
 */
export type HoldEnd =
  | "finished"
  | "deadline"
  | "yielded"
  | "deployment"
  | "superseded"
  | "storeLost"
  | "aborted"
  | "notPrepared";

/** What came of an invocation. None is an error but `storeUnavailable` and `worked` with `notPrepared` or `storeLost`. */
export type WindowResult =
  /** Nothing to do: one read, at most one refused write, no call of the work. */
  | { readonly kind: "heldByOther"; readonly holder: string | undefined; readonly fence: number }
  /** Was ready to take over and was not needed, or was relieved as standby. */
  | { readonly kind: "stoodBy"; readonly because: "relieved" | "notNeeded" | "outOfTime" | "aborted" | "heldByOther" }
  /** Held the baton; `fence` and `ended` of its last hold, if it was standby after a first one. */
  | { readonly kind: "worked"; readonly fence: number; readonly ended: HoldEnd }
  /** The store did not answer, or refuses us; the work was not begun. */
  | { readonly kind: "storeUnavailable"; readonly failure: StoreFailure };
