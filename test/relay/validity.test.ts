import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { DEFAULT_TIMING } from "../../lib/relay/timing.ts";
import { stampOf, Validity } from "../../lib/relay/validity.ts";
import { FakeClock } from "../support/fake-clock.ts";

describe("the validity of a hold", () => {
  test("does not begin before the first good renewal", () => {
    const validity = new Validity(new FakeClock(), DEFAULT_TIMING);

    assert.equal(validity.holds(), false);
  });

  test("counts from the start of a renewal, not from its answer", async () => {
    const clock = new FakeClock();
    const validity = new Validity(clock, DEFAULT_TIMING);
    const start = stampOf(clock);
    await clock.advance(2_000);
    validity.renewed(start);

    await clock.advance(17_999);
    const before = validity.holds();
    await clock.advance(1);

    assert.deepEqual([before, validity.holds()], [true, false]);
  });

  test("ends by whichever clock says so first", async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(40_000), fc.integer({ min: -40_000, max: 40_000 }), async (passedMs, setMs) => {
        const clock = new FakeClock();
        const validity = new Validity(clock, DEFAULT_TIMING);
        const start = stampOf(clock);
        validity.renewed(start);

        await clock.advance(passedMs);
        clock.setWall(new Date(clock.now().getTime() + setMs));

        assert.equal(validity.holds(), passedMs < 20_000 && passedMs + setMs < 20_000);
      }),
      { numRuns: 50 },
    );
  });

  test("is not set back by an answer that comes late", async () => {
    const clock = new FakeClock();
    const validity = new Validity(clock, DEFAULT_TIMING);
    const early = stampOf(clock);
    await clock.advance(10_000);
    validity.renewed(stampOf(clock));

    validity.renewed(early);
    await clock.advance(15_000);

    assert.equal(validity.holds(), true);
  });
});
