import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { BatonRecord } from "../../lib/relay/ports.ts";
import { StandingStill } from "../../lib/relay/standing-still.ts";

const record = (renewals: number): BatonRecord => ({ fence: 1, renewals, holder: "a", writeId: "w" });

describe("a count of renewals", () => {
  test("stands still from the look that first showed it", () => {
    const still = new StandingStill(2_000);

    for (let atMs = 0; atMs <= 6_000; atMs += 1_000) still.saw(record(4), atMs);

    assert.equal(still.forMs, 6_000);
  });

  test("that moves starts anew", () => {
    const still = new StandingStill(2_000);
    still.saw(record(4), 0);
    still.saw(record(4), 1_000);

    still.saw(record(5), 2_000);

    assert.equal(still.forMs, 0);
  });

  test("is not known across a break between two looks", () => {
    const still = new StandingStill(2_000);
    still.saw(record(4), 0);

    still.saw(record(4), 60_000);

    assert.equal(still.forMs, 0);
  });
});
