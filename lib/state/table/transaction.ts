import {
  type CancellationReason,
  type DynamoDBClient,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
} from "@aws-sdk/client-dynamodb";
import type { Ids } from "../../base/ids.ts";
import { never } from "../../base/result.ts";
import { keyOf, toAttributes, toItem, valuesOf } from "./attributes.ts";
import { Placeholders } from "./expression.ts";
import type { Refusal, TransactionAnswer, Write } from "./table.ts";

/** What a transaction is sent with. */
export interface TransactionParts {
  readonly client: DynamoDBClient;
  readonly tableName: string;
  readonly ids: Ids;
}

/**
 * Sends a transaction. A conflict with another one in flight is a refusal by nobody's condition; any other cancellation
 * is thrown under the name of its reason.
 */
export async function sendTransaction(
  { client, tableName, ids }: TransactionParts,
  writes: readonly Write[],
  abortSignal: AbortSignal,
): Promise<TransactionAnswer> {
  const TransactItems = writes.map((write) => transactItem(tableName, write));
  try {
    const command = new TransactWriteItemsCommand({ TransactItems, ClientRequestToken: ids.uuid() });
    await client.send(command, { abortSignal });
    return { kind: "written" };
  } catch (thrown) {
    if (!(thrown instanceof TransactionCanceledException)) throw thrown;
    const reasons = thrown.CancellationReasons ?? [];
    const codes = new Set(reasons.map((reason) => reason.Code));
    if (codes.has("ConditionalCheckFailed")) return { kind: "refused", refusals: refusalsOf(reasons) };
    if (codes.has("TransactionConflict")) return { kind: "refused", refusals: [] };
    throw cancelledBy(reasons.find((reason) => reason.Code !== undefined && reason.Code !== "None")?.Code, thrown);
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
