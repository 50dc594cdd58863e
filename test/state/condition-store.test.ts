import assert from "node:assert/strict";
import { test } from "node:test";
import type { ConditionKey } from "../../lib/state/condition.ts";
import type { State } from "../../lib/state/state.ts";
import { observed, specOf } from "./membership-samples.ts";
import { must, never, settled, startTestServer } from "./test-table.ts";

const server = await startTestServer();
const of = { cluster: "east", protocol: "antrea" } as const;
const ready: ConditionKey = { ...of, area: "announce", type: "Ready" };
const isLeader: ConditionKey = { ...ready, type: "IsLeader" };

async function joined(): Promise<State> {
  const state = (await server.table()).open();
  must(await state.createMembership({ spec: specOf("east"), createdBy: "platform" }, never));
  return state;
}

test("a condition, the membership's summary and an event are written together", async () => {
  const state = await joined();
  const at = Date.now();

  const outcome = must(
    await state.writeCondition(
      ready,
      observed({ observedAt: at }),
      {
        summary: { state: "Connected", since: at },
        event: { at, protocol: "antrea", kind: "Connected", message: "the first beat arrived" },
      },
      never,
    ),
  );

  const expected = { ...observed({ observedAt: at }), lastTransitionTime: at };
  assert.deepEqual(outcome, { kind: "written", condition: expected });
  assert.deepEqual(must(await state.readConditions("east", "antrea", never)), [
    { ...expected, area: "announce", type: "Ready" },
  ]);
  assert.equal(must(await state.readMembership("east", "antrea", never))?.summary.state, "Connected");
  assert.deepEqual(
    must(await state.listMemberships({ state: "Connected" }, never)).memberships.map((m) => m.cluster),
    ["east"],
  );
  assert.deepEqual(
    must(await state.readEvents("east", { limit: 5 }, never)).events.map((e) => e.kind),
    ["Connected"],
  );
  assert.equal(must(await state.readShard("default-1", never))?.revision, 1);
});

test("an area that a later holder has fenced takes nothing more of an earlier one, also when nothing stood there", async () => {
  const state = await joined();
  const area = { ...of, area: "announce" };

  const fenced = must(await state.fenceConditions(area, { assignment: 1, fence: 8 }, never));
  const late = must(await state.writeCondition(ready, observed({ fence: 7 }), {}, never));
  const behind = must(await state.fenceConditions(area, { assignment: 1, fence: 7 }, never));
  const other = must(await state.fenceConditions(area, { assignment: 2, fence: 9 }, never));
  const own = must(await state.writeCondition(ready, observed({ fence: 8 }), {}, never));

  assert.deepEqual(
    [fenced, late.kind, behind, other, own.kind],
    ["fenced", "outdated", "outdated", "outdated", "written"],
  );
});

test("a condition that is unchanged sends neither summary nor event", async () => {
  const state = await joined();
  await state.writeCondition(ready, observed(), {}, never);

  const event = { at: 1, protocol: "antrea", kind: "Connected", message: "" } as const;
  const again = must(await state.writeCondition(ready, observed({ observedAt: 2000 }), { event }, never));

  assert.equal(again.kind, "unchanged");
  assert.deepEqual(must(await state.readEvents("east", { limit: 5 }, never)).events, []);
});

test("an older fence is told what stands there", async () => {
  const state = await joined();
  await state.writeCondition(ready, observed({ fence: 7 }), {}, never);

  const late = must(
    await state.writeCondition(ready, observed({ fence: 6, status: "False", observedAt: 9e9 }), {}, never),
  );

  assert.deepEqual(late, { kind: "outdated", standing: { ...observed({ fence: 7 }), lastTransitionTime: 1000 } });
});

test("an older fence writes no condition of an area in which a later one has written another", async () => {
  const state = await joined();
  await state.writeCondition(isLeader, observed({ fence: 7 }), {}, never);

  const late = must(await state.writeCondition(ready, observed({ fence: 6 }), {}, never));
  const other = must(await state.writeCondition({ ...ready, area: "watch" }, observed({ fence: 1 }), {}, never));

  assert.deepEqual(late, { kind: "outdated", standing: undefined });
  assert.equal(other.kind, "written");
});

test("a holder of an earlier assignment is outdated, and a removed membership gets no conditions", async () => {
  const state = await joined();
  await state.updateMembership(of, { reassign: true }, {}, never);

  const early = must(await state.writeCondition(ready, observed({ assignment: 1, fence: 9 }), {}, never));
  const present = must(await state.writeCondition(ready, observed({ assignment: 2, fence: 1 }), {}, never));
  await state.removeMembership(of, {}, never);
  const gone = must(
    await state.writeCondition(ready, observed({ assignment: 2, fence: 2, status: "False" }), {}, never),
  );

  assert.deepEqual([early.kind, present.kind, gone.kind], ["outdated", "written", "outdated"]);
  assert.deepEqual(must(await state.readConditions("east", "antrea", never)), []);
});

test("a late beat does not show a membership that is being left as connected", async () => {
  const state = await joined();
  await state.updateMembership(of, { phase: "leaving", summary: { state: "Leaving", since: 1 } }, {}, never);

  const late = must(
    await state.writeCondition(ready, observed(), { summary: { state: "Connected", since: 2 } }, never),
  );

  assert.equal(late.kind, "outdated");
  assert.equal(must(await state.readMembership("east", "antrea", never))?.summary.state, "Leaving");
});

test("of a hundred holders that race, the one with the highest fence stands at the end", async () => {
  const table = await server.table();
  const states = Array.from({ length: 4 }, () => table.open());
  must(await states[0]!.createMembership({ spec: specOf("east"), createdBy: "platform" }, never));

  const outcomes = await Promise.all(
    Array.from({ length: 100 }, async (_, i) => {
      const next = observed({ fence: i + 1, message: `from ${i + 1}`, observedAt: 100_000 - i });
      return await settled(() => states[i % 4]!.writeCondition(ready, next, {}, never));
    }),
  );

  const [standing] = must(await states[0]!.readConditions("east", "antrea", never));
  assert.ok(standing);
  const best = Math.max(...outcomes.flatMap((o, i) => (o.kind === "written" ? [i + 1] : [])));
  // Higher only if its writer's answer was lost and it was told, when it asked again, that its own write stands there.
  assert.ok(standing.fence >= best);
  assert.equal(standing.fence, 100);
  assert.equal(standing.message, `from ${standing.fence}`);
});

test("a reader never sees conditions of one area that two holders have made", async () => {
  const table = await server.table();
  const writer = table.open();
  const reader = table.open();
  must(await writer.createMembership({ spec: specOf("east"), createdBy: "platform" }, never));
  const area = { ...of, area: "announce" };
  const done = new AbortController();

  const reading = (async () => {
    let views = 0;
    while (!done.signal.aborted) {
      const view = await reader.readConditions("east", "antrea", never);
      if (view.ok) assert.ok(new Set(view.value.map((c) => c.fence)).size <= 1);
      views += 1;
    }
    return views;
  })();
  for (let fence = 1; fence <= 20; fence += 1) {
    const next = observed({ fence, observedAt: fence, message: `from ${fence}` });
    must(
      await writer.writeConditions(
        area,
        fence % 3 === 0 ? { Ready: next, IsLeader: next } : { Ready: next },
        {},
        never,
      ),
    );
  }
  done.abort();

  assert.ok((await reading) > 0);
  const last = must(await reader.readConditions("east", "antrea", never));
  assert.deepEqual(
    last.map((c) => [c.type, c.fence]),
    [
      ["Ready", 20],
      ["IsLeader", 20],
    ],
  );
});
