import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import {
  type Condition,
  compareStamps,
  conditionRank,
  decideConditionWrite,
  type ObservedCondition,
  REPEAT_MS,
} from "../../lib/state/condition.ts";
import { decideAreaWrite } from "../../lib/state/condition-area.ts";
import { observed } from "./membership-samples.ts";

const observation: fc.Arbitrary<ObservedCondition> = fc.record(
  {
    status: fc.constantFrom("True", "False", "Unknown"),
    reason: fc.constantFrom("", "Disconnected"),
    message: fc.constantFrom("", "no route"),
    cause: fc.constantFrom("TimedOut", "Throttled"),
    observedAt: fc.integer({ min: 0, max: 200_000 }),
    failures: fc.integer({ min: 0, max: 4 }),
    assignment: fc.integer({ min: 1, max: 3 }),
    fence: fc.integer({ min: 1, max: 4 }),
  },
  { requiredKeys: ["status", "reason", "message", "observedAt", "failures", "assignment", "fence"] },
);

/** What the table holds after the given observations were written one after the other. */
function written(observations: readonly ObservedCondition[]): Condition | undefined {
  return observations.reduce<Condition | undefined>((previous, next) => {
    const decision = decideConditionWrite(previous, next);
    return decision.kind === "write" ? decision.condition : previous;
  }, undefined);
}

function written1(change: Partial<ObservedCondition> = {}): Condition {
  const condition = written([observed(change)]);
  assert.ok(condition);
  return condition;
}

test("the first observation is written and begins its transition", () => {
  assert.equal(written1({ observedAt: 42 }).lastTransitionTime, 42);
});

test("lastTransitionTime moves only with the status", () => {
  const first = written1({ status: "False", failures: 3, observedAt: 1000 });

  const message = decideConditionWrite(
    first,
    observed({ status: "False", reason: "Disconnected", failures: 4, observedAt: 2000 }),
  );
  const status = decideConditionWrite(first, observed({ status: "True", observedAt: 2000 }));

  assert.equal(message.kind === "write" && message.condition.lastTransitionTime, 1000);
  assert.equal(status.kind === "write" && status.condition.lastTransitionTime, 2000);
});

test("an observation that says the same is not written, whoever makes it", () => {
  const first = written1();

  const later = decideConditionWrite(first, observed({ observedAt: 900_000, fence: 9, assignment: 2 }));

  assert.equal(later.kind, "unchanged");
});

test("a failure that goes on is written once a minute, its end and a new cause at once", () => {
  const failing = { status: "False", failures: 3, cause: "TimedOut", message: "no answer" } as const;
  const first = written1({ ...failing, observedAt: 0 });

  const soon = decideConditionWrite(
    first,
    observed({ ...failing, failures: 4, message: "still", observedAt: REPEAT_MS - 1 }),
  );
  const minute = decideConditionWrite(first, observed({ ...failing, failures: 9, observedAt: REPEAT_MS }));
  const cause = decideConditionWrite(first, observed({ ...failing, failures: 4, cause: "Throttled", observedAt: 1 }));
  const end = decideConditionWrite(first, observed({ status: "False", cause: "TimedOut", failures: 0, observedAt: 1 }));

  assert.deepEqual([soon.kind, minute.kind, cause.kind, end.kind], ["unchanged", "write", "write", "write"]);
});

test("a long message is cut", () => {
  assert.ok(new TextEncoder().encode(written1({ message: "€".repeat(50_000) }).message).length <= 4096);
});

test("an older assignment or fence never writes over a newer one, however late its clock is", () => {
  fc.assert(
    fc.property(fc.array(observation, { minLength: 1 }), observation, (before, next) => {
      const standing = written(before);
      if (standing === undefined || compareStamps(next, standing) >= 0) return;
      assert.equal(decideConditionWrite(standing, next).kind, "outdated");
    }),
  );
});

test("the stamp of what stands never falls, and within one fence time never goes back", () => {
  fc.assert(
    fc.property(fc.array(observation, { maxLength: 30 }), (observations) => {
      let previous: Condition | undefined;
      for (const next of observations) {
        const decision = decideConditionWrite(previous, next);
        if (decision.kind !== "write") continue;
        const order = previous === undefined ? 1 : compareStamps(decision.condition, previous);
        assert.ok(order >= 0);
        if (previous !== undefined && order === 0) assert.ok(decision.condition.observedAt >= previous.observedAt);
        previous = decision.condition;
      }
    }),
  );
});

test("writing the same observation twice changes nothing the second time", () => {
  fc.assert(
    fc.property(fc.array(observation), observation, (before, next) => {
      const once = written([...before, next]);

      assert.deepEqual(written([...before, next, next]), once);
    }),
  );
});

test("lastTransitionTime is the moment of an observation that changed the status", () => {
  fc.assert(
    fc.property(fc.array(observation, { minLength: 1, maxLength: 30 }), (observations) => {
      const last = written(observations);
      const begin = observations.filter((o) => o.observedAt === last?.lastTransitionTime);
      assert.ok(begin.some((o) => o.status === last?.status));
    }),
  );
});

test("all conditions of an area carry the stamp of the last holder that changed one", () => {
  const types = fc.dictionary(fc.constantFrom("Ready", "IsLeader", "Other"), observation, { minKeys: 1 });
  fc.assert(
    fc.property(
      fc.array(types, { maxLength: 30 }),
      fc.array(fc.tuple(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 4 })), {
        minLength: 30,
        maxLength: 30,
      }),
      (writes, stamps) => {
        let area: Record<string, Condition> = {};
        for (const [i, write] of writes.entries()) {
          const [assignment, fence] = stamps[i]!;
          const next = Object.fromEntries(
            Object.entries(write).map(([type, o]) => [type, { ...o, assignment, fence }]),
          );
          const decision = decideAreaWrite(area, next);
          if (decision.kind === "write") area = { ...area, ...decision.conditions };
          const [first, ...others] = Object.values(area);
          if (first !== undefined) assert.ok(others.every((other) => compareStamps(first, other) === 0));
        }
      },
    ),
  );
});

test("a condition that only takes a new holder's stamp keeps what it says and does not hold that holder's writes back", () => {
  const area = { Ready: written1({ observedAt: 5000 }), IsLeader: written1({ observedAt: 9000 }) };

  const decision = decideAreaWrite(area, {
    Ready: observed({ status: "False", failures: 3, observedAt: 6000, fence: 2 }),
  });
  const conditions = decision.kind === "write" ? decision.conditions : {};
  const next = decideAreaWrite(conditions, {
    IsLeader: observed({ status: "False", failures: 3, observedAt: 6001, fence: 2 }),
  });

  assert.deepEqual(conditions["IsLeader"], { ...area.IsLeader, fence: 2, observedAt: 6000 });
  assert.equal(next.kind, "write");
});

test("a write of an area is refused as a whole when a later holder has written any of it", () => {
  const area = { IsLeader: written1({ fence: 2 }) };

  assert.equal(decideAreaWrite(area, { Ready: observed({ fence: 1 }) }).kind, "outdated");
});

test("Antrea's conditions come in its own order, ours after them", () => {
  const types = ["Watching", "IsLeader", "Ready"];

  assert.deepEqual(
    types.toSorted((a, b) => conditionRank("antrea", a) - conditionRank("antrea", b)),
    ["Ready", "IsLeader", "Watching"],
  );
});
