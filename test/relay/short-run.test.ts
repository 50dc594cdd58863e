import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { systemIds } from "../../lib/base/ids.ts";
import { systemRandom } from "../../lib/base/random.ts";
import { failed } from "../../lib/base/result.ts";
import type { BatonStore } from "../../lib/relay/ports.ts";
import { runShort, type ShortHold, type ShortRunResult } from "../../lib/relay/short-run.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { InMemoryBatonStore } from "../support/in-memory-baton-store.ts";

const KEY = { role: "sweep", scope: "all" };
const NEVER = new AbortController().signal;

class Runs {
  readonly clock = new FakeClock();
  readonly memory = new InMemoryBatonStore();
  store: BatonStore = this.memory;

  run<T>(work: (hold: ShortHold) => Promise<T>, signal: AbortSignal = NEVER): Promise<ShortRunResult<T>> {
    const { clock, store } = this;
    return runShort({ key: KEY, store, clock, ids: systemIds(clock, systemRandom), deployedAt: 1, signal }, work);
  }
}

describe("a short run", () => {
  test("works, gives the baton back, and the next one works under a higher fence", async () => {
    const runs = new Runs();

    const first = await runs.run(async ({ fence, mayWrite }) => [fence, mayWrite()]);
    const second = await runs.run(async ({ fence }) => [fence]);

    assert.deepEqual(
      [first, second],
      [
        { kind: "worked", value: [1, true] },
        { kind: "worked", value: [2] },
      ],
    );
    assert.equal(runs.memory.peek(KEY)?.holder, undefined);
    assert.equal(runs.clock.sleeping, 0);
  });

  test("of a hundred pairs that begin together always leaves one without work", async () => {
    for (let round = 0; round < 100; round += 1) {
      const runs = new Runs();
      let worked = 0;
      const results = await Promise.all([0, 1].map(() => runs.run(async () => (worked += 1))));

      assert.deepEqual(results.map(({ kind }) => kind).toSorted(), ["heldByOther", "worked"]);
      assert.equal(worked, 1);
    }
  });

  test("renews while it works, however long that takes", async () => {
    const runs = new Runs();
    const end = Promise.withResolvers<void>();
    const long = runs.run(async ({ mayWrite }) => {
      await end.promise;
      return mayWrite();
    });
    await runs.clock.advance(120_000);

    const other = await runs.run(async () => "never");
    end.resolve();

    assert.equal(other.kind, "heldByOther");
    assert.deepEqual(await long, { kind: "worked", value: true });
  });

  test("that was killed is followed once its renewal is over", async () => {
    const runs = new Runs();
    const killed = {
      fence: 1,
      renewals: 1,
      holder: "killed",
      expiresAt: runs.clock.now().getTime() + 25_000,
      writeId: "w",
    };
    runs.memory.apply(KEY, "absent", killed);
    await runs.clock.advance(29_000);
    const early = await runs.run(async () => 1);
    await runs.clock.advance(1_000);

    const late = await runs.run(async () => 1);

    assert.deepEqual([early.kind, late.kind], ["heldByOther", "worked"]);
  });

  test("that loses its baton is told to end, may write nothing more, and gives nothing back that is another's", async () => {
    const runs = new Runs();
    const told = Promise.withResolvers<void>();
    const run = runs.run(async ({ signal, mayWrite }) => {
      signal.addEventListener("abort", () => told.resolve());
      await told.promise;
      return mayWrite();
    });
    await runs.clock.advance(1_000);
    runs.memory.apply(KEY, { fence: 1 }, { fence: 2, holder: "other", renewals: 9, writeId: "taken" });

    await runs.clock.advance(10_000);

    assert.deepEqual(await run, { kind: "worked", value: false });
    assert.deepEqual([runs.memory.peek(KEY)?.holder, runs.memory.peek(KEY)?.fence], ["other", 2]);
  });

  test("may write nothing once the store has been silent for as long as a renewal is good for", async () => {
    const runs = new Runs();
    let away = false;
    const down = failed({ kind: "unavailable", message: "away" } as const);
    runs.store = {
      read: async (key, signal) => await runs.memory.read(key, signal),
      change: async (...args) => (away ? down : await runs.memory.change(...args)),
    };
    const seen: boolean[] = [];
    const run = runs.run(async ({ signal, mayWrite }) => {
      away = true;
      while (!signal.aborted) {
        seen.push(mayWrite());
        await runs.clock.sleep(5_000, signal);
      }
      return mayWrite();
    });

    await runs.clock.advance(30_000);

    assert.deepEqual(await run, { kind: "worked", value: false });
    assert.deepEqual(seen, [true, true, true, true]);
  });

  test("gives the baton back when its work throws, and when its caller ends it", async () => {
    const runs = new Runs();
    const end = new AbortController();
    await assert.rejects(
      runs.run(async () => {
        throw new Error("a bug");
      }),
      /a bug/,
    );

    const ended = await runs.run(async ({ signal }) => {
      end.abort();
      return signal.aborted;
    }, end.signal);

    assert.deepEqual(ended, { kind: "worked", value: true });
    assert.equal(runs.memory.peek(KEY)?.holder, undefined);
    assert.equal(runs.clock.sleeping, 0);
  });
});
