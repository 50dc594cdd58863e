import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Deadlines } from "../../../../../infra/local/cluster/front/deadlines.ts";
import { FakeClock } from "../../../../support/fake-clock.ts";

const never = new AbortController().signal;

test("each limit is reached at its own time, whatever the order in which they start", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.integer({ min: 1, max: 50 }), { minLength: 1, maxLength: 8 }), async (limits) => {
      const clock = new FakeClock();
      const deadlines = new Deadlines(clock);
      const reached: { ms: number; at: number }[] = [];
      for (const ms of limits) {
        deadlines
          .start(ms, never)
          .signal.addEventListener("abort", () => reached.push({ ms, at: clock.monotonicMs() }));
      }

      await clock.advance(60);

      assert.equal(reached.length, limits.length);
      for (const { ms, at } of reached) assert.ok(Math.abs(at - ms) <= 1, `${ms} was reached at ${at}`);
    }),
    { numRuns: 40 },
  );
});

test("a limit that is over before is never reached", async () => {
  const clock = new FakeClock();
  const deadlines = new Deadlines(clock);
  const limit = deadlines.start(10, never);

  limit[Symbol.dispose]();
  await clock.advance(20);

  assert.equal(limit.expired(), false);
  assert.equal(limit.signal.aborted, false);
});

test("the parent's end ends it, but does not count as reached", () => {
  const parent = new AbortController();
  const limit = new Deadlines(new FakeClock()).start(10, parent.signal);

  parent.abort();

  assert.deepEqual([limit.signal.aborted, limit.expired()], [true, false]);
});

test("a limit that is over counts as reached before its timer has told", () => {
  const clock = new FakeClock();
  const limit = new Deadlines(clock).start(0, never);

  assert.deepEqual([limit.signal.aborted, limit.expired()], [false, true]);
});
