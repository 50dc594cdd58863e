import assert from "node:assert/strict";
import { test } from "node:test";
import { DynamoDBClient, PutItemCommand, UpdateItemCommand } from "@aws-sdk/client-dynamodb";
import { FakeClock } from "../support/fake-clock.ts";
import { specOf } from "./membership-samples.ts";
import { must, never, startTestServer, type TestTable } from "./test-table.ts";

const server = await startTestServer();

async function writeSchema({ url, tableName }: TestTable, version: string): Promise<void> {
  const client = new DynamoDBClient({ endpoint: url, region: "local" });
  const Item = { pk: { S: "SCHEMA" }, sk: { S: "SCHEMA" }, version: { N: version } };
  await client.send(new PutItemCommand({ TableName: tableName, Item }));
  client.destroy();
}

test("the first write notes the schema version, also when many are the first", async () => {
  const table = await server.table();
  const states = Array.from({ length: 5 }, () => table.open());

  const answers = await Promise.all(states.map(async (state) => await state.ensureSchema(never)));

  assert.ok(answers.every((answer) => answer.ok));
});

test("a table of a newer schema is read but not written", async () => {
  const table = await server.table();
  await writeSchema(table, "2");
  const state = table.open();

  const read = await state.readMembership("east", "antrea", never);
  const written = await state.createMembership({ spec: specOf("east"), createdBy: "x" }, never);
  const baton = await state.batons.change(
    { role: "announce", scope: "s" },
    "absent",
    { fence: 1, renewals: 0, writeId: "w" },
    never,
  );

  assert.equal(read.ok, true);
  assert.equal(!written.ok && written.error.kind, "invalid");
  assert.match(written.ok ? "" : written.error.message, /schema version 2.*nothing was written/);
  assert.equal(!baton.ok && baton.error.kind, "invalid");
});

test("a newer deployment that changes the schema under a running window is noticed within minutes", async () => {
  const table = await server.table();
  const clock = new FakeClock();
  const state = table.open({ clock });
  must(await state.ensureSchema(never));
  await writeSchema(table, "2");

  const soon = await state.ensureSchema(never);
  await clock.advance(5 * 60_000);
  const later = await state.ensureSchema(never);

  assert.deepEqual([soon.ok, later.ok], [true, false]);
});

test("an item that this version does not know is named, and left out of lists without stopping them", async () => {
  const table = await server.table();
  const unreadable: string[] = [];
  const state = table.open({ onUnreadable: (error) => unreadable.push(error.message) });
  for (const cluster of ["east", "west"])
    must(await state.createMembership({ spec: specOf(cluster), createdBy: "x" }, never));
  const client = new DynamoDBClient({ endpoint: table.url, region: "local" });
  await client.send(
    new UpdateItemCommand({
      TableName: table.tableName,
      Key: { pk: { S: "CLUSTER#east" }, sk: { S: "MEMBERSHIP#antrea" } },
      UpdateExpression: "SET phase = :p",
      ExpressionAttributeValues: { ":p": { S: "canary" } },
    }),
  );
  client.destroy();

  const one = await state.readMembership("east", "antrea", never);
  const shard = must(await state.readShardMemberships("default-1", never));
  const list = must(await state.listMemberships({}, never));

  assert.match(one.ok ? "" : one.error.message, /CLUSTER#east MEMBERSHIP#antrea: the attribute phase/);
  assert.deepEqual([shard.map((m) => m.cluster), list.memberships.map((m) => m.cluster)], [["west"], ["west"]]);
  assert.equal(unreadable.length, 2);
  assert.ok(unreadable.every((message) => !message.includes("canary")));
});
