import assert from "node:assert/strict";
import { test } from "node:test";
import { parseDuration } from "../../../../../infra/local/cluster/front/duration.ts";

test("Go durations are read as Go reads them", () => {
  assert.equal(parseDuration("10s"), 10_000);
  assert.equal(parseDuration("1m30s"), 90_000);
  assert.equal(parseDuration("250ms"), 250);
  assert.equal(parseDuration("1.5h"), 5_400_000);
  assert.equal(parseDuration("0"), 0);
  assert.equal(parseDuration("-1s"), -1_000);
  assert.equal(parseDuration("+1s"), 1_000);
});

test("what is no Go duration is refused in Go's words", () => {
  const problemOf = (text: string): unknown => parseDuration(text);

  for (const wrong of ["", "s", "-", ".s"]) {
    assert.deepEqual(problemOf(wrong), { problem: `time: invalid duration "${wrong}"` });
  }
  assert.deepEqual(problemOf("10"), { problem: 'time: missing unit in duration "10"' });
  assert.deepEqual(problemOf("1d"), { problem: 'time: unknown unit "d" in duration "1d"' });
});
