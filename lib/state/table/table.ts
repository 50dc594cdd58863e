import { type Result } from "../../base/result.ts";
import type { StateError } from "../errors.ts";
import type { ItemKey } from "../keys.ts";
import type { Expression } from "./expression.ts";

/** An item as plain values, its key included. */
export type Item = Readonly<Record<string, unknown>>;

/** What a call is for: `what` goes into errors (`read membership east/antrea`), `signal` ends it early. */
export interface Call {
  readonly what: string;
  readonly signal: AbortSignal;
}

/** A query over one partition of the table or of its index. */
export interface Query {
  readonly index?: "byState";
  readonly where: Expression;
  /** Newest or last first. */
  readonly descending?: boolean;
  /** Most items of this page; absent: as many as DynamoDB gives at once. */
  readonly limit?: number;
  /** `next` of the page before. */
  readonly startFrom?: Item | undefined;
}

/** A page of items; `next` is there when more may follow. */
export interface Page {
  readonly items: readonly Item[];
  readonly next?: Item;
}

/** One write. A condition that does not hold refuses it. */
export type Write =
  | { readonly kind: "put"; readonly item: Item & ItemKey; readonly condition?: Expression | undefined }
  | {
      readonly kind: "update";
      readonly key: ItemKey;
      readonly update: Expression;
      readonly condition?: Expression | undefined;
    }
  | { readonly kind: "delete"; readonly key: ItemKey; readonly condition?: Expression | undefined }
  | { readonly kind: "check"; readonly key: ItemKey; readonly condition: Expression };

/** What came of one write; `item` as it is after an update, `standing` the item whose condition refused. */
export type WriteAnswer =
  | { readonly kind: "written"; readonly item: Item | undefined }
  | { readonly kind: "refused"; readonly standing: Item | undefined };

/** Which of a transaction's writes was refused, and the item that stood there. */
export interface Refusal {
  readonly index: number;
  readonly standing: Item | undefined;
}

/**
 * What came of a transaction. `refusals` is empty when another transaction was at work on one of the items: read again,
 * as it may have done what this one was for.
 */
export type TransactionAnswer =
  | { readonly kind: "written" }
  | { readonly kind: "refused"; readonly refusals: readonly Refusal[] };

/**
 * The table in plain values. Reads are strongly consistent, save those of an index. Every call ends within a few
 * seconds or shortly after its signal fires. An ambiguous write is not recognised here: callers put a `writeId` into
 * their items and look for it in what refused.
 */
export interface Table {
  get(key: ItemKey, call: Call): Promise<Result<Item | undefined, StateError>>;
  /** Up to 1,000 items by key; those that do not exist are left out, the order is not kept. */
  getMany(keys: readonly ItemKey[], call: Call): Promise<Result<readonly Item[], StateError>>;
  query(query: Query, call: Call): Promise<Result<Page, StateError>>;
  write(write: Exclude<Write, { kind: "check" }>, call: Call): Promise<Result<WriteAnswer, StateError>>;
  /** All or nothing, at most 100 writes. */
  transact(writes: readonly Write[], call: Call): Promise<Result<TransactionAnswer, StateError>>;
  /** Closes connections. */
  close(): void;
}
