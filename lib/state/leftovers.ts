import { ok, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";
import { conditionPrefix, type ItemKey, keys } from "./keys.ts";
import type { MembershipKey } from "./membership.ts";
import { keyOfItem, readAll, under } from "./pages.ts";
import type { Call, Table } from "./table/table.ts";

/**
 * Deletes what belongs to a membership beside its own item: conditions and, for Antrea, cursors and imports. The history
 * stays. Repeatable.
 */
export async function clearLeftovers(table: Table, key: MembershipKey, call: Call): Promise<Result<void, StateError>> {
  const prefixes = [conditionPrefix(key.protocol), ...(key.protocol === "antrea" ? ["CURSOR#", "IMPORT#"] : [])];
  const found = await Promise.all(
    prefixes.map(async (prefix) => await readAll(table, { where: under(keys.cluster(key.cluster), prefix) }, call)),
  );
  const doomed: ItemKey[] = [];
  for (const items of found) {
    if (!items.ok) return items;
    doomed.push(...items.value.map(keyOfItem));
  }
  return doomed.length === 0 ? ok(undefined) : await table.deleteMany(doomed, call);
}
