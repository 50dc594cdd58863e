import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { KubeError } from "../../lib/kube/errors.ts";
import { decideRetry, type FailedTry } from "../../lib/kube/retry-policy.ts";
import { seededRandom } from "../support/seeded-random.ts";

const BASE = { cluster: "c", operation: "patch", object: "o", message: "m" };
const BROKEN: KubeError = { ...BASE, kind: "network", code: "ECONNRESET", retry: "now" };
const REFUSED: KubeError = { ...BASE, kind: "network", code: "ECONNREFUSED", retry: "backoff" };
const BUSY: KubeError = { ...BASE, kind: "tooManyRequests", status: 429, retryAfterMs: 1000, retry: "after" };
const DOWN: KubeError = { ...BASE, kind: "unavailable", status: 503, retryAfterMs: undefined, retry: "backoff" };
const CONFLICT: KubeError = { ...BASE, kind: "conflict", status: 409, retry: "never" };
const FORBIDDEN: KubeError = { ...BASE, kind: "forbidden", status: 403, retry: "backoff" };

function decide(more: Partial<FailedTry>): number | undefined {
  const failed: FailedTry = { repeatable: "read", error: BROKEN, sent: true, tries: 1, remainingMs: 5000, ...more };
  return decideRetry(failed, seededRandom(3));
}

test("a broken connection is mended at once, if the request may arrive twice or has not left", () => {
  assert.equal(decide({ repeatable: "read" }), 0);
  assert.equal(decide({ repeatable: "idempotent" }), 0);
  assert.equal(decide({ repeatable: "once" }), undefined);
  assert.equal(decide({ repeatable: "once", sent: false }), 0);
  assert.ok((decide({ tries: 2 }) ?? 0) > 0);
  assert.equal(decide({ tries: 3 }), undefined);
});

test("what the server says is retried for reads only", () => {
  assert.equal(decide({ error: BUSY }), 1000);
  assert.ok((decide({ error: DOWN }) ?? 0) >= 50);
  assert.ok((decide({ error: REFUSED, sent: false }) ?? 0) >= 50);
  for (const error of [BUSY, DOWN, REFUSED]) assert.equal(decide({ error, repeatable: "idempotent" }), undefined);
  for (const error of [CONFLICT, FORBIDDEN]) assert.equal(decide({ error }), undefined);
});

test("no wait goes beyond the call's own time", () => {
  const errors = fc.constantFrom(BROKEN, REFUSED, BUSY, DOWN, CONFLICT, FORBIDDEN);
  const repeatable = fc.constantFrom("read", "idempotent", "once");
  fc.assert(
    fc.property(
      errors,
      repeatable,
      fc.boolean(),
      fc.integer({ min: 1, max: 5 }),
      fc.integer({ min: -100, max: 3000 }),
      (error, kind, sent, tries, remainingMs) => {
        const wait = decide({ error, repeatable: kind, sent, tries, remainingMs });
        assert.ok(wait === undefined || (wait >= 0 && wait < remainingMs && tries < 3));
      },
    ),
  );
});
