import { ok, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";
import { type ItemKey, keys } from "./keys.ts";
import { PROTOCOLS } from "./membership.ts";
import { type Expression, expr, path, value } from "./table/expression.ts";
import type { Call, Item, Query, Table } from "./table/table.ts";

/** The items of a partition whose sort key begins with `prefix`. */
export function under(pk: string, prefix: string): Expression {
  return expr`${path("pk")} = ${value(pk)} AND begins_with(${path("sk")}, ${value(prefix)})`;
}

/** All pages of a query. For partitions of a bounded size only. */
export async function readAll(table: Table, query: Query, call: Call): Promise<Result<readonly Item[], StateError>> {
  const items: Item[] = [];
  let startFrom: Item | undefined;
  do {
    const page = await table.query({ ...query, startFrom }, call);
    if (!page.ok) return page;
    items.push(...page.value.items);
    startFrom = page.value.next;
  } while (startFrom !== undefined);
  return ok(items);
}

/** The key of an item that was read. */
export function keyOfItem(item: Item): ItemKey {
  return { pk: String(item["pk"]), sk: String(item["sk"]) };
}

/** The key of the membership that an entry names; none where this version does not know its protocol. */
export function membershipKeys(entry: Item): ItemKey[] {
  const protocol = PROTOCOLS.find((known) => known === entry["protocol"]);
  return protocol === undefined ? [] : [keys.membership(String(entry["cluster"]), protocol)];
}
