import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { microTime } from "../../lib/kube/microtime.ts";

test("writes UTC with exactly six decimals", () => {
  assert.equal(microTime(new Date("2026-01-02T03:04:05.006+01:00")), "2026-01-02T02:04:05.006000Z");
  fc.assert(
    fc.property(fc.date({ min: new Date(0), max: new Date("9999-12-31"), noInvalidDate: true }), (at) => {
      const text = microTime(at);
      assert.match(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
      assert.equal(Date.parse(text), at.getTime());
    }),
  );
});
