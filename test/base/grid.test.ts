import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { gridOffsetMs, gridPointAfter, gridPointAtOrBefore } from "../../lib/base/grid.ts";

const INTERVAL = 10_000;
const moments = fc.integer({ min: 0, max: 4e12 });

describe("the grid of beats", () => {
  it("has the same moments for a name in every window", () => {
    assert.equal(gridOffsetMs("east", INTERVAL), gridOffsetMs("east", INTERVAL));
    assert.notEqual(gridOffsetMs("east", INTERVAL), gridOffsetMs("west", INTERVAL));
  });

  it("has one moment before or at, and one after any time, an interval apart", () => {
    fc.assert(
      fc.property(fc.string(), moments, (name, at) => {
        const offset = gridOffsetMs(name, INTERVAL);
        const before = gridPointAtOrBefore(at, offset, INTERVAL);
        const after = gridPointAfter(at, offset, INTERVAL);

        assert.ok(offset >= 0 && offset < INTERVAL);
        assert.ok(before <= at && after > at);
        assert.equal(after - before, INTERVAL);
        assert.equal(gridPointAtOrBefore(before, offset, INTERVAL), before);
      }),
    );
  });

  it("spreads names over the interval", () => {
    const tenths = new Set<number>();
    for (let i = 0; i < 1_000; i += 1) tenths.add(Math.floor(gridOffsetMs(`cluster-${i}`, INTERVAL) / 1_000));

    assert.equal(tenths.size, 10);
  });
});
