import assert from "node:assert/strict";
import { test } from "node:test";
import { markdownTable, showNumber, showSpread } from "./markdown.ts";

test("a table is aligned for people and says so for Markdown", () => {
  const table = markdownTable(
    ["", "Hawser"],
    [
      ["beats due", "10"],
      ["p50", "1.5"],
    ],
  );

  assert.equal(
    table,
    ["|           | Hawser |", "| --------- | -----: |", "| beats due |     10 |", "| p50       |    1.5 |"].join("\n"),
  );
});

test("numbers have three significant digits, and none is made up", () => {
  assert.deepEqual([1234.5, 100.4, 12.345, 0.012345, 3, 0, undefined].map(showNumber), [
    "1235",
    "100",
    "12.3",
    "0.0123",
    "3",
    "0",
    "-",
  ]);
});

test("a spread is left out where the intervals agree", () => {
  assert.equal(showSpread({ median: 2, min: 2, max: 2 }), "2");
  assert.equal(showSpread({ median: 2.5, min: 1, max: 4.25 }), "2.5 (1 to 4.25)");
});
