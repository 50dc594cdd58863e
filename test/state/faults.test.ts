import assert from "node:assert/strict";
import { test } from "node:test";
import type { TableFaultRule } from "../../infra/local/table/faults.ts";
import type { State, StateOptions } from "../../lib/state/state.ts";
import { CALL_MS } from "../../lib/state/table/connection.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { until } from "../support/until.ts";
import { observed, specOf } from "./membership-samples.ts";
import { must, never, startTestServer } from "./test-table.ts";

const of = { cluster: "east", protocol: "antrea" } as const;
const ready = { ...of, area: "announce", type: "Ready" };
const baton = { role: "announce", scope: "default-1" };

/** A joined membership in a table that can be made to fail; a server of its own, as its faults hit all tables. */
async function joined(
  options: Partial<StateOptions> = {},
): Promise<{ state: State; inject: (rule: TableFaultRule) => () => number }> {
  const server = await startTestServer({ embeddedOnly: true });
  const table = await server.table();
  const state = table.open(options);
  must(await state.createMembership({ spec: specOf("east"), createdBy: "platform" }, never));
  const { faults } = table;
  assert.ok(faults);
  return { state, inject: (rule) => faults.inject(rule).hits };
}

test("a condition write whose answer was lost is recognised as ours", async () => {
  const { state, inject } = await joined();
  const hits = inject({ fault: { kind: "answerLost" }, operations: ["TransactWriteItems"], times: 1 });

  const outcome = must(await state.writeCondition(ready, observed(), {}, never));

  assert.deepEqual([outcome.kind, hits()], ["written", 1]);
});

test("a baton change whose answer was lost is recognised as ours", async () => {
  const { state, inject } = await joined();
  const hits = inject({ fault: { kind: "answerLost" }, operations: ["UpdateItem"], times: 1 });

  const answer = must(
    await state.batons.change(baton, "absent", { fence: 1, renewals: 0, holder: "a", writeId: "w" }, never),
  );

  assert.deepEqual([answer.kind, answer.record?.holder, hits()], ["changed", "a", 1]);
});

test("a join whose answer was lost has joined once", async () => {
  const { state, inject } = await joined();
  inject({ fault: { kind: "answerLost" }, operations: ["TransactWriteItems"], times: 1 });

  const outcome = must(await state.createMembership({ spec: specOf("west"), createdBy: "platform" }, never));

  assert.equal(outcome.kind, "created");
  assert.equal(must(await state.readShard("default-1", never))?.count, 2);
});

test("a join that was held up deletes nothing of the membership that another has made meanwhile", async () => {
  const serverClock = new FakeClock();
  const server = await startTestServer({ embeddedOnly: true, serverClock });
  const table = await server.table();
  const [held, other] = [table.open(), table.open()];
  must(await other.ensureSchema(never));
  const key = { pk: "CLUSTER#east", sk: "MEMBERSHIP#antrea" };
  // The answer "there is none" comes only after the other join is done.
  const late = table.faults?.inject({
    fault: { kind: "latency", ms: 1_000 },
    operations: ["GetItem"],
    key,
    times: 1,
  });
  const joining = held.createMembership({ spec: specOf("east"), createdBy: "platform" }, never);
  await until(() => late?.hits() === 1);
  must(await other.createMembership({ spec: specOf("east"), createdBy: "platform" }, never));
  must(await other.writeCondition(ready, observed(), {}, never));

  await serverClock.advance(1_000);
  const joined = must(await joining);

  assert.equal(joined.kind, "unchanged");
  assert.equal(must(await other.readConditions("east", "antrea", never)).length, 1);
});

test("a baton is read while the records of a whole shard wait for a table that hangs", async () => {
  const clock = new FakeClock();
  const { state, inject } = await joined({ clock });
  must(await state.ensureSchema(never));
  const hits = inject({ fault: { kind: "hang" }, operations: ["Query"] });
  const stop = new AbortController();
  const waiting = Array.from({ length: 200 }, async () => await state.readConditions("east", "antrea", stop.signal));
  await until(() => hits() >= 50);

  const read = await state.batons.read(baton, never);
  stop.abort();
  await Promise.all(waiting);

  assert.deepEqual(read, { ok: true, value: undefined });
});

