import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { decideRival, isRival, type Rival } from "../../lib/antrea/announce-rival.ts";

const looks = fc.array(fc.boolean(), { maxLength: 30 });

/** What is thought after each look of a history, one every 10 s; `true`: somebody else's stamp stood there. */
function thoughts(history: readonly boolean[]): readonly (Rival | undefined)[] {
  let rival: Rival | undefined;
  return history.map((isForeign, i) => (rival = decideRival(rival, isForeign, i * 10_000)));
}

test("another agent is named exactly while the last two looks have both found a foreign stamp", () => {
  fc.assert(
    fc.property(looks, (history) => {
      for (const [i, rival] of thoughts(history).entries()) {
        assert.equal(isRival(rival), history[i] === true && history[i - 1] === true);
      }
    }),
  );
});

test("another agent is dated from the first foreign stamp of the row", () => {
  fc.assert(
    fc.property(looks, (history) => {
      for (const [i, rival] of thoughts(history).entries()) {
        if (rival !== undefined) assert.equal(rival.since, (history.lastIndexOf(false, i) + 1) * 10_000);
      }
    }),
  );
});
