import assert from "node:assert/strict";
import { test } from "node:test";
import { allOf, assign, expr, Placeholders, path, value } from "../../../lib/state/table/expression.ts";

test("names and values go under placeholders, a name under one only", () => {
  const placeholders = new Placeholders();

  const text = expr`${path("count")} < ${value(3)} OR ${path("fences", "count")} = ${value("x")}`(placeholders);

  assert.equal(text, "#n0 < :v0 OR #n1.#n0 = :v1");
  assert.deepEqual(placeholders.names(), { "#n0": "count", "#n1": "fences" });
  assert.deepEqual(placeholders.values(), { ":v0": 3, ":v1": "x" });
});

test("an expression without names or values has none, as empty maps are refused", () => {
  const placeholders = new Placeholders();

  assert.equal(expr`true`(placeholders), "true");
  assert.equal(placeholders.names(), undefined);
  assert.equal(placeholders.values(), undefined);
});

test("an assignment sets what is given and removes what is undefined", () => {
  const one = (attributes: Record<string, unknown>): string => assign(attributes)(new Placeholders());

  assert.equal(one({ a: 1, b: undefined }), "SET #n0 = :v0 REMOVE #n1");
  assert.equal(one({ a: null }), "SET #n0 = :v0");
  assert.equal(one({ b: undefined }), "REMOVE #n0");
});

test("conditions are joined in brackets", () => {
  const both = allOf([
    expr`${path("a")} = ${value(1)} OR ${path("b")} = ${value(2)}`,
    expr`${path("c")} = ${value(3)}`,
  ]);

  assert.equal(both?.(new Placeholders()), "(#n0 = :v0 OR #n1 = :v1) AND (#n2 = :v2)");
  assert.equal(allOf([]), undefined);
});
