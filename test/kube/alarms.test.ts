import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Alarms } from "../../lib/kube/alarms.ts";
import { FakeClock } from "../support/fake-clock.ts";

test("rings each alarm at its moment, and none that was cancelled, whatever their order", async () => {
  const plan = fc.array(fc.record({ ms: fc.integer({ min: 0, max: 50 }), cancelled: fc.boolean() }), { maxLength: 20 });
  await fc.assert(
    fc.asyncProperty(plan, async (alarms) => {
      const clock = new FakeClock();
      const set = new Alarms(clock);
      const rung: number[] = [];
      const made = alarms.map(({ ms }, index) => set.set(ms, () => void rung.push(index)));
      alarms.forEach(({ cancelled }, index) => {
        const alarm = made[index];
        if (cancelled && alarm !== undefined) set.cancel(alarm);
      });

      for (let now = 0; now <= 50; now += 10) {
        await clock.advance(now === 0 ? 0 : 10);
        const due = alarms.flatMap(({ ms, cancelled }, index) => (!cancelled && ms <= now ? [index] : []));
        assert.deepEqual(
          rung.toSorted((a, b) => a - b),
          due,
        );
      }
      assert.equal(clock.sleeping, 0);
    }),
    { numRuns: 50 },
  );
});

test("sleeps once for many alarms, and not at all without one", async () => {
  const clock = new FakeClock();
  const alarms = new Alarms(clock);

  const made = Array.from({ length: 100 }, (_, i) => alarms.set(5000 + i, () => undefined));
  assert.equal(clock.sleeping, 1);
  for (const alarm of made) alarms.cancel(alarm);
  await clock.advance(0);

  assert.equal(clock.sleeping, 0);
});

test("an alarm that rings may set and cancel others", async () => {
  const clock = new FakeClock();
  const alarms = new Alarms(clock);
  const rung: string[] = [];
  const second = alarms.set(10, () => void rung.push("second"));
  alarms.set(9, () => {
    rung.push("first");
    alarms.cancel(second);
    alarms.set(1, () => void rung.push("third"));
  });

  await clock.advance(20);

  assert.deepEqual(rung, ["first", "third"]);
});
