import assert from "node:assert/strict";
import { randomUUID } from "node:crypto";
import { readFile } from "node:fs/promises";
import { after, describe, test } from "node:test";
import {
  BatchGetItemCommand,
  BatchWriteItemCommand,
  ConditionalCheckFailedException,
  DeleteTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  DynamoDBServiceException,
  GetItemCommand,
  PutItemCommand,
  QueryCommand,
  TransactionCanceledException,
  type TransactWriteItem,
  TransactWriteItemsCommand,
  UpdateItemCommand,
} from "@aws-sdk/client-dynamodb";
import { createTableFromTemplate } from "../../../infra/local/table/template.ts";

/**
 * What Hawser relies on in a DynamoDB, over the SDK.
 * @param name of the DynamoDB, for the report
 * @param start starts it, or says where it is
 */
export function tableContract(name: string, start: () => Promise<{ url: string; stop(): Promise<void> }>): void {
  describe(`DynamoDB: ${name}`, async () => {
    const server = await start();
    const { url } = server;
    const TableName = `contract-${randomUUID()}`;
    const credentials = { accessKeyId: "local", secretAccessKey: "local" };
    const client = new DynamoDBClient({ endpoint: url, region: "local", credentials });
    await createTableFromTemplate(
      url,
      await readFile(new URL("../../../infra/aws/table.yml", import.meta.url), "utf8"),
      TableName,
    );
    after(async () => {
      await client.send(new DeleteTableCommand({ TableName }));
      client.destroy();
      await server.stop();
    });

    const key = (sk = "A", pk: string = randomUUID()) => ({ pk: { S: pk }, sk: { S: sk } });
    const put = async (Item: PutItemCommand["input"]["Item"]): Promise<void> => {
      await client.send(new PutItemCommand({ TableName, Item }));
    };
    const get = async (Key: ReturnType<typeof key>) =>
      (await client.send(new GetItemCommand({ TableName, Key, ConsistentRead: true }))).Item;
    const refusalOf = async (sending: Promise<unknown>): Promise<DynamoDBServiceException> => {
      try {
        await sending;
      } catch (error) {
        assert.ok(error instanceof DynamoDBServiceException, String(error));
        return error;
      }
      return assert.fail("it was not refused");
    };
    const transact = async (TransactItems: TransactWriteItem[], ClientRequestToken?: string) =>
      await client.send(
        new TransactWriteItemsCommand({
          TransactItems,
          ...(ClientRequestToken === undefined ? {} : { ClientRequestToken }),
        }),
      );

    test("a conditional update shows what refused it", async () => {
      const Key = key();
      await put({ ...Key, fence: { N: "2" }, writeId: { S: "mine" } });

      const refusal = await refusalOf(
        client.send(
          new UpdateItemCommand({
            TableName,
            Key,
            UpdateExpression: "SET #f = :new",
            ConditionExpression: "#f = :old",
            ExpressionAttributeNames: { "#f": "fence" },
            ExpressionAttributeValues: { ":old": { N: "1" }, ":new": { N: "3" } },
            ReturnValuesOnConditionCheckFailure: "ALL_OLD",
          }),
        ),
      );

      assert.ok(refusal instanceof ConditionalCheckFailedException);
      assert.deepEqual(refusal.Item, { ...Key, fence: { N: "2" }, writeId: { S: "mine" } });
    });

    test("a condition on an item that does not exist is refused without an item", async () => {
      const refusal = await refusalOf(
        client.send(
          new UpdateItemCommand({
            TableName,
            Key: key(),
            UpdateExpression: "SET a = :a",
            ConditionExpression: "attribute_exists(pk)",
            ExpressionAttributeValues: { ":a": { N: "1" } },
            ReturnValuesOnConditionCheckFailure: "ALL_OLD",
          }),
        ),
      );

      assert.ok(refusal instanceof ConditionalCheckFailedException);
      assert.equal(refusal.Item, undefined);
    });

    test("an update sets, removes and counts in one go and answers the new item", async () => {
      const Key = key();
      await put({ ...Key, count: { N: "4" }, gone: { S: "x" }, state: { S: "old" } });

      const answer = await client.send(
        new UpdateItemCommand({
          TableName,
          Key,
          UpdateExpression: "SET #s = :s, #c = #c + :n REMOVE gone",
          ExpressionAttributeNames: { "#s": "state", "#c": "count" },
          ExpressionAttributeValues: { ":s": { S: "new" }, ":n": { N: "-1" } },
          ReturnValues: "ALL_NEW",
        }),
      );

      assert.deepEqual(answer.Attributes, { ...Key, count: { N: "3" }, state: { S: "new" } });
    });

    test("a path into a map can be tested for absence, compared and set", async () => {
      const Key = key();
      await put({ ...Key, fences: { M: {} } });
      const stamp = (fence: string) =>
        new UpdateItemCommand({
          TableName,
          Key,
          UpdateExpression: "SET fences.#a = :f",
          ConditionExpression: "attribute_not_exists(fences.#a) OR fences.#a <= :f",
          ExpressionAttributeNames: { "#a": "announce" },
          ExpressionAttributeValues: { ":f": { N: fence } },
        });

      await client.send(stamp("2"));
      await client.send(stamp("2"));
      const refusal = await refusalOf(client.send(stamp("1")));

      assert.equal(refusal.name, "ConditionalCheckFailedException");
      assert.deepEqual((await get(Key))?.["fences"], { M: { announce: { N: "2" } } });
    });

    test("of a hundred conditional writers one wins", async () => {
      const Key = key();

      const outcomes = await Promise.allSettled(
        Array.from(
          { length: 100 },
          async (_, i) =>
            await client.send(
              new PutItemCommand({
                TableName,
                Item: { ...Key, by: { N: String(i) } },
                ConditionExpression: "attribute_not_exists(pk)",
              }),
            ),
        ),
      );

      const winners = outcomes.flatMap((outcome, i) => (outcome.status === "fulfilled" ? [i] : []));
      assert.equal(winners.length, 1);
      assert.deepEqual((await get(Key))?.["by"], { N: String(winners[0]) });
    });

    test("a cancelled transaction leaves nothing behind and gives a reason for each of its writes, in order", async () => {
      const [first, second] = [key(), key()];
      await put({ ...second, writeId: { S: "theirs" } });

      const refusal = await refusalOf(
        transact([
          { Put: { TableName, Item: { ...first } } },
          {
            Put: {
              TableName,
              Item: { ...second, writeId: { S: "mine" } },
              ConditionExpression: "attribute_not_exists(pk)",
              ReturnValuesOnConditionCheckFailure: "ALL_OLD",
            },
          },
          { ConditionCheck: { TableName, Key: key(), ConditionExpression: "attribute_not_exists(pk)" } },
        ]),
      );

      assert.ok(refusal instanceof TransactionCanceledException);
      assert.deepEqual(
        refusal.CancellationReasons?.map((reason) => reason.Code),
        ["None", "ConditionalCheckFailed", "None"],
      );
      assert.deepEqual(refusal.CancellationReasons?.[1]?.Item, { ...second, writeId: { S: "theirs" } });
      assert.equal(await get(first), undefined);
    });

    test("a transaction writes all of its items", async () => {
      const [made, changed, deleted] = [key(), key(), key()];
      await put({ ...changed, revision: { N: "1" } });
      await put(deleted);

      await transact([
        { Put: { TableName, Item: made } },
        {
          Update: {
            TableName,
            Key: changed,
            UpdateExpression: "SET revision = revision + :one",
            ConditionExpression: "attribute_exists(pk)",
            ExpressionAttributeValues: { ":one": { N: "1" } },
          },
        },
        { Delete: { TableName, Key: deleted } },
      ]);

      assert.deepEqual(await get(made), made);
      assert.deepEqual((await get(changed))?.["revision"], { N: "2" });
      assert.equal(await get(deleted), undefined);
    });

    test("a transaction that is sent again with its token is not done again", async () => {
      const Key = key();
      await put({ ...Key, count: { N: "0" } });
      const items = (): TransactWriteItem[] => [
        {
          Update: {
            TableName,
            Key,
            UpdateExpression: "SET #c = #c + :one",
            ExpressionAttributeNames: { "#c": "count" },
            ExpressionAttributeValues: { ":one": { N: "1" } },
          },
        },
      ];
      const token = randomUUID();

      await transact(items(), token);
      await transact(items(), token);
      const other = await refusalOf(transact([{ Delete: { TableName, Key } }], token));

      assert.deepEqual((await get(Key))?.["count"], { N: "1" });
      assert.equal(other.name, "IdempotentParameterMismatchException");
    });

    test("a transaction may not write one item twice", async () => {
      const Key = key();

      const refusal = await refusalOf(
        transact([
          { Put: { TableName, Item: Key } },
          { ConditionCheck: { TableName, Key, ConditionExpression: "attribute_not_exists(pk)" } },
        ]),
      );

      // DynamoDB says the first, its local edition the second.
      assert.ok(["ValidationException", "TransactionCanceledException"].includes(refusal.name));
      assert.equal(await get(Key), undefined);
    });

    test("a query gives the items under a prefix in the order of their keys, also backwards and between two keys", async () => {
      const pk = randomUUID();
      for (const sk of ["EVENT#2", "EVENT#1", "EVENT#3", "EVENTS", "CURSOR#1"]) await put(key(sk, pk));
      const query = async (more: Partial<QueryCommand["input"]>, values: Record<string, string>) => {
        const ExpressionAttributeValues = Object.fromEntries(
          Object.entries({ ":pk": pk, ...values }).map(([k, v]) => [k, { S: v }]),
        );
        const input = { TableName, ConsistentRead: true, ...more, ExpressionAttributeValues };
        return (await client.send(new QueryCommand(input))).Items?.map((item) => item["sk"]?.S);
      };

      const forwards = await query({ KeyConditionExpression: "pk = :pk AND begins_with(sk, :p)" }, { ":p": "EVENT#" });
      const backwards = await query(
        { KeyConditionExpression: "pk = :pk AND sk BETWEEN :a AND :b", ScanIndexForward: false },
        { ":a": "EVENT#", ":b": "EVENT#2" },
      );

      assert.deepEqual(forwards, ["EVENT#1", "EVENT#2", "EVENT#3"]);
      assert.deepEqual(backwards, ["EVENT#2", "EVENT#1"]);
    });

    test("the index holds the items that carry a state and no others, and is read in pages", async () => {
      const state = randomUUID();
      const names = ["a", "b", "c", "d", "e"].map((n) => `CLUSTER#${n}-${state}`);
      for (const pk of names) await put({ ...key("MEMBERSHIP#antrea", pk), summaryState: { S: state } });
      await put(key("CONDITION#antrea#announce#Ready", names[0]));

      const seen: (string | undefined)[] = [];
      let ExclusiveStartKey: QueryCommand["input"]["ExclusiveStartKey"];
      do {
        const page = await client.send(
          new QueryCommand({
            TableName,
            IndexName: "byState",
            KeyConditionExpression: "summaryState = :s",
            ExpressionAttributeValues: { ":s": { S: state } },
            Limit: 2,
            ExclusiveStartKey,
          }),
        );
        assert.ok((page.Items?.length ?? 0) <= 2);
        seen.push(...(page.Items ?? []).map((item) => item["pk"]?.S));
        ExclusiveStartKey = page.LastEvaluatedKey;
      } while (ExclusiveStartKey !== undefined);

      assert.deepEqual(seen, names);
    });

    test("a query of more than a megabyte comes in pages", async () => {
      const pk = randomUUID();
      const filler = { S: "x".repeat(300_000) };
      for (let i = 0; i < 5; i += 1) await put({ ...key(`P#${i}`, pk), filler });
      const input = {
        TableName,
        ConsistentRead: true,
        KeyConditionExpression: "pk = :pk",
        ExpressionAttributeValues: { ":pk": { S: pk } },
      };

      const first = await client.send(new QueryCommand(input));
      const rest = await client.send(new QueryCommand({ ...input, ExclusiveStartKey: first.LastEvaluatedKey }));

      assert.ok(first.LastEvaluatedKey !== undefined);
      assert.equal((first.Items?.length ?? 0) + (rest.Items?.length ?? 0), 5);
    });

    test("a hundred items are read at once, those that do not exist are left out, a hundred and one are refused", async () => {
      const keys = Array.from({ length: 101 }, (_, i) => key(`B#${i}`));
      for (let start = 0; start < 50; start += 25) {
        const puts = keys.slice(start, start + 25).map((Item) => ({ PutRequest: { Item } }));
        await client.send(new BatchWriteItemCommand({ RequestItems: { [TableName]: puts } }));
      }
      const read = async (Keys: typeof keys) =>
        await client.send(new BatchGetItemCommand({ RequestItems: { [TableName]: { Keys, ConsistentRead: true } } }));

      const answer = await read(keys.slice(0, 100));
      const refusal = await refusalOf(read(keys));

      assert.equal(answer.Responses?.[TableName]?.length, 50);
      assert.equal(refusal.name, "ValidationException");
    });

    test("an item of more than 400 KB is refused", async () => {
      const refusal = await refusalOf(put({ ...key(), filler: { S: "x".repeat(410 * 1024) } }));

      assert.equal(refusal.name, "ValidationException");
    });

    test("a table that is not there is named as such", async () => {
      const refusal = await refusalOf(client.send(new GetItemCommand({ TableName: "not-there", Key: key() })));

      assert.equal(refusal.name, "ResourceNotFoundException");
    });

    test("items expire by the attribute ttl", async () => {
      const answer = await client.send(new DescribeTimeToLiveCommand({ TableName }));

      assert.equal(answer.TimeToLiveDescription?.TimeToLiveStatus, "ENABLED");
      assert.equal(answer.TimeToLiveDescription.AttributeName, "ttl");
    });
  });
}
