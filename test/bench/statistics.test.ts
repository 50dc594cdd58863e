import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { percentilesOf, ratioOf, spreadOf } from "./statistics.ts";

const durations = fc.array(fc.double({ min: 0, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 200 });

test("a percentile between two values is interpolated", () => {
  const values = Array.from({ length: 100 }, (_, i) => 100 - i);

  const { p50, p99, max } = percentilesOf(values) ?? {};

  assert.equal(p50, 50.5);
  assert.equal(p99?.toFixed(6), "99.010000");
  assert.equal(max, 100);
});

test("percentiles lie in order and within the values, however these are ordered", () => {
  fc.assert(
    fc.property(durations, (values) => {
      const { p50 = Number.NaN, p99 = Number.NaN, max = Number.NaN } = percentilesOf(values) ?? {};

      assert.ok(Math.min(...values) <= p50 && p50 <= p99 && p99 <= max);
      assert.equal(max, Math.max(...values));
      assert.deepEqual(percentilesOf(values.toReversed()), { p50, p99, max });
    }),
  );
});

test("a spread holds its median between its ends and leaves the values as they were", () => {
  fc.assert(
    fc.property(durations, (values) => {
      const copy = [...values];

      const { median = Number.NaN, min = Number.NaN, max = Number.NaN } = spreadOf(values) ?? {};

      assert.ok(min <= median && median <= max);
      assert.deepEqual(values, copy);
    }),
  );
});

test("nothing measured is no figure, and never a zero", () => {
  assert.equal(spreadOf([]), undefined);
  assert.equal(percentilesOf([]), undefined);
  assert.equal(ratioOf(undefined, 2), undefined);
  assert.equal(ratioOf(1, 0), undefined);
  assert.equal(ratioOf(1, 2), 0.5);
});