test("a write of which no answer comes at all ends as a timeout, well within a beat", async () => {
  const clock = new FakeClock();
  const { state, inject } = await joined({ clock });
  const hits = inject({ fault: { kind: "hang" }, operations: ["UpdateItem"] });

  const change = { fence: 1, renewals: 0, writeId: "w" };
  const answering = state.batons.change(baton, "absent", change, never);
  while (hits() === 0) await new Promise((resolve) => setImmediate(resolve));
  await clock.advance(CALL_MS);
  const answer = await answering;

  assert.ok(CALL_MS < 10_000);
  assert.equal(!answer.ok && answer.error.kind, "timeout");
});

test("a call ends soon after its signal fires", async () => {
  const { state, inject } = await joined();
  inject({ fault: { kind: "hang" }, operations: ["GetItem"] });
  const controller = new AbortController();

  const reading = state.readMembership("east", "antrea", controller.signal);
  controller.abort(new Error("superseded"));
  const answer = await reading;

  assert.equal(!answer.ok && answer.error.kind, "timeout");
});

const failures = [
  ["throughputExceeded", "throttled"],
  ["throttled", "throttled"],
  ["internalError", "unavailable"],
  ["reset", "unavailable"],
] as const;
for (const [fault, kind] of failures) {
  test(`a table that answers each request with ${fault} is ${kind}, and the message holds nothing of an item`, async () => {
    const { state, inject } = await joined();
    const hits = inject({ fault: { kind: fault } });

    const answer = await state.writeEvent("east", { at: 1, protocol: "antrea", kind: "K", message: "canary" }, never);

    assert.equal(!answer.ok && answer.error.kind, kind);
    assert.ok(!answer.ok && !answer.error.message.includes("canary") && answer.error.message.includes("east"));
    assert.ok(hits() >= 1 && hits() <= 3);
  });
}

test("a short throttling is not seen by the caller", async () => {
  const { state, inject } = await joined();
  inject({ fault: { kind: "throughputExceeded" }, times: 1 });

  assert.equal(must(await state.readMembership("east", "antrea", never))?.cluster, "east");
});

test("a conflict with another transaction is tried again", async () => {
  const { state, inject } = await joined();
  const hits = inject({ fault: { kind: "transactionConflict" }, operations: ["TransactWriteItems"], times: 3 });

  const outcome = must(await state.writeCondition(ready, observed(), {}, never));

  assert.deepEqual([outcome.kind, hits()], ["written", 3]);
});

test("a conflict that does not end is throttling", async () => {
  const clock = new FakeClock();
  const { state, inject } = await joined({ clock });
  inject({ fault: { kind: "transactionConflict" }, operations: ["TransactWriteItems"] });
  const done = new AbortController();

  const writing = state.writeCondition(ready, observed(), {}, never).finally(() => done.abort());
  while (!done.signal.aborted) await clock.advance(1);
  const outcome = await writing;

  assert.equal(!outcome.ok && outcome.error.kind, "throttled");
});

test("a missing table is invalid, and says what to look at", async () => {
  const server = await startTestServer({ embeddedOnly: true });
  const state = (await server.table()).open({ tableName: "hawser-nowhere" });

  const answer = await state.readMembership("east", "antrea", never);

  assert.deepEqual(answer, {
    ok: false,
    error: {
      kind: "invalid",
      message:
        "read membership east/antrea in table hawser-nowhere: ResourceNotFoundException; check that the table exists and was deployed with this version",
    },
  });
});

test("an endpoint where nothing listens is unavailable", async () => {
  const server = await startTestServer({ embeddedOnly: true });
  const state = (await server.table()).open({ endpoint: "http://127.0.0.1:1" });

  const answer = await state.batons.read(baton, never);

  assert.equal(!answer.ok && answer.error.kind, "unavailable");
});
