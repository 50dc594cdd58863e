import {
  type CancellationReason,
  type DynamoDBClient,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import { backoffMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Random } from "../../base/random.ts";
import { never } from "../../base/result.ts";
import { keyOf, toAttributes, toItem, valuesOf } from "./attributes.ts";
import { Placeholders } from "./expression.ts";
import type { Refusal, TransactionAnswer, Write } from "./table.ts";

/** What a transaction is sent with. */
export interface TransactionParts {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
}

const CONFLICT_BACKOFF = { baseMs: 20, capMs: 500 };
/** A busy shard item is written by many at once: the tries are many, the deadline of the call bounds them. */
const CONFLICT_TRIES = 12;

/**
 * Sends a transaction. A conflict with another one in flight is tried again, as the SDK does not; any other
 * cancellation is thrown under the name of its reason.
 */
export async function sendTransaction(
  parts: TransactionParts,
  writes: readonly Write[],
  signal: AbortSignal,
): Promise<TransactionAnswer> {
  const TransactItems = writes.map((write) => transactItem(parts.tableName, write));
  for (let attempt = 1; ; attempt += 1) {
    try {
      const command = new TransactWriteItemsCommand({ TransactItems, ClientRequestToken: parts.ids.uuid() });
      await parts.client.send(command, { abortSignal: signal });
      return { kind: "written" };
    } catch (thrown) {
      if (!(thrown instanceof TransactionCanceledException)) throw thrown;
      const reasons = thrown.CancellationReasons ?? [];
      const refusals = refusalsOf(reasons);
      if (refusals.length > 0) return { kind: "refused", refusals };
      const code = reasons.find((reason) => reason.Code !== undefined && reason.Code !== "None")?.Code;
      if (code !== "TransactionConflict" || attempt === CONFLICT_TRIES) throw cancelledBy(code, thrown);
      await parts.clock.sleep(backoffMs(CONFLICT_BACKOFF, attempt, parts.random), signal);
      signal.throwIfAborted();
    }
  }
}

function refusalsOf(reasons: readonly CancellationReason[]): readonly Refusal[] {
  return reasons.flatMap((reason, index) =>
    reason.Code === "ConditionalCheckFailed" ? [{ index, standing: toItem(reason.Item) }] : [],
  );
}

function cancelledBy(code: string | undefined, cause: Error): Error {
  const error = new Error("the transaction was cancelled", { cause });
  error.name = code ?? cause.name;
  return error;
}

function transactItem(TableName: string, write: Write): TransactWriteItem {
  const placeholders = new Placeholders();
  const update = write.kind === "update" ? write.update(placeholders) : undefined;
  const condition = write.condition?.(placeholders);
  const common = {
    TableName,
    ExpressionAttributeNames: placeholders.names(),
    ExpressionAttributeValues: valuesOf(placeholders),
    ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
  };
  switch (write.kind) {
    case "put":
      return { Put: { ...common, ConditionExpression: condition, Item: toAttributes(write.item) } };
    case "update":
      return { Update: { ...common, ConditionExpression: condition, Key: keyOf(write.key), UpdateExpression: update } };
    case "delete":
      return { Delete: { ...common, ConditionExpression: condition, Key: keyOf(write.key) } };
    case "check":
      return { ConditionCheck: { ...common, ConditionExpression: condition, Key: keyOf(write.key) } };
    default:
      return never(write);
  }
}
