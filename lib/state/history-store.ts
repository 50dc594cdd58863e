import type { Ids } from "../base/ids.ts";
import { cutText } from "../base/limits.ts";
import { ok, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";
import { eventTtlSeconds, type HistoryEvent, type NewHistoryEvent } from "./history.ts";
import { items, readItems } from "./items.ts";
import { type ItemKey, keys } from "./keys.ts";
import type { StoreParts } from "./store-parts.ts";
import { expr, path, value } from "./table/expression.ts";
import type { Item, Write } from "./table/table.ts";

/** Events, newest first; `next` is the `before` of the page that follows, if there may be one. */
export interface HistoryPage {
  readonly events: readonly HistoryEvent[];
  readonly next?: string;
}

/** The history of clusters. */
export interface HistoryStore {
  writeEvent(cluster: string, event: NewHistoryEvent, signal: AbortSignal): Promise<Result<HistoryEvent, StateError>>;
  /** @param page at most `limit` events; `before`: only those older than the event of this id */
  readEvents(
    cluster: string,
    page: { readonly limit: number; readonly before?: string | undefined },
    signal: AbortSignal,
  ): Promise<Result<HistoryPage, StateError>>;
}

/** The item of an event; its message is cut to the limit. */
function eventItem(cluster: string, event: HistoryEvent): Item & ItemKey {
  const message = cutText(event.message);
  return { ...keys.event(cluster, event.id), ...event, message, ttl: eventTtlSeconds(event.at) };
}

/** An event as a part of another write: it happens with that write, once, or not at all. */
export function eventWrites(cluster: string, event: NewHistoryEvent | undefined, ids: Pick<Ids, "ulid">): Write[] {
  return event === undefined ? [] : [{ kind: "put", item: eventItem(cluster, { ...event, id: ids.ulid() }) }];
}

/** The history in the table. */
export function historyStore({ table, clock, ids }: StoreParts): HistoryStore {
  return {
    writeEvent: async (cluster, event, signal) => {
      const written = { ...event, message: cutText(event.message), id: ids.ulid() };
      const call = { what: `write an event of ${cluster}`, signal };
      const answer = await table.write({ kind: "put", item: eventItem(cluster, written) }, call);
      return answer.ok ? ok(written) : answer;
    },
    readEvents: async (cluster, { limit, before }, signal) => {
      const first = keys.event(cluster, "");
      const end = keys.event(cluster, before ?? "~");
      const where = expr`${path("pk")} = ${value(first.pk)} AND ${path("sk")} BETWEEN ${value(first.sk)} AND ${value(end.sk)}`;
      // BETWEEN includes its end: the event that `before` names is asked for and left out.
      const query = { where, descending: true, limit: limit + 1 };
      const page = await table.query(query, { what: `read the history of ${cluster}`, signal });
      if (!page.ok) return page;
      const older = page.value.items.filter((item) => item["sk"] !== end.sk);
      const read = readItems(items.event, older.slice(0, limit));
      if (!read.ok) return read;
      const last = read.value.at(-1)?.id;
      const more = older.length > limit || page.value.next !== undefined;
      // DynamoDB takes up to two days to delete what has expired.
      const nowSeconds = clock.now().getTime() / 1000;
      const events = read.value.filter((event) => eventTtlSeconds(event.at) > nowSeconds);
      return ok(more && last !== undefined ? { events, next: last } : { events });
    },
  };
}
