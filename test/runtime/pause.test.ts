import assert from "node:assert/strict";
import { test } from "node:test";
import { setPaused } from "../../lib/runtime/pause.ts";
import type { State } from "../../lib/state/state.ts";
import { observed, specOf } from "../state/membership-samples.ts";
import { must, never, startTestServer } from "../state/test-table.ts";
import { FakeClock } from "../support/fake-clock.ts";

const server = await startTestServer();
const KEY = { cluster: "east", protocol: "antrea" } as const;
const AREA = { ...KEY, area: "announce" };

async function joined(): Promise<{ readonly state: State; readonly clock: FakeClock }> {
  const clock = new FakeClock();
  const state = (await server.table()).open({ clock });
  must(await state.createMembership({ spec: specOf("east"), createdBy: "test" }, never));
  must(await state.updateMembership(KEY, { phase: "joined" }, {}, never));
  return { state, clock };
}

async function show(state: State, status: "True" | "False", more = {}): Promise<string> {
  const summary = { state: status === "True" ? "Connected" : "Disconnected", since: 1 } as const;
  const next = { Ready: observed({ status, ...more }) };
  return must(await state.writeConditions(AREA, next, { summary }, never)).kind;
}

test("a pause is shown at once, and no beat that was under way shows the membership as connected again", async () => {
  const { state, clock } = await joined();
  const before = must(await state.readShard("default-1", never))?.revision ?? 0;

  const first = must(await setPaused(KEY, true, { store: state, clock }, never));
  const again = must(await setPaused(KEY, true, { store: state, clock }, never));

  assert.deepEqual([first, again], ["paused", "unchanged"]);
  assert.equal(await show(state, "True"), "outdated");
  const membership = must(await state.readMembership("east", "antrea", never));
  assert.deepEqual([membership?.paused, membership?.summary.state], [true, "Paused"]);
  assert.equal(must(await state.readShard("default-1", never))?.revision, before + 1);
});

test("the role that rests shows it in its conditions, together with the summary", async () => {
  const { state, clock } = await joined();
  await setPaused(KEY, true, { store: state, clock }, never);
  const next = { Ready: observed({ status: "Unknown", reason: "Paused" }) };

  const written = must(await state.writeConditions(AREA, next, { summary: { state: "Paused", since: 1 } }, never));

  assert.equal(written.kind, "written");
});

test("the end of a pause shows what the conditions say, so that a pause nobody saw leaves nothing behind", async () => {
  const { state, clock } = await joined();
  await show(state, "True");
  await setPaused(KEY, true, { store: state, clock }, never);

  const resumed = must(await setPaused(KEY, false, { store: state, clock }, never));
  const again = must(await setPaused(KEY, false, { store: state, clock }, never));

  const membership = must(await state.readMembership("east", "antrea", never));
  assert.deepEqual([resumed, again], ["resumed", "unchanged"]);
  assert.deepEqual([membership?.paused, membership?.summary.state], [undefined, "Connected"]);
  const { events } = must(await state.readEvents("east", { limit: 9 }, never));
  assert.deepEqual(events.map(({ kind }) => kind).toSorted(), ["Paused", "Resumed"]);
});

test("the end of a pause that the role has shown is pending until the first beat", async () => {
  const { state, clock } = await joined();
  await setPaused(KEY, true, { store: state, clock }, never);
  const next = { Ready: observed({ status: "Unknown", reason: "Paused" }) };
  await state.writeConditions(AREA, next, { summary: { state: "Paused", since: 1 } }, never);

  await setPaused(KEY, false, { store: state, clock }, never);

  assert.equal(must(await state.readMembership("east", "antrea", never))?.summary.state, "Pending");
});

test("what is not there, or is leaving, is not paused", async () => {
  const { state, clock } = await joined();
  const parts = { store: state, clock };

  const absent = must(await setPaused({ ...KEY, cluster: "west" }, true, parts, never));
  must(await state.updateMembership(KEY, { phase: "leaving" }, {}, never));
  const leaving = must(await setPaused(KEY, true, parts, never));

  assert.deepEqual([absent, leaving], ["absent", "leaving"]);
});
