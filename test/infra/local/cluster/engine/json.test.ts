import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { cloneJson, equalJson } from "../../../../../infra/local/cluster/engine/json.ts";

test("a clone is equal and shares nothing", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const before = JSON.stringify(value);
      const copy = cloneJson(value);
      assert.ok(equalJson(copy, value));
      if (Array.isArray(copy)) copy.push("more");
      else if (typeof copy === "object" && copy !== null) Object.assign(copy, { more: 1 });
      assert.equal(JSON.stringify(value), before);
    }),
  );
});

test("two values are equal exactly when their sorted texts are", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.jsonValue(), (a, b) => {
      assert.equal(equalJson(a, b), JSON.stringify(sorted(a)) === JSON.stringify(sorted(b)));
    }),
  );
});

test("an undefined field counts as absent", () => {
  assert.ok(equalJson({ a: 1, b: undefined }, { a: 1 }));
  assert.ok(equalJson({ a: 1 }, { a: 1, b: undefined }));
  assert.equal(equalJson({ a: 1, b: undefined }, { a: 1, b: null }), false);
});

test("a field called __proto__ is a field like others", () => {
  const value: unknown = JSON.parse('{"__proto__":{"polluted":1}}');

  const copy = cloneJson(value);

  assert.equal(JSON.stringify(copy), '{"__proto__":{"polluted":1}}');
  assert.equal(({} as { polluted?: number }).polluted, undefined);
});

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value === "number" && Object.is(value, -0)) return 0;
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value).map(([key, item]) => [key, sorted(item)] as const);
  // Marked, so that an object without fields is not taken for an empty array.
  return { fields: fields.toSorted(([a], [b]) => (a < b ? -1 : 1)) };
}
