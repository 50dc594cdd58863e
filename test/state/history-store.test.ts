import assert from "node:assert/strict";
import { test } from "node:test";
import { HISTORY_MS } from "../../lib/state/history.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { must, never, startTestServer } from "./test-table.ts";

const server = await startTestServer();
const event = (message: string, at = Date.now()) => ({ at, protocol: "antrea", kind: "Connected", message }) as const;

test("events are read newest first, page by page, each once", async () => {
  const clock = new FakeClock();
  const state = (await server.table()).open({ clock });
  for (let i = 0; i < 7; i += 1) {
    await clock.advance(1);
    must(await state.writeEvent("east", event(`e${i}`, clock.now().getTime()), never));
  }

  const seen: string[] = [];
  let before: string | undefined;
  do {
    const page = must(await state.readEvents("east", { limit: 3, before }, never));
    assert.ok(page.events.length <= 3);
    seen.push(...page.events.map((e) => e.message));
    before = page.next;
  } while (before !== undefined);

  assert.deepEqual(seen, ["e6", "e5", "e4", "e3", "e2", "e1", "e0"]);
});

test("an event is not shown after 30 days, whether or not the table has dropped it", async () => {
  const clock = new FakeClock();
  const state = (await server.table()).open({ clock });
  const at = clock.now().getTime();
  must(await state.writeEvent("east", event("old", at), never));

  await clock.advance(HISTORY_MS - 2000);
  const kept = must(await state.readEvents("east", { limit: 3 }, never)).events.length;
  await clock.advance(4000);
  const gone = must(await state.readEvents("east", { limit: 3 }, never)).events.length;

  assert.deepEqual([kept, gone], [1, 0]);
});

test("the table drops expired events and nothing else", async () => {
  // Amazon's DynamoDB Local drops what has expired when it likes.
  const embedded = await (await startTestServer({ embeddedOnly: true })).table();
  const state = embedded.open();
  must(await state.writeEvent("east", event("old", 0), never));
  const kept = must(await state.writeEvent("east", event("new"), never));

  await embedded.sweep();

  assert.deepEqual(must(await state.readEvents("east", { limit: 5 }, never)).events, [kept]);
});

test("a long message is cut to 4,096 bytes", async () => {
  const state = (await server.table()).open();

  must(await state.writeEvent("east", event("€".repeat(20_000)), never));

  const [read] = must(await state.readEvents("east", { limit: 1 }, never)).events;
  assert.ok(new TextEncoder().encode(read?.message ?? "").length <= 4096);
});

test("histories of clusters do not mix, whatever their names begin with", async () => {
  const state = (await server.table()).open();
  must(await state.writeEvent("east", event("a"), never));
  must(await state.writeEvent("east-2", event("b"), never));

  assert.deepEqual(
    must(await state.readEvents("east", { limit: 5 }, never)).events.map((e) => e.message),
    ["a"],
  );
});
