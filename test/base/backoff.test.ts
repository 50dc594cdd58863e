import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { backoffMs } from "../../lib/base/backoff.ts";
import { seededRandom } from "../support/seeded-random.ts";

describe("backoff", () => {
  const policy = { baseMs: 100, capMs: 5_000 };

  it("doubles from the base up to the cap", () => {
    const most = { next: () => 1 };

    assert.deepEqual(
      [1, 2, 3, 7, 100].map((attempt) => backoffMs(policy, attempt, most)),
      [100, 200, 400, 5_000, 5_000],
    );
  });

  it("stays between half and the whole of its step", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 1_000 }), fc.integer(), (attempt, seed) => {
        const step = backoffMs(policy, attempt, { next: () => 1 });
        const wait = backoffMs(policy, attempt, seededRandom(seed));

        assert.ok(wait >= step / 2 && wait <= step);
      }),
    );
  });
});
