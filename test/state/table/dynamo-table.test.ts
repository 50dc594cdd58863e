import assert from "node:assert/strict";
import { createServer } from "node:http";
import { after, test } from "node:test";
import { systemClock } from "../../../lib/base/clock.ts";
import { systemIds } from "../../../lib/base/ids.ts";
import { systemRandom } from "../../../lib/base/random.ts";
import { openDynamoTable } from "../../../lib/state/table/dynamo-table.ts";
import { stateErrorOf } from "../../../lib/state/table/failures.ts";
import type { Table } from "../../../lib/state/table/table.ts";
import { must, never } from "../test-table.ts";

process.env["AWS_ACCESS_KEY_ID"] ??= "local";
process.env["AWS_SECRET_ACCESS_KEY"] ??= "local";

type Body = Record<string, unknown>;

/** A table over a DynamoDB that answers as it is told. */
async function tableThatAnswers(
  answer: (operation: string, input: Body) => { status: number; body: Body },
): Promise<Table> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const operation = String(request.headers["x-amz-target"]).split(".")[1] ?? "";
      const { status, body } = answer(operation, JSON.parse(Buffer.concat(chunks).toString()) as Body);
      response.writeHead(status, { "content-type": "application/x-amz-json-1.0" }).end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const endpoint = `http://127.0.0.1:${typeof address === "object" ? address?.port : 0}`;
  const random = { next: () => 0 };
  const table = openDynamoTable({
    tableName: "t",
    region: "local",
    endpoint,
    clock: systemClock,
    random,
    ids: systemIds(systemClock, systemRandom),
  });
  after(() => {
    table.close();
    server.closeAllConnections();
    server.close();
  });
  return table;
}

const keys = Array.from({ length: 130 }, (_, i) => ({ pk: `p${i}`, sk: "s" }));
const call = { what: "read", signal: never };

test("keys that DynamoDB leaves unprocessed are asked for again until all are there", async () => {
  let requests = 0;
  const table = await tableThatAnswers((_, input) => {
    requests += 1;
    const asked = (input["RequestItems"] as { t: { Keys: Body[]; ConsistentRead: boolean } }).t;
    assert.equal(asked.ConsistentRead, true);
    const done = asked.Keys.slice(0, 60);
    const rest = asked.Keys.slice(60);
    const UnprocessedKeys = rest.length === 0 ? {} : { t: { Keys: rest } };
    return { status: 200, body: { Responses: { t: done }, UnprocessedKeys } };
  });

  const items = must(await table.getMany(keys, call));

  assert.deepEqual(
    items.map((item) => item["pk"]),
    keys.map((key) => key.pk),
  );
  assert.equal(requests, 3);
});

test("keys that stay unprocessed end as throttling, not as a shorter list", async () => {
  const table = await tableThatAnswers((_, input) => ({
    status: 200,
    body: { Responses: { t: [] }, UnprocessedKeys: input["RequestItems"] },
  }));

  const read = await table.getMany(keys, call);

  assert.equal(!read.ok && read.error.kind, "throttled");
});

const names = [
  ["AccessDeniedException", "denied"],
  ["UnrecognizedClientException", "denied"],
  ["ValidationException", "invalid"],
  ["SomethingNew", "invalid"],
] as const;
for (const [type, kind] of names) {
  test(`${type} is ${kind}, tried once, and its words are not repeated`, async () => {
    let requests = 0;
    const table = await tableThatAnswers(() => {
      requests += 1;
      return { status: 400, body: { __type: `com.amazonaws.dynamodb.v20120810#${type}`, message: "canary" } };
    });

    const read = await table.get({ pk: "p", sk: "s" }, call);

    assert.equal(!read.ok && read.error.kind, kind);
    assert.ok(
      !read.ok && read.error.message.startsWith(`read in table t: ${type}`) && !read.error.message.includes("canary"),
    );
    assert.equal(requests, 1);
  });
}

test("what is thrown is named by its code, its cause's or its parts'", () => {
  const refused = Object.assign(new Error("connect canary"), { code: "ECONNREFUSED" });
  const thrown = [refused, new Error("outer", { cause: refused }), new AggregateError([refused]), "canary", undefined];

  const errors = thrown.map((error) => stateErrorOf(error, "read", "t"));

  assert.ok(errors.every((error) => error.kind === "unavailable" && !error.message.includes("canary")));
  assert.ok(errors.slice(0, 3).every((error) => error.message.includes("ECONNREFUSED")));
});
