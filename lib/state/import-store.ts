import { cutText } from "../base/limits.ts";
import { ok, type Result } from "../base/result.ts";
import type { Cursor } from "./cursor.ts";
import type { StampedOutcome } from "./cursor-store.ts";
import type { StateError } from "./errors.ts";
import type { ImportRecord } from "./imports.ts";
import { items, readItem, readItems } from "./items.ts";
import { keys } from "./keys.ts";
import { pagePosition, pageToken } from "./page-token.ts";
import { under } from "./pages.ts";
import type { StoreParts } from "./store-parts.ts";
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
  /** Ordered by (assignment, fence). */
  writeImport(cluster: string, record: ImportRecord, signal: AbortSignal): Promise<Result<StampedOutcome, StateError>>;
  /** Deletes the record unless a later holder than `by` has written it. Deleting what is gone is a success. */
  deleteImport(
    cluster: string,
    name: string,
    by: Pick<Cursor, "assignment" | "fence">,
    signal: AbortSignal,
  ): Promise<Result<StampedOutcome, StateError>>;
}

/** Imports in the table. */
export function importStore({ table }: StoreParts): ImportStore {
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
    writeImport: async (cluster, record, signal) => {
      const error = record.error === undefined ? {} : { error: cutText(record.error) };
      const item = { ...keys.import(cluster, record.name), ...record, ...error };
      const call = { what: `write import ${record.name} of ${cluster}`, signal };
      const answer = await table.write({ kind: "put", item, condition: notLaterThan(record) }, call);
      return answer.ok ? ok(answer.value.kind === "written" ? "written" : "outdated") : answer;
    },
    deleteImport: async (cluster, name, by, signal) => {
      const call = { what: `delete import ${name} of ${cluster}`, signal };
      const write = { kind: "delete", key: keys.import(cluster, name), condition: notLaterThan(by) } as const;
      const answer = await table.write(write, call);
      return answer.ok ? ok(answer.value.kind === "written" ? "written" : "outdated") : answer;
    },
  };
}
