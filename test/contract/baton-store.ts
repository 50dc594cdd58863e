import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { Result } from "../../lib/base/result.ts";
import type {
  BatonChange,
  BatonChangeResult,
  BatonExpectation,
  BatonKey,
  BatonRecord,
  BatonStore,
  StoreFailure,
} from "../../lib/relay/ports.ts";

let keys = 0;

/**
 * What every baton store must do.
 * @param name of the store, for the report
 * @param store gives the store under test; it may be shared, every case uses keys of its own
 */
export function batonStoreContract(name: string, store: () => BatonStore | Promise<BatonStore>): void {
  const signal = AbortSignal.timeout(60_000);
  const fresh = (role = "announce"): BatonKey => ({ role, scope: `contract-${process.pid}-${keys++}` });
  const given = async (changed: Partial<BatonChange> = {}) => {
    const at = { store: await store(), key: fresh() };
    const record = accepted(
      await at.store.change(at.key, "absent", { ...first, ...changed, writeId: "given" }, signal),
    );
    return { ...at, record };
  };

  describe(`baton store: ${name}`, () => {
    test("has no record before the first change", async () => {
      const at = await store();

      const read = await at.read(fresh(), signal);

      assert.deepEqual(read, { ok: true, value: undefined });
    });

    test("makes the record only when there is none", async () => {
      const { store, key, record } = await given();

      const again = await store.change(key, "absent", { ...first, holder: "b", writeId: "w-2" }, signal);

      assert.deepEqual(record, { ...first, writeId: "given" });
      assert.deepEqual(again, { ok: true, value: { kind: "refused", record } });
      assert.deepEqual(await store.read(key, signal), { ok: true, value: record });
    });

    test("refuses an expectation about a record that does not exist", async () => {
      const at = await store();
      const key = fresh();

      for (const expect of [{}, { fence: 1 }, { holder: undefined }, { standbyId: null }]) {
        const answer = await at.change(key, expect, { ...first, writeId: "w" }, signal);
        assert.deepEqual(answer, { ok: true, value: { kind: "refused", record: undefined } });
      }
      assert.deepEqual(await at.read(key, signal), { ok: true, value: undefined });
    });

    test("keeps batons of other roles and scopes apart", async () => {
      const { store, key } = await given();

      const other = await store.read({ ...key, role: "watch" }, signal);
      const lifecycle = await store.read({ role: "lifecycle", scope: "east#antrea" }, signal);

      assert.deepEqual(other, { ok: true, value: undefined });
      assert.equal(lifecycle.ok, true);
    });

    test("changes the named fields, removes the undefined ones, keeps the others", async () => {
      const { store, key, record } = await given({ yielding: true, seenRevision: 4, moreExceptions: 2 });

      const changed = accepted(
        await store.change(key, { fence: 1 }, { renewals: 1, yielding: undefined, writeId: "w-2" }, signal),
      );

      const { yielding: _, ...kept } = record;
      assert.deepEqual(changed, { ...kept, renewals: 1, writeId: "w-2" });
      assert.deepEqual(await store.read(key, signal), { ok: true, value: changed });
    });

    test("keeps every field as it was given", async () => {
      const whole: BatonChange = {
        ...first,
        yielding: true,
        yieldTo: 1_700_000_000_500,
        standby: { id: "s", until: 1_700_000_100_000 },
        deployedAt: 1_700_000_000_001,
        roundAt: 1_700_000_000_002,
        exceptions: {
          east: { kind: "TimedOut", count: 3, since: 1_700_000_000_003 },
          "a.b-c": { kind: "X", count: 1, since: 0 },
        },
        moreExceptions: 0,
        seenRevision: 12,
        stoppedFence: 0,
        writeId: "whole",
      };
      const at = await store();
      const key = fresh();

      const made = accepted(await at.change(key, "absent", whole, signal));

      assert.deepEqual(made, whole);
      assert.deepEqual(await at.read(key, signal), { ok: true, value: whole });
      const emptied = accepted(await at.change(key, { fence: 1 }, { exceptions: {}, writeId: "w-2" }, signal));
      assert.deepEqual(emptied, { ...whole, exceptions: {}, writeId: "w-2" });
    });

    const conditions: readonly [string, Partial<BatonChange>, BatonExpectation, boolean][] = [
      ["the fence", {}, { fence: 1 }, true],
      ["another fence", {}, { fence: 2 }, false],
      ["holder and fence", {}, { fence: 1, holder: "a" }, true],
      ["another holder", {}, { fence: 1, holder: "b" }, false],
      ["no holder, where there is one", {}, { holder: undefined }, false],
      ["no holder", { holder: undefined, expiresAt: undefined }, { fence: 1, holder: undefined }, true],
      ["the count of renewals", {}, { renewals: 0 }, true],
      ["another count of renewals", {}, { fence: 1, renewals: 1 }, false],
      ["the expiry", {}, { expiresAt: first.expiresAt }, true],
      ["another expiry", {}, { expiresAt: 5 }, false],
      ["no deployment to yield to", {}, { yieldTo: undefined }, true],
      ["a deployment to yield to", { yieldTo: 7 }, { yieldTo: 7 }, true],
      ["no deployment to yield to, where there is one", { yieldTo: 7 }, { yieldTo: undefined }, false],
      ["no standby", {}, { standbyId: null }, true],
      ["no standby, where there is one", { standby: { id: "s", until: 9 } }, { standbyId: null }, false],
      ["the standby", { standby: { id: "s", until: 9 } }, { fence: 1, standbyId: "s" }, true],
      ["another standby", { standby: { id: "s", until: 9 } }, { standbyId: "t" }, false],
      ["a standby, where there is none", {}, { standbyId: "s" }, false],
      ["nothing", {}, {}, true],
    ];
    for (const [what, before, expect, accepts] of conditions) {
      test(`${accepts ? "accepts" : "refuses"} a change that expects ${what}`, async () => {
        const { store, key, record } = await given(before);

        const answer = await store.change(key, expect, { roundAt: 3, writeId: "w-2" }, signal);

        const after = accepts ? { ...record, roundAt: 3, writeId: "w-2" } : record;
        assert.deepEqual(answer, { ok: true, value: { kind: accepts ? "changed" : "refused", record: after } });
        assert.deepEqual(await store.read(key, signal), { ok: true, value: after });
      });
    }

    test("recognises a write that had arrived when it is sent again", async () => {
      const { store, key } = await given();
      const take: BatonChange = { fence: 2, holder: "b", renewals: 1, writeId: "w-2" };
      const expect = { fence: 1, holder: "a" };
      const once = accepted(await store.change(key, expect, take, signal));

      const twice = accepted(await store.change(key, expect, take, signal));

      assert.deepEqual(twice, once);
    });

    test("lets one of many takers win", async () => {
      const { store, key } = await given();
      const ids = Array.from({ length: 25 }, (_, i) => `taker-${i}`);

      const answers = await Promise.all(
        ids.map((id) => store.change(key, { fence: 1 }, { fence: 2, holder: id, writeId: id }, signal)),
      );

      const won = answers.filter((a) => a.ok && a.value.kind === "changed");
      const final = await store.read(key, signal);
      assert.equal(won.length, 1);
      assert.ok(final.ok && won[0]?.ok && won[0].value.kind === "changed");
      assert.deepEqual(final.value, won[0].value.record);
      for (const a of answers) assert.ok(a.ok && a.value.record?.holder === final.value?.holder);
    });
  });
}

const first = {
  fence: 1,
  renewals: 0,
  holder: "a",
  expiresAt: 1_700_000_025_000,
  deployedAt: 1_700_000_000_000,
} as const;

function accepted(answer: Result<BatonChangeResult, StoreFailure>): BatonRecord {
  assert.ok(answer.ok, JSON.stringify(answer));
  assert.equal(answer.value.kind, "changed");
  assert.ok(answer.value.record !== undefined);
  return answer.value.record;
}
