import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { systemIds } from "../../lib/base/ids.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { seededRandom } from "../support/seeded-random.ts";

describe("ids", () => {
  it("of history sort by the time of their making", async () => {
    const clock = new FakeClock();
    const ids = systemIds(clock, seededRandom(1));
    const made: string[] = [];
    for (let i = 0; i < 20; i += 1) {
      made.push(ids.ulid());
      await clock.advance(1);
    }

    assert.deepEqual(made.toSorted(), made);
    assert.ok(made.every((id) => /^[0-9A-HJKMNP-TV-Z]{26}$/.test(id)));
  });

  it("of writes are never twice the same", () => {
    const ids = systemIds(new FakeClock(), seededRandom(1));

    assert.equal(new Set(Array.from({ length: 1_000 }, () => ids.uuid())).size, 1_000);
  });
});
