import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { policySpec, samePolicy, tierOf } from "../../../lib/antrea/imports/policy-spec.ts";

const action = fc.constantFrom("Allow", "Drop", "Reject", "Pass");
const rule = fc.record({ action, name: fc.option(fc.constantFrom("a", "b"), { nil: undefined }) });
const policy = fc.record({
  priority: fc.integer({ min: 1, max: 100 }),
  tier: fc.constantFrom("", "platform", "Emergency"),
  ingress: fc.array(rule, { maxLength: 3 }),
  egress: fc.array(rule, { maxLength: 3 }),
});

/** What Antrea's mutating webhook makes of it. */
function mutated(spec: { tier?: unknown; ingress: object[]; egress: object[] }): Record<string, unknown> {
  const named = (direction: string, rules: object[]): object[] =>
    rules.map((one) => {
      const { name, action: of } = one as { name?: string; action: string };
      return { ...one, name: name ?? `${direction}-${of.toLowerCase()}-0a1b2c3` };
    });
  const tier = spec.tier === "" || spec.tier === undefined ? "application" : spec.tier;
  return { ...spec, tier, ingress: named("ingress", spec.ingress), egress: named("egress", spec.egress) };
}

test("a policy is the same after Antrea's webhook has filled it in, and after the server has stored it", () => {
  fc.assert(
    fc.property(policy, (spec) => {
      const written = policySpec(spec);
      const stored = JSON.parse(JSON.stringify(mutated({ ...spec, ...written }))) as unknown;
      assert.ok(samePolicy(written, stored));
    }),
  );
});

test("a policy is another one when any rule's action, order or given name differs", () => {
  const base = {
    priority: 1,
    tier: "platform",
    ingress: [{ action: "Drop", name: "a" }, { action: "Allow" }],
    egress: [],
  };

  for (const other of [
    { ...base, priority: 2 },
    { ...base, tier: "" },
    { ...base, ingress: base.ingress.toReversed() },
    { ...base, ingress: [{ action: "Drop", name: "b" }, { action: "Allow" }] },
    { ...base, ingress: [{ action: "Drop" }, { action: "Allow" }] },
    { ...base, egress: [{ action: "Allow" }] },
    undefined,
  ]) {
    assert.ok(!samePolicy(base, other));
  }
});

test("the tiers of old are those of today, and no tier is the default", () => {
  assert.deepEqual(
    ["", undefined, "Baseline", "mine"].map((tier) => tierOf({ tier })),
    ["application", "application", "baseline", "mine"],
  );
});
