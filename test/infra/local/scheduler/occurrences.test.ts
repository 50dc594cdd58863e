import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { nextOccurrence, parseExpression } from "../../../../infra/local/scheduler/occurrences.ts";

function after(expression: string, from: string, zone = "UTC", count = 3): string[] {
  const parsed = parseExpression(expression);
  assert.ok(parsed !== undefined, expression);
  const found: string[] = [];
  let at: number | undefined = Date.parse(from);
  while (at !== undefined && found.length < count) {
    at = nextOccurrence(parsed, { zone, anchorMs: Date.parse(from) }, at);
    if (at !== undefined) found.push(new Date(at).toISOString().slice(0, 16));
  }
  return found;
}

describe("a schedule expression", () => {
  for (const wrong of [
    "",
    "rate(0 minutes)",
    "rate(10 seconds)",
    "rate(-1 minutes)",
    "rate(1.5 minutes)",
    "rate(minutes)",
    "rate(5  minutes)",
    " rate(5 minutes)",
    "rate(5 years)",
    "every 5 minutes",
    "cron()",
    "cron(* * * * *)",
    "cron(0 12 * * * *)",
    "cron(0 12 1 * MON *)",
    "cron(60 12 * * ? *)",
    "cron(0 24 * * ? *)",
    "cron(0 12 32 * ? *)",
    "cron(0 12 * 13 ? *)",
    "cron(0 12 ? * 8 *)",
    "cron(0 12 ? * MON#6 *)",
    "cron(0/0 12 * * ? *)",
    "cron(0 12 * * ? 1969)",
    "cron(5-1 12 * * ? *)",
    "at(2026-02-30T00:00:00)",
    "at(2026-01-01T00:00:00Z)",
    "at(2026-01-01)",
  ]) {
    it(`is refused as ${JSON.stringify(wrong)}`, () => {
      assert.equal(parseExpression(wrong), undefined);
    });
  }

  it("of a rate counts from its anchor", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 90 }), fc.nat(10_000_000), (minutes, passed) => {
        const parsed = parseExpression(`rate(${minutes} minutes)`);
        assert.ok(parsed !== undefined);
        const next = nextOccurrence(parsed, { zone: "UTC", anchorMs: 1000 }, 1000 + passed);
        assert.ok(next !== undefined && next > 1000 + passed);
        assert.equal((next - 1000) % (minutes * 60_000), 0);
        assert.ok(next - (1000 + passed) <= minutes * 60_000);
      }),
    );
  });

  const cases: readonly [string, string, string, string[]][] = [
    [
      "cron(0/20 * * * ? *)",
      "2026-01-01T00:00:00Z",
      "UTC",
      ["2026-01-01T00:20", "2026-01-01T00:40", "2026-01-01T01:00"],
    ],
    [
      "cron(15 8 ? * MON-FRI *)",
      "2026-01-02T09:00:00Z",
      "UTC",
      ["2026-01-05T08:15", "2026-01-06T08:15", "2026-01-07T08:15"],
    ],
    ["cron(0 0 L * ? *)", "2026-01-01T00:00:00Z", "UTC", ["2026-01-31T00:00", "2026-02-28T00:00", "2026-03-31T00:00"]],
    ["cron(0 0 1W * ? *)", "2026-07-15T00:00:00Z", "UTC", ["2026-08-03T00:00", "2026-09-01T00:00", "2026-10-01T00:00"]],
    ["cron(0 0 ? * 6L *)", "2026-01-01T00:00:00Z", "UTC", ["2026-01-30T00:00", "2026-02-27T00:00", "2026-03-27T00:00"]],
    [
      "cron(0 0 ? * TUE#2 *)",
      "2026-01-01T00:00:00Z",
      "UTC",
      ["2026-01-13T00:00", "2026-02-10T00:00", "2026-03-10T00:00"],
    ],
    ["cron(0 0 29 2 ? *)", "2026-01-01T00:00:00Z", "UTC", ["2028-02-29T00:00", "2032-02-29T00:00", "2036-02-29T00:00"]],
    ["cron(0 12 * JAN,JUL ? 2026)", "2026-07-30T13:00:00Z", "UTC", ["2026-07-31T12:00"]],
    [
      "cron(0 9 * * ? *)",
      "2026-01-01T00:00:00Z",
      "America/New_York",
      ["2026-01-01T14:00", "2026-01-02T14:00", "2026-01-03T14:00"],
    ],
    // Clocks jump from 2:00 to 3:00 on 29 March: that day has no 2:30.
    [
      "cron(30 2 * * ? *)",
      "2026-03-28T00:00:00Z",
      "Europe/Berlin",
      ["2026-03-28T01:30", "2026-03-30T00:30", "2026-03-31T00:30"],
    ],
    // Clocks go back from 3:00 to 2:00 on 25 October: 2:30 comes twice and counts once.
    [
      "cron(30 2 * * ? *)",
      "2026-10-24T12:00:00Z",
      "Europe/Berlin",
      ["2026-10-25T00:30", "2026-10-26T01:30", "2026-10-27T01:30"],
    ],
    ["at(2026-05-01T08:00:00)", "2026-01-01T00:00:00Z", "Asia/Tokyo", ["2026-04-30T23:00"]],
    ["rate(2 hours)", "2026-01-01T00:30:00Z", "UTC", ["2026-01-01T02:30", "2026-01-01T04:30", "2026-01-01T06:30"]],
  ];
  for (const [expression, from, zone, expected] of cases) {
    it(`${expression} in ${zone} comes when it should`, () => {
      assert.deepEqual(after(expression, from, zone), expected);
    });
  }

  it("respects the start and the end, but a one-time schedule knows neither", () => {
    const minutely = parseExpression("rate(1 minute)");
    const once = parseExpression("at(2026-01-01T00:00:00)");
    assert.ok(minutely !== undefined && once !== undefined);
    const at = Date.parse("2026-01-01T00:00:00Z");

    assert.equal(nextOccurrence(minutely, { zone: "UTC", anchorMs: at, startMs: at }, at - 5_000_000), at);
    assert.equal(nextOccurrence(minutely, { zone: "UTC", anchorMs: at, endMs: at + 30_000 }, at), undefined);
    assert.equal(nextOccurrence(once, { zone: "UTC", anchorMs: 0, endMs: at - 1 }, at - 1), at);
  });
});
