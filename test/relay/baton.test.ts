import assert from "node:assert/strict";
import { describe, test } from "node:test";
import fc from "fast-check";
import { type Candidate, decideEntry } from "../../lib/relay/baton.ts";
import { decideYield, isMine, planRelease, planRenewal } from "../../lib/relay/hold-rules.ts";
import type { BatonRecord } from "../../lib/relay/ports.ts";
import { DEFAULT_TIMING as T } from "../../lib/relay/timing.ts";
import { InMemoryBatonStore } from "../support/in-memory-baton-store.ts";

const NOW = 1_700_000_000_000;
const KEY = { role: "announce", scope: "s" };
const moment = fc.integer({ min: NOW - 120_000, max: NOW + 400_000 });
const id = fc.constantFrom("a", "b", "c");
const deployment = fc.integer({ min: 1, max: 4 });
const fence = fc.integer({ min: 1, max: 9 });

const record = fc.record(
  {
    fence,
    renewals: fc.nat(50),
    holder: id,
    expiresAt: moment,
    yielding: fc.constant(true),
    yieldTo: deployment,
    standby: fc.record({ id, until: moment }),
    deployedAt: deployment,
    roundAt: moment,
    stoppedFence: fc.nat(9),
    writeId: fc.constant("before"),
  },
  { requiredKeys: ["fence", "renewals", "writeId", "expiresAt"] },
) as fc.Arbitrary<BatonRecord>;

const candidate: fc.Arbitrary<Candidate> = fc.record({
  id: fc.constant("me"),
  deployedAt: deployment,
  standby: fc.constantFrom("cold", "hot"),
  prepared: fc.boolean(),
  seenRevision: fc.option(fc.nat(5), { nil: undefined }),
  claimedUntil: fc.option(moment, { nil: undefined }),
  remainingMs: fc.integer({ min: -1, max: 890_000 }),
  windowMs: fc.constant(900_000),
  unchangedMs: fc.integer({ min: 0, max: 10_000 }),
});

/** A claim of ours may stand in the record, too. */
const seen = fc
  .tuple(fc.option(record, { nil: undefined }), candidate, fc.boolean())
  .map(([found, own, mine]): [BatonRecord | undefined, Candidate] => {
    if (found === undefined || !mine) return [found, own];
    return [{ ...found, standby: { id: own.id, until: NOW + 1_000 } }, own];
  });

describe("what a candidate decides", () => {
  test("to take: only a free baton, one whose holder is gone, or one that yields to it, and then prepared", () => {
    fc.assert(
      fc.property(seen, ([found, own]) => {
        const decision = decideEntry(found, own, NOW, T);
        if (decision.kind !== "take" || found?.holder === undefined) return;
        const expired = NOW >= (found.expiresAt ?? 0) + T.skewMarginMs;
        const gone = own.standby === "hot" && own.unchangedMs >= T.hot.takeAfterMs && own.claimedUntil !== undefined;
        const yields =
          found.yielding === true && own.deployedAt >= (found.yieldTo ?? 0) && own.claimedUntil !== undefined;
        assert.ok(expired || ((gone || yields) && own.prepared));
      }),
    );
  });

  test("to take: raises the fence by one, counts on, names itself, and is refused once anything of the hold has moved", () => {
    fc.assert(
      fc.property(seen, fc.constantFrom("fence", "renewals", "holder"), ([found, own], moved) => {
        const decision = decideEntry(found, own, NOW, T);
        if (decision.kind !== "take") return;
        const store = new InMemoryBatonStore();
        if (found !== undefined) store.apply(KEY, "absent", found);

        const first = store.apply(KEY, decision.expect, { ...decision.change, writeId: "1" });
        const second = store.apply(KEY, decision.expect, { ...decision.change, holder: "other", writeId: "2" });

        assert.equal(first.kind, "changed");
        assert.equal(second.kind, "refused");
        assert.equal(first.record?.fence, (found?.fence ?? 0) + 1);
        assert.ok((first.record?.renewals ?? 0) > (found?.renewals ?? 0));
        assert.equal(first.record?.holder, own.id);
        assert.equal(first.record?.yielding, undefined);
        assert.equal(first.record?.expiresAt, NOW + T.expiryMs);
        if (found === undefined) return;
        const other = new InMemoryBatonStore();
        other.apply(
          KEY,
          "absent",
          moved === "holder" ? { ...found, holder: "x" } : { ...found, [moved]: found[moved] + 1 },
        );
        assert.equal(other.apply(KEY, decision.expect, { ...decision.change, writeId: "3" }).kind, "refused");
      }),
    );
  });

  test("to take: lets it write at once only when no predecessor can be at work", () => {
    fc.assert(
      fc.property(seen, ([found, own]) => {
        const decision = decideEntry(found, own, NOW, T);
        if (decision.kind !== "take") return;
        if (found?.expiresAt === undefined || (found.stoppedFence ?? 0) >= found.fence) {
          assert.equal(decision.exclusiveFrom, undefined);
        } else {
          assert.equal(decision.exclusiveFrom, found.expiresAt + T.skewMarginMs);
        }
      }),
    );
  });

  test("to claim: never the place of a standby that has long to go, but for a newer deployment", () => {
    fc.assert(
      fc.property(seen, ([found, own]) => {
        const decision = decideEntry(found, own, NOW, T);
        if (decision.kind !== "claim" || found?.standby === undefined || found.standby.id === own.id) return;
        const leftMs = found.standby.until - NOW;
        const asks = decision.change.yieldTo === own.deployedAt && own.deployedAt > (found.deployedAt ?? 0);
        assert.ok(asks || leftMs <= 0 || (own.standby === "hot" && leftMs < T.hot.relieveRemainingMs));
      }),
    );
  });

  test("to claim: changes nothing that the holder or an earlier deployment wrote", () => {
    fc.assert(
      fc.property(seen, ([found, own]) => {
        const decision = decideEntry(found, own, NOW, T);
        if (decision.kind !== "claim") return;
        assert.ok(Object.keys(decision.change).every((field) => field === "standby" || field === "yieldTo"));
        assert.ok((decision.change.yieldTo ?? own.deployedAt) === own.deployedAt);
        assert.ok(decision.until <= NOW + own.remainingMs);
      }),
    );
  });

  test("to leave, when its time is up", () => {
    fc.assert(
      fc.property(seen, ([found, own]) => {
        const decision = decideEntry(found, { ...own, remainingMs: 0 }, NOW, T);
        assert.deepEqual(decision, { kind: "leave", because: "outOfTime" });
      }),
    );
  });

  test("to leave, without a claim and with a fresh holder of its own deployment that does not yield", () => {
    fc.assert(
      fc.property(candidate, (own) => {
        const cold = { ...own, standby: "cold" as const, claimedUntil: undefined, remainingMs: 1 };
        const found: BatonRecord = {
          fence: 3,
          renewals: 9,
          holder: "a",
          expiresAt: NOW + T.expiryMs - T.intervalMs,
          deployedAt: own.deployedAt,
          writeId: "w",
        };
        assert.deepEqual(decideEntry(found, cold, NOW, T), { kind: "leave", because: "heldByOther" });
      }),
    );
  });
});

