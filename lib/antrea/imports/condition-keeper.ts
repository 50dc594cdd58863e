import type { Membership } from "../../state/membership.ts";
import type { SyncHold, WatchDependencies } from "./sync-ports.ts";
import { isNews, WATCH_AREA, WATCH_TYPE, type WatchStatement, watchEvent } from "./watch-condition.ts";

/** Keeps the condition of one member's watch in the table: written when it says something else, not otherwise. */
export class ConditionKeeper {
  readonly #deps: WatchDependencies;
  readonly #membership: Membership;
  #written: { readonly statement: WatchStatement; readonly atMs: number } | undefined;
  #shown: WatchStatement | undefined;

  constructor(deps: WatchDependencies, membership: Membership) {
    this.#deps = deps;
    this.#membership = membership;
  }

  /** What was last to be said. */
  get shown(): WatchStatement | undefined {
    return this.#shown;
  }

  async keep(statement: WatchStatement | undefined, hold: SyncHold, signal: AbortSignal): Promise<void> {
    if (statement === undefined) return;
    this.#shown = statement;
    const { clock, store, telemetry } = this.#deps;
    const nowMs = clock.monotonicMs();
    const before = this.#written;
    if (before !== undefined && !isNews(before.statement, statement, nowMs - before.atMs)) return;
    if (!hold.mayWrite() || signal.aborted) return;
    const { cluster, protocol, assignment } = this.#membership;
    const now = clock.now().getTime();
    const next = { ...statement, observedAt: now, failures: 0, assignment, fence: hold.fence };
    const key = { cluster, protocol, area: WATCH_AREA, type: WATCH_TYPE };
    // A window that has just begun does not know what the table says: whether it is news is the table's to tell.
    const event = before?.statement.status === statement.status ? undefined : watchEvent(statement, now);
    const written = await store.writeCondition(key, next, { event }, signal);
    if (!written.ok || written.value.kind === "outdated") return;
    this.#written = { statement, atMs: nowMs };
    if (written.value.kind === "written" && event !== undefined) {
      telemetry.transition("watch changed", { cluster, outcome: event.kind, cause: event.cause ?? "" });
    }
  }
}
