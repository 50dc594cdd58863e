import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import {
  ConditionalCheckFailedException,
  CreateTableCommand,
  DeleteItemCommand,
  DescribeTableCommand,
  DynamoDBClient,
  type DynamoDBClientConfig,
  GetItemCommand,
  IdempotentParameterMismatchException,
  PutItemCommand,
  QueryCommand,
  ScanCommand,
  TransactGetItemsCommand,
  TransactionCanceledException,
  TransactWriteItemsCommand,
  UpdateItemCommand,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import { startTable, type Table } from "../../../../infra/local/table/table.ts";
import { createTableFromTemplate } from "../../../../infra/local/table/template.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const NAME = "hawser-test";
const TEMPLATE = `
Resources:
  Other: { Type: AWS::SNS::Topic }
  Table:
    Type: AWS::DynamoDB::Table
    DeletionPolicy: Retain
    Properties:
      TableName: !Sub "\${AWS::StackName}-state"
      BillingMode: PAY_PER_REQUEST
      KeySchema: [{ AttributeName: pk, KeyType: HASH }, { AttributeName: sk, KeyType: RANGE }]
      AttributeDefinitions:
        - { AttributeName: pk, AttributeType: S }
        - { AttributeName: sk, AttributeType: S }
        - { AttributeName: state, AttributeType: S }
      GlobalSecondaryIndexes:
        - IndexName: byState
          KeySchema: [{ AttributeName: state, KeyType: HASH }, { AttributeName: pk, KeyType: RANGE }]
          Projection: { ProjectionType: ALL }
      SSESpecification: { SSEEnabled: true, KMSMasterKeyId: !GetAtt Key.Arn }
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true }
      TimeToLiveSpecification: { AttributeName: expires, Enabled: true }
`;

function clientFor(url: string, more: DynamoDBClientConfig = {}): DynamoDBClient {
  return new DynamoDBClient({
    endpoint: url,
    region: "eu-central-1",
    credentials: { accessKeyId: "k", secretAccessKey: "s" },
    maxAttempts: 1,
    ...more,
  });
}

const key = (pk: string, sk = "A") => ({ pk: { S: pk }, sk: { S: sk } });
const clock = new FakeClock();
let table: Table;
let db: DynamoDBClient;

async function valueOf(pk: string, sk = "A"): Promise<string | undefined> {
  const got = await db.send(new GetItemCommand({ TableName: NAME, Key: key(pk, sk), ConsistentRead: true }));
  return got.Item?.["v"]?.N;
}

async function put(pk: string, v: number): Promise<void> {
  await db.send(new PutItemCommand({ TableName: NAME, Item: { ...key(pk), v: { N: String(v) } } }));
}

before(async () => {
  table = await startTable({ clock });
  db = clientFor(table.url);
  await createTableFromTemplate(table.url, TEMPLATE, NAME);
});
beforeEach(() => table.faults.clear());
after(async () => {
  db.destroy();
  await table.stop();
});

describe("a table from a CloudFormation template", () => {
  it("has the template's keys and index, and is active at once", async () => {
    const { Table: made } = await db.send(new DescribeTableCommand({ TableName: NAME }));

    assert.equal(made?.TableStatus, "ACTIVE");
    assert.deepEqual(
      made?.KeySchema?.map((k) => k.AttributeName),
      ["pk", "sk"],
    );
    assert.equal(made?.GlobalSecondaryIndexes?.[0]?.IndexName, "byState");
  });

  it("is left alone when it exists", async () => {
    await put("left-alone", 1);

    await createTableFromTemplate(table.url, TEMPLATE, NAME);

    assert.equal(await valueOf("left-alone"), "1");
  });

  it("is refused when the template has none", async () => {
    await assert.rejects(createTableFromTemplate(table.url, "Resources: {}", NAME), /no resource of type/);
  });

  it("answers index queries", async () => {
    await db.send(new PutItemCommand({ TableName: NAME, Item: { ...key("indexed"), state: { S: "Ready" } } }));

    const found = await db.send(
      new QueryCommand({
        TableName: NAME,
        IndexName: "byState",
        KeyConditionExpression: "#s = :s",
        ExpressionAttributeNames: { "#s": "state" },
        ExpressionAttributeValues: { ":s": { S: "Ready" } },
      }),
    );

    assert.deepEqual(
      found.Items?.map((item) => item["pk"]?.S),
      ["indexed"],
    );
  });
});

describe("a failed condition", () => {
  const failing = {
    TableName: NAME,
    ConditionExpression: "v = :other",
    ExpressionAttributeValues: { ":other": { N: "99" } },
    ReturnValuesOnConditionCheckFailure: "ALL_OLD",
  } as const;
  const writes = {
    Put: () => new PutItemCommand({ ...failing, Item: key("refused") }),
    Delete: () => new DeleteItemCommand({ ...failing, Key: key("refused") }),
    Update: () =>
      new UpdateItemCommand({
        ...failing,
        Key: key("refused"),
        UpdateExpression: "SET v = :v",
        ExpressionAttributeValues: { ":other": { N: "99" }, ":v": { N: "2" } },
      }),
  };

  for (const kind of ["Put", "Delete", "Update"] as const) {
    it(`of ${kind} carries the item that stands there`, async () => {
      await put("refused", 7);

      const error: unknown = await (kind === "Put"
        ? db.send(writes.Put())
        : kind === "Delete"
          ? db.send(writes.Delete())
          : db.send(writes.Update())
      ).catch((e: unknown) => e);

      assert.ok(error instanceof ConditionalCheckFailedException);
      assert.equal(error.Item?.["v"]?.N, "7");
    });
  }

  it("carries no item when there is none or when it was not asked for", async () => {
    const missing: unknown = await db
      .send(new DeleteItemCommand({ ...failing, Key: key("never-there") }))
      .catch((e: unknown) => e);
    await put("not-asked", 1);
    const silent: unknown = await db
      .send(new DeleteItemCommand({ ...failing, Key: key("not-asked"), ReturnValuesOnConditionCheckFailure: "NONE" }))
      .catch((e: unknown) => e);

    assert.ok(missing instanceof ConditionalCheckFailedException && silent instanceof ConditionalCheckFailedException);
    assert.equal(missing.Item, undefined);
    assert.equal(silent.Item, undefined);
  });

  it("leaves one winner of a hundred racers, and every loser sees the winner", async () => {
    const results = await Promise.all(
      Array.from({ length: 100 }, async (_, i) =>
        db
          .send(
            new PutItemCommand({
              TableName: NAME,
              Item: { ...key("race"), v: { N: String(i) } },
              ConditionExpression: "attribute_not_exists(pk)",
              ReturnValuesOnConditionCheckFailure: "ALL_OLD",
            }),
          )
          .then(
            () => ({ won: i }),
            (e: unknown) => ({ saw: e instanceof ConditionalCheckFailedException ? e.Item?.["v"]?.N : e }),
          ),
      ),
    );

    const winners = results.flatMap((r) => ("won" in r ? [r.won] : []));
    assert.equal(winners.length, 1);
    assert.deepEqual(new Set(results.flatMap((r) => ("saw" in r ? [r.saw] : []))), new Set([String(winners[0])]));
  });
});

describe("a transaction", () => {
  const putItem = (pk: string, v: number, condition?: string) => ({
    Put: {
      TableName: NAME,
      Item: { ...key(pk), v: { N: String(v) } },
      ...(condition === undefined ? {} : { ConditionExpression: condition }),
      ReturnValuesOnConditionCheckFailure: "ALL_OLD" as const,
    },
  });

  it("does all its writes", async () => {
    await put("t1-update", 1);
    await put("t1-delete", 1);
    await put("t1-check", 1);

    await db.send(
      new TransactWriteItemsCommand({
        TransactItems: [
          putItem("t1-put", 5, "attribute_not_exists(pk)"),
          {
            Update: {
              TableName: NAME,
              Key: key("t1-update"),
              UpdateExpression: "ADD v :one",
              ConditionExpression: "v = :one",
              ExpressionAttributeValues: { ":one": { N: "1" } },
            },
          },
          { Delete: { TableName: NAME, Key: key("t1-delete") } },
          { ConditionCheck: { TableName: NAME, Key: key("t1-check"), ConditionExpression: "attribute_exists(pk)" } },
        ],
      }),
    );

    const values = await Promise.all(["t1-put", "t1-update", "t1-delete", "t1-check"].map(async (pk) => valueOf(pk)));
    assert.deepEqual(values, ["5", "2", undefined, "1"]);
  });

  it("does nothing when one condition fails, and says which with the old item", async () => {
    await put("t2-old", 3);

    const error: unknown = await db
      .send(
        new TransactWriteItemsCommand({
          TransactItems: [putItem("t2-new", 1), putItem("t2-old", 9, "attribute_not_exists(pk)")],
        }),
      )
      .catch((e: unknown) => e);

    assert.ok(error instanceof TransactionCanceledException);
    assert.deepEqual(
      error.CancellationReasons?.map((r) => r.Code),
      ["None", "ConditionalCheckFailed"],
    );
    assert.equal(error.CancellationReasons?.[1]?.Item?.["v"]?.N, "3");
    assert.match(error.message, /\[None, ConditionalCheckFailed\]/);
    assert.equal(await valueOf("t2-new"), undefined);
    assert.equal(await valueOf("t2-old"), "3");
  });

  it("takes back what it wrote when a later write proves impossible", async () => {
    await put("t3-old", 1);

    const error: unknown = await db
      .send(
        new TransactWriteItemsCommand({
          TransactItems: [
            putItem("t3-new", 1),
            putItem("t3-old", 2),
            {
              Update: {
                TableName: NAME,
                Key: key("t3-bad"),
                UpdateExpression: "SET a.b = :v",
                ExpressionAttributeValues: { ":v": { N: "1" } },
              },
            },
          ],
        }),
      )
      .catch((e: unknown) => e);

    assert.ok(error instanceof TransactionCanceledException);
    assert.equal(error.CancellationReasons?.[2]?.Code, "ValidationError");
    assert.equal(await valueOf("t3-new"), undefined);
    assert.equal(await valueOf("t3-old"), "1");
  });

  it("is done once for one token, and refused when the token comes with another request", async () => {
    const add = (by: string) =>
      new TransactWriteItemsCommand({
        ClientRequestToken: "token-1",
        TransactItems: [
          {
            Update: {
              TableName: NAME,
              Key: key("t4"),
              UpdateExpression: "ADD v :by",
              ExpressionAttributeValues: { ":by": { N: by } },
            },
          },
        ],
      });

    await db.send(add("1"));
    await db.send(add("1"));
    await assert.rejects(db.send(add("2")), IdempotentParameterMismatchException);
    assert.equal(await valueOf("t4"), "1");

    await clock.advance(11 * 60_000);
    await db.send(add("2"));
    assert.equal(await valueOf("t4"), "3");
  });

  it("is refused when it names an item twice", async () => {
    await assert.rejects(
      db.send(new TransactWriteItemsCommand({ TransactItems: [putItem("twice", 1), putItem("twice", 2)] })),
      /multiple operations on one item/,
    );
  });

  it("never shows a reader of transactions a half", async () => {
    await put("pair-a", 0);
    await put("pair-b", 0);
    const seen: (string | undefined)[][] = [];

    await Promise.all(
      Array.from({ length: 20 }, async (_, i) => {
        await db.send(new TransactWriteItemsCommand({ TransactItems: [putItem("pair-a", i), putItem("pair-b", i)] }));
        const both = await db.send(
          new TransactGetItemsCommand({
            TransactItems: ["pair-a", "pair-b"].map((pk) => ({ Get: { TableName: NAME, Key: key(pk) } })),
          }),
        );
        seen.push((both.Responses ?? []).map((r) => r.Item?.["v"]?.N));
      }),
    );

    assert.equal(seen.length, 20);
    for (const [a, b] of seen) assert.equal(a, b);
  });

  it("loses no update when many raise the same counters", async () => {
    const raise = (pk: string) => ({
      Update: {
        TableName: NAME,
        Key: key(pk),
        UpdateExpression: "ADD v :one",
        ExpressionAttributeValues: { ":one": { N: "1" } },
      },
    });

    await Promise.all(
      Array.from({ length: 30 }, async (_, i) =>
        db.send(
          new TransactWriteItemsCommand({
            TransactItems: i % 2 === 0 ? [raise("c1"), raise("c2")] : [raise("c2"), raise("c1")],
          }),
        ),
      ),
    );

    assert.deepEqual([await valueOf("c1"), await valueOf("c2")], ["30", "30"]);
  });
});

describe("time to live", () => {
  it("deletes what has expired and nothing else", async () => {
    const now = new Date("2026-06-01T00:00:00Z");
    const at = now.getTime() / 1000;
    const items = { past: { N: String(at - 1) }, future: { N: String(at + 1) }, text: { S: String(at - 1) } };
    for (const [pk, expires] of Object.entries(items)) {
      await db.send(new PutItemCommand({ TableName: NAME, Item: { ...key(`ttl-${pk}`), v: { N: "1" }, expires } }));
    }

    assert.equal(await table.sweep(now), 1);

    assert.equal(await valueOf("ttl-past"), undefined);
    assert.equal(await valueOf("ttl-future"), "1");
    assert.equal(await valueOf("ttl-text"), "1");
  });

  it("is refused when it is on already", async () => {
    await assert.rejects(
      db.send(
        new UpdateTimeToLiveCommand({
          TableName: NAME,
          TimeToLiveSpecification: { AttributeName: "expires", Enabled: true },
        }),
      ),
      /already enabled/,
    );
  });
});

describe("a fault", () => {
  it("throttles, once, the named operation on the named key", async () => {
    const injected = table.faults.inject({
      fault: { kind: "throughputExceeded" },
      operations: ["GetItem"],
      key: { pk: "BATON#*" },
      times: 1,
    });

    await put("BATON#announce", 1);
    await valueOf("elsewhere");
    await assert.rejects(valueOf("BATON#announce"), { name: "ProvisionedThroughputExceededException" });
    assert.equal(await valueOf("BATON#announce"), "1");
    assert.equal(injected.hits(), 1);
  });

  it("can throttle by the account's limit or fail inside", async () => {
    table.faults.inject({ fault: { kind: "throttled" }, times: 1 });
    await assert.rejects(valueOf("x"), { name: "ThrottlingException" });

    table.faults.inject({ fault: { kind: "internalError" }, times: 1 });
    await assert.rejects(valueOf("x"), { name: "InternalServerError" });
  });

  it("loses the answer of a write that was done", async () => {
    table.faults.inject({ fault: { kind: "answerLost" }, operations: ["PutItem"], times: 1 });

    await assert.rejects(put("lost", 1));

    assert.equal(await valueOf("lost"), "1");
  });

  it("keeps silent after a write until the client gives up", async () => {
    table.faults.inject({ fault: { kind: "answerLost", silent: true }, operations: ["PutItem"], times: 1 });

    await assert.rejects(
      db.send(new PutItemCommand({ TableName: NAME, Item: { ...key("silent"), v: { N: "1" } } }), {
        abortSignal: AbortSignal.timeout(50),
      }),
    );

    assert.equal(await valueOf("silent"), "1");
  });

  it("breaks the connection before a write", async () => {
    table.faults.inject({ fault: { kind: "reset" }, operations: ["PutItem"], times: 1 });

    await assert.rejects(put("reset", 1));

    assert.equal(await valueOf("reset"), undefined);
  });

  it("makes transactions conflict", async () => {
    table.faults.inject({ fault: { kind: "transactionConflict" }, times: 1 });

    const error: unknown = await db
      .send(new TransactWriteItemsCommand({ TransactItems: [{ Delete: { TableName: NAME, Key: key("x") } }] }))
      .catch((e: unknown) => e);

    assert.ok(error instanceof TransactionCanceledException);
    assert.equal(error.CancellationReasons?.[0]?.Code, "TransactionConflict");
  });

  it("keeps the table away for a time", async () => {
    table.faults.away(60_000);
    await assert.rejects(valueOf("x"));
    await clock.advance(59_999);
    await assert.rejects(valueOf("x"));
    await clock.advance(1);

    assert.equal(await valueOf("x"), undefined);
  });

  it("delays an answer by the clock", async () => {
    table.faults.inject({ fault: { kind: "latency", ms: 5000 }, operations: ["PutItem"], times: 1 });
    let answered = false;
    const write = put("late", 1).then(() => {
      answered = true;
    });
    while (clock.sleeping === 0) await new Promise((resolve) => setImmediate(resolve));

    await clock.advance(4999);
    assert.equal(answered, false);
    await clock.advance(1);
    await write;
  });
});

it("is found through the SDK's endpoint variable, and the SDK's own retries get over a short absence", async () => {
  process.env["AWS_ENDPOINT_URL_DYNAMODB"] = table.url;
  process.env["AWS_REGION"] = "eu-central-1";
  process.env["AWS_ACCESS_KEY_ID"] = "k";
  process.env["AWS_SECRET_ACCESS_KEY"] = "s";
  const unchanged = new DynamoDBClient({});
  table.faults.inject({ fault: { kind: "reset" }, times: 1 });

  const got = await unchanged.send(new GetItemCommand({ TableName: NAME, Key: key("nothing") }));

  assert.equal(got.Item, undefined);
  unchanged.destroy();
});

it("keeps its data over a restart when it has a folder, and leaves nothing running", async () => {
  const dataDir = await mkdtemp(join(tmpdir(), "hawser-table-"));
  const first = await startTable({ clock: systemClock, dataDir });
  const one = clientFor(first.url);
  await one.send(
    new CreateTableCommand({
      TableName: "kept",
      BillingMode: "PAY_PER_REQUEST",
      KeySchema: [{ AttributeName: "pk", KeyType: "HASH" }],
      AttributeDefinitions: [{ AttributeName: "pk", AttributeType: "S" }],
    }),
  );
  await one.send(new PutItemCommand({ TableName: "kept", Item: { pk: { S: "a" } } }));
  await first.stop();
  await assert.rejects(fetch(first.url));

  const second = await startTable({ clock: systemClock, dataDir });
  const two = clientFor(second.url);
  const { Count } = await two.send(new ScanCommand({ TableName: "kept" }));
  assert.equal(Count, 1);

  one.destroy();
  two.destroy();
  await second.stop();
  await rm(dataDir, { recursive: true });
});
