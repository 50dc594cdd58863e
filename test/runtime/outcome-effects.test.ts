import assert from "node:assert/strict";
import { test } from "node:test";
import { effectsOfEvent, failureOfWindow } from "../../lib/runtime/outcome-effects.ts";

const FAILURE = { kind: "timeout", message: "no answer within 5000 ms" } as const;

test("what repeats is a duration and no line", () => {
  const effects = effectsOfEvent({ kind: "renewed", window: "w", fence: 3, ms: 12 });

  assert.deepEqual(effects, { time: { timer: "RenewalDuration", ms: 12 } });
});

test("a taken baton is told with its fence and predecessor, and counted", () => {
  const effects = effectsOfEvent({ kind: "taken", window: "w", fence: 3, predecessor: "v" });

  assert.equal(effects.count, "BatonsTaken");
  assert.deepEqual(effects.line, {
    level: "info",
    message: "baton taken",
    facts: { window: "w", fence: 3, predecessor: "v" },
  });
});

test("a lost table is a warning with the table's words", () => {
  const effects = effectsOfEvent({ kind: "storeLost", window: "w", fence: 3, failure: FAILURE });

  assert.equal(effects.line?.level, "warn");
  assert.equal(effects.line.facts.why, FAILURE.message);
});

test("only a window that could not do its work is a failure of its invocation", () => {
  const fine = [
    { kind: "heldByOther", holder: "v", fence: 3 },
    { kind: "stoodBy", because: "relieved" },
    ...(["finished", "deadline", "yielded", "deployment", "superseded", "aborted"] as const).map(
      (ended) => ({ kind: "worked", fence: 3, ended }) as const,
    ),
  ] as const;
  const broken = [
    { kind: "storeUnavailable", failure: FAILURE },
    { kind: "worked", fence: 3, ended: "storeLost" },
    { kind: "worked", fence: 3, ended: "notPrepared" },
  ] as const;

  for (const result of fine) assert.equal(failureOfWindow(result), undefined);
  for (const result of broken) assert.match(failureOfWindow(result) ?? "", /\S/);
});
