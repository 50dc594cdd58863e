import assert from "node:assert/strict";
import { test } from "node:test";
import { parseLabelSelector } from "../../../../../infra/local/cluster/engine/label-requirements.ts";

const OBJECTS: Readonly<Record<string, Record<string, string>>> = {
  a: { n: "a", size: "1" },
  b: { n: "b", size: "2" },
  bare: {},
};

function read(selector: string): readonly string[] | string {
  const parsed = parseLabelSelector(selector);
  if ("problem" in parsed) return parsed.problem;
  const selects = (labels: Record<string, string>) =>
    parsed.selects({ apiVersion: "v1", kind: "ConfigMap", metadata: { labels } });
  return Object.keys(OBJECTS).filter((name) => selects(OBJECTS[name] ?? {}));
}

test("requirements are read with or without spaces", () => {
  assert.deepEqual(read("n in(a,b)"), ["a", "b"]);
  assert.deepEqual(read(" n  notin ( a ) "), ["b", "bare"]);
  assert.deepEqual(read("! n"), ["bare"]);
  assert.deepEqual(read("n = a , size"), ["a"]);
  assert.deepEqual(read("size>1"), ["b"]);
  assert.deepEqual(read("size<2"), ["a"]);
});

test("what is left out is the empty value", () => {
  assert.deepEqual(read("n="), []);
  assert.deepEqual(read("n in (a,)"), ["a"]);
  assert.deepEqual(read("n in ()"), []);
  assert.deepEqual(read(""), ["a", "b", "bare"]);
});

test("words of the language are names, too", () => {
  assert.deepEqual(read("in"), []);
  assert.deepEqual(read("notin notin (a)"), ["a", "b", "bare"]);
});

test("what cannot be read is refused in Kubernetes' words", () => {
  assert.equal(read(","), "found ',', expected: !, identifier, or 'end of string'");
  assert.equal(read("a,,b"), "found ',', expected: identifier after ','");
  assert.equal(read("a,"), "found '', expected: identifier after ','");
  assert.equal(read("a=b c"), "found 'c', expected: ',' or 'end of string'");
  assert.equal(read("a===b"), "unable to parse requirement: found '=', expected: identifier");
  assert.equal(read("a b"), "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt");
  assert.equal(read("a in b"), "unable to parse requirement: found 'b' expected: '('");
  assert.equal(read("a in (b"), "unable to parse requirement: found '', expected: ',' or ')'");
});
