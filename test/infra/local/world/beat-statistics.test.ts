import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { BEAT_INTERVAL_MS, judgeBeats } from "../../../../infra/local/world/beat-statistics.ts";
import { gridOffsetMs, gridPointAfter } from "../../../../lib/base/grid.ts";

const FROM = Date.parse("2026-01-01T00:00:00Z");
const TO = FROM + 90_000;
const offset = gridOffsetMs("east", BEAT_INTERVAL_MS);

function onGrid(latenessMs: number): number[] {
  const beats: number[] = [];
  for (let at = gridPointAfter(FROM, offset, BEAT_INTERVAL_MS); at + latenessMs <= TO; at += BEAT_INTERVAL_MS) {
    beats.push(at + latenessMs);
  }
  return beats;
}

describe("statistics of beats", () => {
  it("miss nothing when every grid point has its beat", () => {
    const result = judgeBeats("east", onGrid(20), FROM, TO);

    assert.equal(result.missed, 0);
    assert.equal(result.maxLatenessMs, 20);
    assert.equal(result.maxGapMs, 10_000);
    assert.equal(result.beats, 9);
  });

  it("miss one grid point for each beat that did not come, and show the gap", () => {
    const beats = onGrid(0).toSpliced(3, 2);

    const result = judgeBeats("east", beats, FROM, TO);

    assert.equal(result.missed, 2);
    assert.equal(result.maxGapMs, 30_000);
  });

  it("count a second beat of one grid point, but judge the first", () => {
    const [first = 0, ...rest] = onGrid(5);

    const result = judgeBeats("east", [first, first + 3_000, ...rest], FROM, TO);

    assert.equal(result.missed, 0);
    assert.equal(result.beats, rest.length + 2);
    assert.equal(result.maxLatenessMs, 5);
  });

  it("never miss more points than there are, whatever arrives", () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: FROM - 20_000, max: TO + 20_000 })), fc.string(), (moments, cluster) => {
        const result = judgeBeats(
          cluster,
          moments.toSorted((a, b) => a - b),
          FROM,
          TO,
        );
        assert.ok(result.missed >= 0 && result.missed <= 9);
        assert.ok(result.maxLatenessMs >= 0 && result.maxLatenessMs <= BEAT_INTERVAL_MS);
        assert.ok(result.maxGapMs >= 0 && result.maxGapMs <= TO - FROM);
      }),
    );
  });
});
