import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseShardEvent } from "../../lib/runtime/shard-event.ts";
import { planSchedules } from "../../lib/schedule/plan.ts";

test("reads what a planned schedule sends", () => {
  const settings = { stage: "dev", group: "g", functionArnPrefix: "a", roleArn: "r", deadLetterArn: "d" };
  const [schedule] = planSchedules(settings, { name: "default-1", generation: 1 }, ["announce"]).schedules;

  assert.deepEqual(parseShardEvent("announce", JSON.parse(schedule!.input)), { role: "announce", shard: "default-1" });
});

for (const [what, event, expected] of [
  ["another role", { role: "watch", shard: "default-1" }, /role: /],
  ["no shard", { role: "announce" }, /shard: /],
  ["a shard that no table key may hold", { role: "announce", shard: "a#b" }, /shard: is not the name/],
  ["nothing", undefined, /event: /],
] as const) {
  test(`refuses ${what} and says what to do`, () => {
    assert.throws(() => parseShardEvent("announce", event), expected);
    assert.throws(() => parseShardEvent("announce", event), /Correct the schedule/);
  });
}

test("whatever comes is read or refused in words", () => {
  fc.assert(
    fc.property(fc.anything(), (event) => {
      assert.throws(() => parseShardEvent("announce", event), /the event of announce must be/);
    }),
  );
});
