import assert from "node:assert/strict";
import { describe, test } from "node:test";
import {
  TAKE_THEN_PREPARE,
  WITHOUT_FENCE_CONDITION,
  WITHOUT_SKEW_MARGIN,
  WITHOUT_WAITING_FOR_PREDECESSOR,
} from "./mutations.ts";
import { simulateInThreads } from "./parallel.ts";
import { simulate } from "./run.ts";
import type { Mutation, ScenarioKind } from "./scenario.ts";

// A stack for every aborted signal is most of the cost of a history.
Error.stackTraceLimit = 0;

describe("simulated histories of the relay", () => {
  test("2,000 of them hold every rule", async () => {
    const report = await simulateInThreads(1, 2_000);

    assert.equal(report.histories, 2_000);
    assert.ok(report.handovers > 4_000);
    assert.deepEqual(
      report.failures,
      [],
      `again: node test/relay/simulation/main.ts --count 1 --seed ${report.failures[0]?.seed}`,
    );
  });

  for (const [seed, what] of [
    [6543, "a take whose answer was lost, and which an outage hides for longer than it is valid"],
    [16782, "the same while a standby waits"],
    [19574, "the same after a deployment"],
  ] as const) {
    test(`one that failed once holds every rule: ${what}`, async () => {
      const { failures } = await simulate({ seed, count: 1 });

      assert.deepEqual(failures, []);
    });
  }

  test("one seed is one history", async () => {
    const once = await simulate({ seed: 77, count: 3 });
    const again = await simulate({ seed: 77, count: 3 });

    assert.deepEqual(again, once);
  });

  const broken: readonly [string, Mutation, ScenarioKind, RegExp][] = [
    ["the fence condition", WITHOUT_FENCE_CONDITION, "chaos", /two holders|fence|may write/],
    ["the skew margin", WITHOUT_SKEW_MARGIN, "chaos", /windows may write/],
    ["the order to prepare and then to take", TAKE_THEN_PREPARE, "planned", /missed|no beat/],
    ["the wait for the predecessor's last write", WITHOUT_WAITING_FOR_PREDECESSOR, "planned", /windows may write/],
  ];
  for (const [what, mutation, kind, fault] of broken) {
    test(`a fault is found when ${what} is taken out`, async () => {
      const report = await simulate({ seed: 1, count: 1_000, kind, mutation, stopAtFirst: true });

      assert.ok(report.failures.length > 0, "no history showed it");
      assert.match(report.failures[0]?.faults.join("\n") ?? "", fault);
    });
  }
});
