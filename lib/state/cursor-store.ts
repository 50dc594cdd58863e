import { ok, type Result } from "../base/result.ts";
import { type Cursor, type CursorSource, cursorHolds } from "./cursor.ts";
import type { StateError } from "./errors.ts";
import { items, readItem } from "./items.ts";
import { keys } from "./keys.ts";
import type { StoreParts } from "./store-parts.ts";
import { notLaterThan } from "./writes.ts";

/** Whether a write was made, or a later holder had written before. */
export type StampedOutcome = "written" | "outdated";

/** Cursors of watches. */
export interface CursorStore {
  /** The cursor of a resource, if it belongs to `source`: another server, Namespace or cluster voids it. */
  readCursor(
    cluster: string,
    resource: string,
    source: CursorSource,
    signal: AbortSignal,
  ): Promise<Result<Cursor | undefined, StateError>>;
  /** Ordered by (assignment, fence): a holder that was relieved moves no cursor back. */
  writeCursor(
    cluster: string,
    resource: string,
    cursor: Cursor,
    signal: AbortSignal,
  ): Promise<Result<StampedOutcome, StateError>>;
  /** The next watch lists everything. */
  deleteCursor(cluster: string, resource: string, signal: AbortSignal): Promise<Result<void, StateError>>;
}

/** Cursors in the table. */
export function cursorStore({ table }: StoreParts): CursorStore {
  return {
    readCursor: async (cluster, resource, source, signal) => {
      const call = { what: `read the ${resource} cursor of ${cluster}`, signal };
      const read = await table.get(keys.cursor(cluster, resource), call);
      if (!read.ok || read.value === undefined) return read.ok ? ok(undefined) : read;
      const cursor = readItem(items.cursor, read.value);
      if (!cursor.ok) return cursor;
      return ok(cursorHolds(cursor.value, source) ? cursor.value : undefined);
    },
    writeCursor: async (cluster, resource, cursor, signal) => {
      const call = { what: `write the ${resource} cursor of ${cluster}`, signal };
      const item = { ...keys.cursor(cluster, resource), ...cursor };
      const answer = await table.write({ kind: "put", item, condition: notLaterThan(cursor) }, call);
      return answer.ok ? ok(answer.value.kind === "written" ? "written" : "outdated") : answer;
    },
    deleteCursor: async (cluster, resource, signal) => {
      const call = { what: `delete the ${resource} cursor of ${cluster}`, signal };
      const answer = await table.write({ kind: "delete", key: keys.cursor(cluster, resource) }, call);
      return answer.ok ? ok(undefined) : answer;
    },
  };
}
