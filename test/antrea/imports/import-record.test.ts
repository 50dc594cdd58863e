import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  advance,
  beginning,
  failedRecord,
  removalEvent,
  saysTheSame,
  transitionEvent,
} from "../../../lib/antrea/imports/import-record.ts";
import type { ImportOutcome, ImportSettings } from "../../../lib/antrea/imports/reconciler.ts";
import type { ImportRecord } from "../../../lib/state/imports.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { importOf, serviceSpec } from "./import-world.ts";

const SETTINGS: ImportSettings = {
  clusterID: "east",
  namespace: "kube-system",
  commonArea: "antrea-multicluster",
  labelIdentities: false,
};
const STAMP = { assignment: 1, fence: 3, now: 1_000_000 };
const RECORD: ImportRecord = {
  name: "a",
  kind: "ServiceImport",
  target: { namespace: "shop", name: "a" },
  objects: [],
  state: "Applied",
  since: 500,
  attempts: 0,
  assignment: 1,
  fence: 2,
};
const DONE = { writes: 0, released: [] };
const settled = (released: readonly string[] = []): ImportOutcome => ({
  kind: "settled",
  next: RECORD,
  done: { writes: 0, released },
});
const failed = (more: object = {}): Extract<ImportOutcome, { kind: "failed" }> =>
  ({
    kind: "failed",
    next: { ...RECORD, state: "Failed", error: "no" },
    error: {
      kind: "unavailable",
      status: 503,
      cluster: "east",
      operation: "create",
      object: "o",
      retry: "backoff",
      message: "no",
      retryAfterMs: undefined,
      ...more,
    },
    done: DONE,
  }) as Extract<ImportOutcome, { kind: "failed" }>;

describe("the record of an import", () => {
  it("says what is about to be made or taken away before anything is, and only then", () => {
    const wanted = importOf("a", serviceSpec("a"));
    assert.equal(beginning({ name: "a", wanted, record: undefined }, SETTINGS)?.state, "Pending");
    assert.equal(beginning({ name: "a", wanted, record: RECORD }, SETTINGS), undefined);
    assert.equal(beginning({ name: "a", wanted: undefined, record: RECORD }, SETTINGS)?.state, "Removing");
    const removing = { ...RECORD, state: "Removing" } as const;
    assert.equal(beginning({ name: "a", wanted: undefined, record: removing }, SETTINGS), undefined);
    assert.equal(beginning({ name: "a", wanted: undefined, record: undefined }, SETTINGS), undefined);
    const elsewhere = importOf("a", serviceSpec("a", [80], { clusterID: ["west"] }));
    assert.equal(beginning({ name: "a", wanted: elsewhere, record: undefined }, SETTINGS), undefined);
  });

  it("is dated by its state, and says the same whoever writes it", () => {
    const same = advance(RECORD, RECORD, STAMP);
    assert.deepEqual([same.since, same.fence], [500, 3]);
    assert.ok(saysTheSame(RECORD, same));
    assert.equal(advance(RECORD, { ...RECORD, state: "Conflicted" }, STAMP).since, 1_000_000);
    assert.ok(!saysTheSame(undefined, same));
  });

  it("counts failures, each with a later try, ten minutes at most, and no earlier than the server asked", () => {
    let record: ImportRecord = RECORD;
    let before = 0;
    for (let tries = 1; tries <= 20; tries += 1) {
      const next = failedRecord(record, failed(), STAMP, seededRandom(tries));
      assert.equal(next.attempts, tries);
      const waitMs = next.nextAttemptAt - STAMP.now;
      assert.ok(waitMs >= Math.min(before / 4, 300_000) && waitMs <= 600_000, `${tries}: ${waitMs}`);
      before = waitMs;
      record = next;
    }
    const asked = failedRecord(RECORD, failed({ retryAfterMs: 30_000 }), STAMP, seededRandom(1));
    assert.ok(asked.nextAttemptAt >= STAMP.now + 30_000);
  });

  it("comes with one line for people for each transition, and none for what is on its way", () => {
    const lineOf = (before: ImportRecord["state"] | undefined, next: ImportRecord, outcome = settled()) =>
      transitionEvent(before, next, outcome, 7)?.kind;
    assert.equal(lineOf(undefined, RECORD), "ImportApplied");
    assert.equal(lineOf("Applied", RECORD), undefined);
    assert.equal(lineOf("Pending", RECORD), "ImportApplied");
    assert.equal(lineOf("Applied", { ...RECORD, state: "Pending" }), undefined);
    assert.equal(lineOf("Applied", { ...RECORD, state: "Conflicted", error: "taken" }), "ImportConflicted");
    const event = transitionEvent("Applied", { ...RECORD, state: "Failed", error: "no" }, failed(), 7);
    assert.deepEqual(
      [event?.kind, event?.cause, event?.message],
      ["ImportFailed", "ServerError", "ServiceImport shop/a: no"],
    );
  });

  it("tells of what its user has taken over, when it stays and when it goes", () => {
    const event = transitionEvent(
      "Applied",
      { ...RECORD, state: "Excluded" },
      settled(["Service shop/antrea-mc-a"]),
      7,
    );
    assert.deepEqual([event?.kind, event?.message.includes("Service shop/antrea-mc-a")], ["ImportReleased", true]);
    assert.match(removalEvent(RECORD, ["Service shop/antrea-mc-a"], 7).message, /imported no more; .* keeps, Service/);
    assert.doesNotMatch(removalEvent(RECORD, [], 7).message, /keeps/);
  });
});