describe("what a holder decides", () => {
  const holder = fc.record({
    id: fc.constant("a"),
    fence,
    deployedAt: deployment,
    remainingMs: fc.integer({ min: 0, max: 900_000 }),
    windowMs: fc.constantFrom(60_000, 900_000),
  });

  test("to yield with five minutes left, but not before two thirds of a short window, or to a newer deployment", () => {
    fc.assert(
      fc.property(record, holder, (found, own) => {
        const because = decideYield(found, own, T);
        if ((found.yieldTo ?? 0) > own.deployedAt) assert.equal(because, "deployment");
        else
          assert.equal(because, own.remainingMs <= (own.windowMs === 60_000 ? 20_000 : 300_000) ? "time" : undefined);
      }),
    );
  });

  test("to renew only what it holds: refused when another fence or holder, or a later renewal, stands there", () => {
    fc.assert(
      fc.property(record, holder, fc.constantFrom("fence", "renewals", "holder"), (found, own, moved) => {
        const mine: BatonRecord = { ...found, holder: own.id, fence: own.fence };
        const plan = planRenewal(mine, own, { round: undefined, seenRevision: undefined }, NOW, T);
        const store = new InMemoryBatonStore();
        store.apply(KEY, "absent", mine);
        const other = new InMemoryBatonStore();
        other.apply(
          KEY,
          "absent",
          moved === "holder" ? { ...mine, holder: "x" } : { ...mine, [moved]: mine[moved] + 1 },
        );

        const renewed = store.apply(KEY, plan.expect, { ...plan.change, writeId: "1" });

        assert.equal(renewed.kind, "changed");
        assert.ok(isMine(renewed.record, own));
        assert.equal(renewed.record.renewals, mine.renewals + 1);
        assert.equal(renewed.record.expiresAt, NOW + T.expiryMs);
        assert.deepEqual(renewed.record.standby, mine.standby);
        assert.equal(other.apply(KEY, plan.expect, { ...plan.change, writeId: "1" }).kind, "refused");
      }),
    );
  });

  test("to release only what it holds, and to keep the expiry while anything may still be at work", () => {
    fc.assert(
      fc.property(record, holder, fc.boolean(), (found, own, stopped) => {
        const mine: BatonRecord = { ...found, holder: own.id, fence: own.fence };
        const plan = planRelease(mine, own, undefined, stopped);
        const store = new InMemoryBatonStore();
        store.apply(KEY, "absent", mine);
        const other = new InMemoryBatonStore();
        other.apply(KEY, "absent", { ...mine, fence: own.fence + 1 });

        const released = store.apply(KEY, plan.expect, { ...plan.change, writeId: "1" });

        assert.equal(released.record?.holder, undefined);
        assert.equal(released.record?.expiresAt, stopped ? undefined : mine.expiresAt);
        assert.equal(other.apply(KEY, plan.expect, { ...plan.change, writeId: "1" }).kind, "refused");
      }),
    );
  });
});
