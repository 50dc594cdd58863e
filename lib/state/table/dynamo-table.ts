import {
  BatchGetItemCommand,
  ConditionalCheckFailedException,
  DeleteItemCommand,
  type DynamoDBClient,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { backoffMs } from "../../base/backoff.ts";
import type { Clock } from "../../base/clock.ts";
import type { Ids } from "../../base/ids.ts";
import type { Random } from "../../base/random.ts";
import { failed, never, ok, type Result } from "../../base/result.ts";
import type { StateError } from "../errors.ts";
import type { ItemKey } from "../keys.ts";
import { type Attributes, keyOf, toAttributes, toItem, valuesOf } from "./attributes.ts";
import { dynamoClient, type TableLocation, timed } from "./connection.ts";
import { Placeholders } from "./expression.ts";
import { stateError } from "./failures.ts";
import type { Call, Item, Page, Query, Table, TransactionAnswer, Write, WriteAnswer } from "./table.ts";
import { sendTransaction } from "./transaction.ts";

/** What a table needs. */
export interface DynamoTableOptions extends TableLocation {
  readonly clock: Clock;
  readonly random: Random;
  readonly ids: Ids;
}

const BATCH_BACKOFF = { baseMs: 50, capMs: 400 };
const BATCH_TRIES = 6;
/** DynamoDB API reference: BatchGetItem takes 100 keys. */
const GET_BATCH = 100;

/** Opens the table. Nothing is sent yet. */
export function openDynamoTable(options: DynamoTableOptions): Table {
  return new DynamoTable(options, dynamoClient(options));
}

class DynamoTable implements Table {
  readonly #options: DynamoTableOptions;
  readonly #client: DynamoDBClient;
  readonly #name: string;

  constructor(options: DynamoTableOptions, client: DynamoDBClient) {
    this.#options = options;
    this.#client = client;
    this.#name = options.tableName;
  }

  async get(key: ItemKey, call: Call): Promise<Result<Item | undefined, StateError>> {
    const command = new GetItemCommand({ TableName: this.#name, Key: keyOf(key), ConsistentRead: true });
    const answer = await this.#timed(call, async (abortSignal) => await this.#client.send(command, { abortSignal }));
    return answer.ok ? ok(toItem(answer.value.Item)) : answer;
  }

  async query(query: Query, call: Call): Promise<Result<Page, StateError>> {
    const placeholders = new Placeholders();
    const command = new QueryCommand({
      TableName: this.#name,
      IndexName: query.index,
      ConsistentRead: query.index === undefined,
      KeyConditionExpression: query.where(placeholders),
      ExpressionAttributeNames: placeholders.names(),
      ExpressionAttributeValues: toAttributes(placeholders.values() ?? {}),
      ScanIndexForward: query.descending !== true,
      Limit: query.limit,
      ExclusiveStartKey: query.startFrom === undefined ? undefined : toAttributes(query.startFrom),
    });
    const answer = await this.#timed(call, async (abortSignal) => await this.#client.send(command, { abortSignal }));
    if (!answer.ok) return answer;
    const items = (answer.value.Items ?? []).map((item) => toItem(item) ?? {});
    const next = toItem(answer.value.LastEvaluatedKey);
    return ok(next === undefined ? { items } : { items, next });
  }

  async write(write: Exclude<Write, { kind: "check" }>, call: Call): Promise<Result<WriteAnswer, StateError>> {
    return await this.#timed(call, async (abortSignal): Promise<WriteAnswer> => {
      try {
        return { kind: "written", item: await this.#send(write, abortSignal) };
      } catch (thrown) {
        if (!(thrown instanceof ConditionalCheckFailedException)) throw thrown;
        return { kind: "refused", standing: toItem(thrown.Item) };
      }
    });
  }

  async transact(writes: readonly Write[], call: Call): Promise<Result<TransactionAnswer, StateError>> {
    const parts = { ...this.#options, client: this.#client };
    return await this.#timed(call, async (signal) => await sendTransaction(parts, writes, signal));
  }

  async getMany(keys: readonly ItemKey[], call: Call): Promise<Result<readonly Item[], StateError>> {
    const items: Item[] = [];
    for (let start = 0; start < keys.length; start += GET_BATCH) {
      const wanted = keys.slice(start, start + GET_BATCH).map(keyOf);
      const read = await this.#batch(wanted, call, async (rest, abortSignal) => {
        const RequestItems = { [this.#name]: { Keys: rest, ConsistentRead: true } };
        const answer = await this.#client.send(new BatchGetItemCommand({ RequestItems }), { abortSignal });
        items.push(...(answer.Responses?.[this.#name] ?? []).map((item) => toItem(item) ?? {}));
        return answer.UnprocessedKeys?.[this.#name]?.Keys ?? [];
      });
      if (!read.ok) return read;
    }
    return ok(items);
  }

  close(): void {
    this.#client.destroy();
  }

  async #timed<T>(call: Call, send: (signal: AbortSignal) => Promise<T>): Promise<Result<T, StateError>> {
    return await timed({ clock: this.#options.clock, table: this.#name }, call, send);
  }

  /** Sends one batch until nothing is left unprocessed, which is how DynamoDB throttles a part of a batch. */
  async #batch(
    keys: Attributes[],
    call: Call,
    send: (keys: Attributes[], signal: AbortSignal) => Promise<Attributes[]>,
  ): Promise<Result<void, StateError>> {
    let rest = keys;
    for (let attempt = 1; attempt <= BATCH_TRIES; attempt += 1) {
      const todo = rest;
      const left = await this.#timed(call, async (signal) => await send(todo, signal));
      if (!left.ok) return left;
      if (left.value.length === 0) return ok(undefined);
      rest = left.value;
      await this.#options.clock.sleep(backoffMs(BATCH_BACKOFF, attempt, this.#options.random), call.signal);
    }
    return failed(stateError("throttled", `${call.what} in table ${this.#name}: ${rest.length} keys left unprocessed`));
  }

  async #send(write: Exclude<Write, { kind: "check" }>, abortSignal: AbortSignal): Promise<Item | undefined> {
    const placeholders = new Placeholders();
    const update = write.kind === "update" ? write.update(placeholders) : undefined;
    const common = {
      TableName: this.#name,
      ConditionExpression: write.condition?.(placeholders),
      ExpressionAttributeNames: placeholders.names(),
      ExpressionAttributeValues: valuesOf(placeholders),
      ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
    };
    switch (write.kind) {
      case "put":
        await this.#client.send(new PutItemCommand({ ...common, Item: toAttributes(write.item) }), { abortSignal });
        return write.item;
      case "delete":
        await this.#client.send(new DeleteItemCommand({ ...common, Key: keyOf(write.key) }), { abortSignal });
        return undefined;
      case "update": {
        const command = new UpdateItemCommand({
          ...common,
          Key: keyOf(write.key),
          UpdateExpression: update,
          ReturnValues: "ALL_NEW",
        });
        return toItem((await this.#client.send(command, { abortSignal })).Attributes);
      }
      default:
        return never(write);
    }
  }
}
