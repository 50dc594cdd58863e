import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFieldSelector } from "../../../../../infra/local/cluster/engine/selectors.ts";

const OBJECTS: Readonly<Record<string, Record<string, string>>> = {
  plain: { "metadata.name": "a", type: "x" },
  odd: { "metadata.name": "a,b=c", type: "x\\y" },
};

function read(selector: string): readonly string[] | string {
  const refuse = (field: string) => (field === "metadata.name" || field === "type" ? undefined : `no ${field}`);
  const parsed = parseFieldSelector(selector, refuse, ({ metadata }) => OBJECTS[metadata.name ?? ""] ?? {});
  if ("problem" in parsed) return parsed.problem;
  return Object.keys(OBJECTS).filter((name) => parsed.selects({ apiVersion: "", kind: "", metadata: { name } }));
}

test("terms are joined by commas; empty ones count for nothing", () => {
  assert.deepEqual(read("metadata.name=a,type==x"), ["plain"]);
  assert.deepEqual(read("metadata.name!=a"), ["odd"]);
  assert.deepEqual(read(",metadata.name=a,"), ["plain"]);
});

test("backslashes escape what parts terms", () => {
  assert.deepEqual(read("metadata.name=a\\,b\\=c"), ["odd"]);
  assert.deepEqual(read("type=x\\\\y"), ["odd"]);
  assert.equal(read("metadata.name=a=b"), "invalid field selector: unescaped character in value: 61");
  assert.equal(read("metadata.name=\\a"), "invalid field selector: invalid escape sequence: \\a");
});

test("a term without an operator, or of a field that is not known, is refused", () => {
  assert.equal(read("metadata.name"), "invalid selector: 'metadata.name'; can't understand 'metadata.name'");
  assert.equal(read("=a"), "no ");
  assert.equal(read("other=a"), "no other");
});
