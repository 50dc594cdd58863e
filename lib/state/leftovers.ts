import { ok, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";
import { conditionPrefix, keys } from "./keys.ts";
import type { MembershipKey } from "./membership.ts";
import { keyOfItem, readAll, under } from "./pages.ts";
import type { Call, Table } from "./table/table.ts";

/**
 * Deletes what belongs to a membership beside its own item: conditions and, for Antrea, cursors and imports. The history
 * stays. Repeatable.
 */
export async function clearLeftovers(table: Table, key: MembershipKey, call: Call): Promise<Result<void, StateError>> {
  const prefixes = [conditionPrefix(key.protocol), ...(key.protocol === "antrea" ? ["CURSOR#", "IMPORT#"] : [])];
  for (const prefix of prefixes) {
    const found = await readAll(table, { where: under(keys.cluster(key.cluster), prefix) }, call);
    if (!found.ok) return found;
    const doomed = found.value.map(keyOfItem);
    const deleted = doomed.length === 0 ? ok(undefined) : await table.deleteMany(doomed, call);
    if (!deleted.ok) return deleted;
  }
  return ok(undefined);
}
