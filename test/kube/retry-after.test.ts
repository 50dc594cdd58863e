import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseRetryAfter, RETRY_AFTER_MAX_MS } from "../../lib/kube/retry-after.ts";

const NOW = Date.parse("2026-01-01T00:00:00Z");

test("reads seconds and dates, and believes nothing else", () => {
  for (const [header, ms] of [
    ["0", 0],
    ["20", 20_000],
    [" 60 ", 60_000],
    ["Thu, 01 Jan 2026 00:00:20 GMT", 20_000],
    ["Wed, 31 Dec 2025 23:59:00 GMT", 0],
    ["Fri, 02 Jan 2026 00:00:00 GMT", undefined],
    ["61", undefined],
    ["86400", undefined],
    ["-1", undefined],
    ["1.5", undefined],
    ["abc", undefined],
    ["sunday morning", undefined],
    ["2026-01-01T00:00:20Z", undefined],
    ["", undefined],
    [undefined, undefined],
  ] as const) {
    assert.equal(parseRetryAfter(header, NOW), ms, String(header));
  }
});

test("never asks for a wait that is negative or too long, whatever the header", () => {
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.integer().map(String),
        fc.date({ noInvalidDate: true }).map((d) => d.toUTCString()),
      ),
      (header) => {
        const ms = parseRetryAfter(header, NOW);
        assert.ok(ms === undefined || (ms >= 0 && ms <= RETRY_AFTER_MAX_MS));
      },
    ),
  );
});
