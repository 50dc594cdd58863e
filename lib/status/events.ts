import type { Cause } from "../base/cause.ts";
import { ok, type Result } from "../base/result.ts";
import type { StateError } from "../state/errors.ts";
import type { HistoryEvent } from "../state/history.ts";
import type { Protocol } from "../state/membership.ts";
import type { EventReader } from "./ports.ts";

/** How many events are shown where no time is given. */
const LAST = 50;

/** How many events one request asks for. */
const PAGE = 200;

/** Something that has happened, as people and programs read it. */
export interface EventView {
  /** Sorts by time. */
  readonly id: string;
  /** RFC 3339. */
  readonly at: string;
  readonly cluster: string;
  readonly protocol: Protocol;
  readonly kind: string;
  readonly cause?: Cause;
  readonly message: string;
}

/**
 * What has happened to a cluster, the latest last.
 * @param since milliseconds since the epoch; absent: the last 50 events
 */
export async function readEvents(
  reader: EventReader,
  cluster: string,
  { since }: { readonly since?: number },
  signal: AbortSignal,
): Promise<Result<readonly EventView[], StateError>> {
  const events: HistoryEvent[] = [];
  let before: string | undefined;
  do {
    const page = await reader.readEvents(cluster, { limit: since === undefined ? LAST : PAGE, before }, signal);
    if (!page.ok) return page;
    const wanted = page.value.events.filter(({ at }) => since === undefined || at >= since);
    events.push(...wanted);
    // Newest first: what follows an event that is too old is older still.
    before = wanted.length < page.value.events.length || since === undefined ? undefined : page.value.next;
  } while (before !== undefined);
  // An event may be written after one that came later: people read by time.
  const ordered = events.toReversed().toSorted((a, b) => a.at - b.at);
  return ok(ordered.map((event) => viewEvent(cluster, event)));
}

function viewEvent(cluster: string, { id, at, protocol, kind, cause, message }: HistoryEvent): EventView {
  const view = { id, at: new Date(at).toISOString(), cluster, protocol, kind };
  return cause === undefined ? { ...view, message } : { ...view, cause, message };
}
