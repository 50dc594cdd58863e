import { cutText } from "../base/limits.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { Cursor } from "./cursor.ts";
import type { StampedOutcome } from "./cursor-store.ts";
import type { StateError } from "./errors.ts";
import type { NewHistoryEvent } from "./history.ts";
import { eventWrites } from "./history-store.ts";
import type { ImportRecord } from "./imports.ts";
import { items, readItem, readItems } from "./items.ts";
import { keys } from "./keys.ts";
import { pagePosition, pageToken } from "./page-token.ts";
import { under } from "./pages.ts";
import type { StoreParts } from "./store-parts.ts";
import type { Call, Write } from "./table/table.ts";
import { notLaterThan } from "./writes.ts";

/** A page of imports, by name. */
export interface ImportPage {
  readonly imports: readonly ImportRecord[];
  readonly next?: string;
}

/** What Hawser has made in members for ResourceImports. All reads are strongly consistent. */
export interface ImportStore {
  readImport(cluster: string, name: string, signal: AbortSignal): Promise<Result<ImportRecord | undefined, StateError>>;
  listImports(
    cluster: string,
    page: { readonly limit: number; readonly startFrom?: string | undefined },
    signal: AbortSignal,
  ): Promise<Result<ImportPage, StateError>>;
  /**
   * Ordered by (assignment, fence).
   * @param event a line for people that happens with it, once, or not at all
   */
  writeImport(
    cluster: string,
    record: ImportRecord,
    event: NewHistoryEvent | undefined,
    signal: AbortSignal,
  ): Promise<Result<StampedOutcome, StateError>>;
  /** Deletes the record unless a later holder than `by` has written it. Deleting what is gone is a success. */
  deleteImport(
    cluster: string,
    name: string,
    by: Pick<Cursor, "assignment" | "fence">,
    event: NewHistoryEvent | undefined,
    signal: AbortSignal,
  ): Promise<Result<StampedOutcome, StateError>>;
}

/** Imports in the table. */
export function importStore({ table, ids }: StoreParts): ImportStore {
  /** One write, or two that happen together; a refusal of either is one of the record's. */
  const send = async (
    write: Exclude<Write, { kind: "check" }>,
    { cluster, event }: { readonly cluster: string; readonly event: NewHistoryEvent | undefined },
    call: Call,
  ): Promise<Result<StampedOutcome, StateError>> => {
    const answer =
      event === undefined
        ? await table.write(write, call)
        : await table.transact([write, ...eventWrites(cluster, event, ids)], call);
    if (!answer.ok) return answer;
    if (answer.value.kind === "written") return ok("written");
    // Nothing refused: another transaction was at work on the item, and this one is to be sent again.
    if ("refusals" in answer.value && answer.value.refusals.length === 0) {
      return failed({ kind: "unavailable", message: `${call.what}: another write was under way` });
    }
    return ok("outdated");
  };
  return {
    readImport: async (cluster, name, signal) => {
      const read = await table.get(keys.import(cluster, name), { what: `read import ${name} of ${cluster}`, signal });
      if (!read.ok || read.value === undefined) return read.ok ? ok(undefined) : read;
      return readItem(items.importRecord, read.value);
    },
    listImports: async (cluster, { limit, startFrom }, signal) => {
      const position = pagePosition(startFrom);
      if (!position.ok) return position;
      const where = under(keys.cluster(cluster), "IMPORT#");
      const query = { where, limit, startFrom: position.value.after };
      const page = await table.query(query, { what: `list the imports of ${cluster}`, signal });
      if (!page.ok) return page;
      const imports = readItems(items.importRecord, page.value.items);
      if (!imports.ok) return imports;
      const { next } = page.value;
      if (next === undefined) return ok({ imports: imports.value });
      const after = { pk: String(next["pk"]), sk: String(next["sk"]) };
      return ok({ imports: imports.value, next: pageToken({ part: 0, after }) });
    },
    writeImport: async (cluster, record, event, signal) => {
      const error = record.error === undefined ? {} : { error: cutText(record.error) };
      const item = { ...keys.import(cluster, record.name), ...record, ...error };
      const call = { what: `write import ${record.name} of ${cluster}`, signal };
      return await send({ kind: "put", item, condition: notLaterThan(record) }, { cluster, event }, call);
    },
    deleteImport: async (cluster, name, by, event, signal) => {
      const call = { what: `delete import ${name} of ${cluster}`, signal };
      const write = { kind: "delete", key: keys.import(cluster, name), condition: notLaterThan(by) } as const;
      return await send(write, { cluster, event }, call);
    },
  };
}
