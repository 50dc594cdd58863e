import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { DEFAULT_TIMING, type RelayTiming, timingFaults } from "../../lib/relay/timing.ts";

describe("the numbers of the relay", () => {
  test("hold together as they are", () => {
    assert.deepEqual(timingFaults(DEFAULT_TIMING), []);
  });

  const broken: readonly [string, Partial<RelayTiming>, RegExp][] = [
    ["a duration that is none", { skewMarginMs: 0 }, /positive/],
    ["an expiry that a tick outlasts", { expiryMs: 15_000 }, /intervalMs/],
    ["a store timeout as long as the interval", { storeTimeoutMs: 10_000 }, /storeTimeoutMs/],
    ["no time to release", { releaseBeforeDeadlineMs: 5_000 }, /releaseBeforeDeadlineMs/],
    ["a standby that takes too early", { hot: { ...DEFAULT_TIMING.hot, takeAfterMs: 5_000 } }, /takeAfterMs/],
    ["a claim that is not kept up", { hot: { ...DEFAULT_TIMING.hot, refreshClaimMs: 90_000 } }, /refreshClaimMs/],
  ];
  for (const [what, change, fault] of broken) {
    test(`are refused with ${what}`, () => {
      const faults = timingFaults({ ...DEFAULT_TIMING, ...change });

      assert.match(faults.join("\n"), fault);
    });
  }
});
