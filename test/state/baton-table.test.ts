import assert from "node:assert/strict";
import { test } from "node:test";
import type { BatonStore, RevisionSource } from "../../lib/relay/ports.ts";
import { batonStoreContract } from "../contract/baton-store.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { specOf } from "./membership-samples.ts";
import { must, never, settled, startTestServer } from "./test-table.ts";

const server = await startTestServer();
const shared = (await server.table()).open();
const port: BatonStore & RevisionSource = shared.batons;
const name = { role: "announce", scope: "default-1" };

batonStoreContract("table", () => port);

function exceptions(
  count: number,
  kind = "TimedOut",
  of = 1,
): Record<string, { kind: string; count: number; since: number }> {
  return Object.fromEntries(
    Array.from({ length: count }, (_, i) => [
      `${"c".repeat(55)}-${String(i).padStart(4, "0")}`,
      { kind, count: of, since: 7 },
    ]),
  );
}

test("of a hundred windows that take a free baton, one gets it and the others are shown whose it is", async () => {
  const table = await server.table();
  const states = Array.from({ length: 4 }, () => table.open());
  const take = (i: number) => ({ fence: 1, renewals: 0, holder: `w${i}`, writeId: `w${i}` });

  const answers = await Promise.all(
    Array.from({ length: 100 }, async (_, i) =>
      settled(() => states[i % 4]!.batons.change(name, "absent", take(i), never)),
    ),
  );

  const winners = answers.filter((answer) => answer.kind === "changed");
  assert.equal(winners.length, 1);
  assert.ok(answers.every((answer) => answer.record?.holder === winners[0]?.record?.holder));
});

test("a renewal and a newer deployment's wish to take over do not undo each other", async () => {
  const { batons } = (await server.table()).open();
  must(await batons.change(name, "absent", { fence: 1, renewals: 0, holder: "a", writeId: "1" }, never));

  await Promise.all([
    batons.change(name, { fence: 1 }, { renewals: 1, writeId: "2" }, never),
    batons.change(name, { yieldTo: undefined }, { yieldTo: 99, writeId: "3" }, never),
  ]);

  const record = must(await batons.read(name, never));
  assert.deepEqual([record?.renewals, record?.yieldTo], [1, 99]);
});

test("the shard's revision is 0 where there is no shard and rises with each join", async () => {
  const state = (await server.table()).open();
  const before = must(await state.batons.readRevision("default-1", never));

  await state.createMembership({ spec: specOf("east"), createdBy: "x" }, never);

  assert.deepEqual([before, must(await state.batons.readRevision("default-1", never))], [0, 1]);
});

test("a thousand exceptions with long names fit, and all of them are read again", async () => {
  const { batons } = (await server.table()).open();
  const all = exceptions(1000, "x".repeat(5000));

  const changed = must(
    await batons.change(name, "absent", { fence: 1, renewals: 0, holder: "a", exceptions: all, writeId: "1" }, never),
  );
  const read = must(await batons.readExceptions(name, never));

  assert.equal(Object.keys(changed.record?.exceptions ?? {}).length, 200);
  assert.equal(changed.record?.moreExceptions, 800);
  assert.ok(JSON.stringify(changed.record).length < 100_000);
  assert.deepEqual(Object.keys(read).toSorted(), Object.keys(all).toSorted());
});

test("exceptions that go on are written beside the baton once a minute, others at once", async () => {
  const clock = new FakeClock();
  const { batons } = (await server.table()).open({ clock });
  const last = (all: Record<string, { count: number; kind: string }>): string =>
    Object.keys(all).toSorted().at(-1) ?? "";
  const report = async (
    renewals: number,
    given: ReturnType<typeof exceptions>,
  ): Promise<{ count?: number; kind?: string }> => {
    const change = { fence: 1, renewals, exceptions: given, writeId: `w${renewals}` };
    must(await batons.change(name, renewals === 0 ? "absent" : { fence: 1 }, change, never));
    const read = must(await batons.readExceptions(name, never));
    return read[last(read)] ?? {};
  };

  const first = await report(0, exceptions(201, "TimedOut", 1));
  const soon = await report(1, exceptions(201, "TimedOut", 2));
  const other = await report(2, exceptions(201, "Throttled", 3));
  await clock.advance(60_000);
  const minute = await report(3, exceptions(201, "Throttled", 9));

  assert.deepEqual([first.count, soon.count, other.kind, other.count, minute.count], [1, 1, "Throttled", 3, 9]);
});

test("exceptions that an earlier holder left beside the baton are not taken for the present one's", async () => {
  const { batons } = (await server.table()).open();
  must(
    await batons.change(name, "absent", { fence: 1, renewals: 0, exceptions: exceptions(300), writeId: "1" }, never),
  );

  must(await batons.change(name, { fence: 1 }, { fence: 2, writeId: "2" }, never));

  assert.equal(Object.keys(must(await batons.readExceptions(name, never))).length, 200);
});
