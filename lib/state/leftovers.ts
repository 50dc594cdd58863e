import { ok, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";
import { conditionPrefix, type ItemKey, keys } from "./keys.ts";
import type { MembershipKey } from "./membership.ts";
import { keyOfItem, readAll, under } from "./pages.ts";
import type { Call, Table, Write } from "./table/table.ts";
import { absent } from "./writes.ts";

/** A transaction takes 100 writes; one of them is the look at the membership. */
const DELETES_AT_A_TIME = 99;

/**
 * Deletes what belonged to a membership that is gone: conditions and, for Antrea, cursors and imports. The history stays.
 * Repeatable. Each deletion meets a membership that is still gone: whoever was held up between looking and deleting must
 * not take the records of one that has joined again meanwhile.
 *
 * @returns `taken`: there is a membership of that name, and nothing more was deleted; `again`: another transaction was in
 * the way
 */
export async function clearLeftovers(
  table: Table,
  key: MembershipKey,
  call: Call,
): Promise<Result<"cleared" | "taken", StateError> | "again"> {
  const prefixes = [conditionPrefix(key.protocol), ...(key.protocol === "antrea" ? ["CURSOR#", "IMPORT#"] : [])];
  const found = await Promise.all(
    prefixes.map(async (prefix) => await readAll(table, { where: under(keys.cluster(key.cluster), prefix) }, call)),
  );
  const doomed: ItemKey[] = [];
  for (const items of found) {
    if (!items.ok) return items;
    doomed.push(...items.value.map(keyOfItem));
  }
  const gone: Write = { kind: "check", key: keys.membership(key.cluster, key.protocol), condition: absent };
  for (let start = 0; start < doomed.length; start += DELETES_AT_A_TIME) {
    const deletes = doomed.slice(start, start + DELETES_AT_A_TIME).map((key): Write => ({ kind: "delete", key }));
    const answer = await table.transact([gone, ...deletes], call);
    if (!answer.ok) return answer;
    if (answer.value.kind === "refused") return answer.value.refusals.length > 0 ? ok("taken") : "again";
  }
  return ok("cleared");
}
