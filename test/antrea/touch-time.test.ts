import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { touchTime } from "../../lib/antrea/touch-time.ts";

const at = Date.parse("2026-08-21T10:12:11.250Z");

it("is UTC to the second, as Antrea's own agent writes it", () => {
  assert.equal(touchTime(at, "2026-08-21T10:12:01Z"), "2026-08-21T10:12:11Z");
});

it("carries milliseconds in the first beat of a window, whose predecessor may have beaten in the same second", () => {
  assert.equal(touchTime(at, undefined), "2026-08-21T10:12:11.250Z");
});

it("differs from the beat before, also within one second and when the clock was set back", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: 0, max: 5_000 }), { minLength: 2 }), (moments) => {
      let previous: string | undefined;
      for (const moment of moments) {
        const next = touchTime(at + moment, previous);
        assert.notEqual(next, previous);
        assert.equal(Math.floor(Date.parse(next) / 1000), Math.floor((at + moment) / 1000));
        assert.match(next, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{3})?Z$/);
        previous = next;
      }
    }),
  );
});
