import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failed, ok } from "../../lib/base/result.ts";
import type { BatonKey, BatonStore, Hold, RoleWork, StoreFailure } from "../../lib/relay/ports.ts";
import { runWindow } from "../../lib/relay/window.ts";
import type { WindowOptions } from "../../lib/relay/window-options.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { InMemoryBatonStore } from "../support/in-memory-baton-store.ts";
import { seededRandom } from "../support/seeded-random.ts";

const KEY: BatonKey = { role: "report", scope: "s" };

function given(work: Partial<RoleWork>, options: Partial<WindowOptions> = {}) {
  const clock = new FakeClock();
  const store = new InMemoryBatonStore();
  const abort = new AbortController();
  let closed = 0;
  let ids = 0;
  const startedMs = clock.monotonicMs();
  const running = runWindow({
    key: KEY,
    shard: "s",
    store,
    revisions: { readRevision: async () => ok(1) },
    work: {
      prepare: async () => ok(undefined),
      work: async (hold) => untilAborted(hold.signal),
      close: async () => {
        closed += 1;
      },
      ...work,
    },
    clock,
    random: seededRandom(1),
    ids: { uuid: () => `id-${++ids}` },
    remainingMs: () => startedMs + 900_000 - clock.monotonicMs(),
    deployedAt: 1,
    standby: "cold",
    repeatable: true,
    signal: abort.signal,
    ...options,
  });
  // The outcome is looked at when the story is over; a rejection is not unhandled until then.
  running.catch(() => undefined);
  return { clock, store, abort, running, closed: () => closed };
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  await new Promise<void>((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

describe("the work of a window", () => {
  test("that has an end releases the baton when it is done", async () => {
    const clockOf: { hold?: Hold } = {};
    const story = given({
      work: async (hold) => {
        clockOf.hold = hold;
        hold.reportRound({ roundAt: 5, exceptions: {}, moreExceptions: 0 });
      },
    });

    await story.clock.advance(100);
    const result = await story.running;

    assert.deepEqual(result, { kind: "worked", fence: 1, ended: "finished" });
    const record = story.store.peek(KEY);
    assert.deepEqual([record?.holder, record?.roundAt, record?.stoppedFence], [undefined, 5, 1]);
    assert.equal(clockOf.hold?.mayWrite(), false);
    assert.equal(clockOf.hold?.mayRepeat(), false);
    assert.equal(story.clock.sleeping, 0);
  });

  test("that throws gives the baton back, and the bug is not hidden", async () => {
    const story = given({
      work: async () => {
        throw new Error("a bug in the work");
      },
    });

    await story.clock.advance(100);

    await assert.rejects(story.running, /a bug in the work/);
    assert.equal(story.store.peek(KEY)?.holder, undefined);
    assert.equal(story.closed(), 1);
    assert.equal(story.clock.sleeping, 0);
  });

  test("whose preparation throws while it runs gives the baton back, and the bug is not hidden", async () => {
    let revision = 1;
    const story = given(
      {
        prepare: async (seen) => {
          if (seen > 1) throw new Error("a bug in the preparation");
          return ok(undefined);
        },
      },
      { revisions: { readRevision: async () => ok(revision) } },
    );
    await story.clock.advance(1_000);

    revision = 2;
    await story.clock.advance(30_000);

    await assert.rejects(story.running, /a bug in the preparation/);
    assert.equal(story.store.peek(KEY)?.holder, undefined);
    assert.equal(story.clock.sleeping, 0);
  });

  test("that cannot be prepared now is prepared later, while the baton is renewed", async () => {
    let tries = 0;
    const story = given({
      prepare: async () => (++tries < 6 ? failed<StoreFailure>({ kind: "throttled", message: "slow" }) : ok(undefined)),
    });

    await story.clock.advance(60_000);
    const record = story.store.peek(KEY);
    story.abort.abort();
    await story.clock.advance(100);

    assert.equal(tries, 6);
    assert.equal(record?.seenRevision, 1);
    assert.deepEqual(await story.running, { kind: "worked", fence: 1, ended: "aborted" });
  });

  test("that can never be prepared gives the baton back", async () => {
    const story = given({ prepare: async () => failed<StoreFailure>({ kind: "denied", message: "no" }) });

    await story.clock.advance(100);

    assert.deepEqual(await story.running, { kind: "worked", fence: 1, ended: "notPrepared" });
    assert.equal(story.store.peek(KEY)?.holder, undefined);
  });

  test("ends early, and gives the baton back, when the caller says so", async () => {
    const story = given({});
    await story.clock.advance(1_000);

    story.abort.abort();
    await story.clock.advance(100);

    assert.deepEqual(await story.running, { kind: "worked", fence: 1, ended: "aborted" });
    assert.equal(story.store.peek(KEY)?.holder, undefined);
    assert.equal(story.clock.sleeping, 0);
  });

  test("that does not end when told to keeps the next holder from writing until it has expired", async () => {
    const story = given({ work: async () => new Promise<void>(() => {}) });
    await story.clock.advance(1_000);

    story.abort.abort();
    await story.clock.advance(5_000);

    assert.equal((await story.running).kind, "worked");
    const record = story.store.peek(KEY);
    assert.equal(record?.holder, undefined);
    assert.notEqual(record?.expiresAt, undefined);
    assert.equal(record?.stoppedFence, undefined);
  });

  test("may not repeat without the store when its role must not", async () => {
    const holds: Hold[] = [];
    const inner = new InMemoryBatonStore();
    let away = false;
    const unavailable = failed<StoreFailure>({ kind: "unavailable", message: "away" });
    const store: BatonStore = {
      read: async (...args) => (away ? unavailable : inner.read(...args)),
      change: async (...args) => (away ? unavailable : inner.change(...args)),
    };
    const work = async (hold: Hold): Promise<void> => {
      holds.push(hold);
      await untilAborted(hold.signal);
    };
    const story = given({ work }, { store, repeatable: false });
    await story.clock.advance(1_000);

    away = true;
    await story.clock.advance(18_900);
    const before = holds[0]?.mayRepeat();
    await story.clock.advance(200);
    const after = holds[0]?.mayRepeat();
    away = false;
    await story.clock.advance(11_000);

    assert.deepEqual([before, after, holds[0]?.mayRepeat()], [true, false, true]);
    story.abort.abort();
    await story.clock.advance(100);
    await story.running;
  });
});

describe("a store that refuses", () => {
  test("is not asked again, and nothing is begun", async () => {
    let reads = 0;
    const denied = failed<StoreFailure>({ kind: "denied", message: "not allowed to read the table" });
    const inner = new InMemoryBatonStore();
    const store: BatonStore = {
      read: async () => {
        reads += 1;
        return denied;
      },
      change: (...args) => inner.change(...args),
    };
    const story = given({}, { store });

    await story.clock.advance(100);

    assert.deepEqual(await story.running, { kind: "storeUnavailable", failure: denied.error });
    assert.equal(reads, 1);
    assert.equal(story.closed(), 1);
  });

  test("for a while is asked again with backoff", async () => {
    let reads = 0;
    const inner = new InMemoryBatonStore();
    const store: BatonStore = {
      read: async (...args) => {
        reads += 1;
        return reads < 4 ? failed<StoreFailure>({ kind: "throttled", message: "slow" }) : inner.read(...args);
      },
      change: (...args) => inner.change(...args),
    };
    const story = given({}, { store });

    await story.clock.advance(5_000);
    story.abort.abort();
    await story.clock.advance(100);

    assert.equal(reads, 4);
    assert.equal((await story.running).kind, "worked");
  });
});

describe("a window", () => {
  test("refuses numbers that do not hold together", async () => {
    const { DEFAULT_TIMING } = await import("../../lib/relay/timing.ts");

    const story = given({}, { timing: { ...DEFAULT_TIMING, expiryMs: 1_000 } });

    await assert.rejects(story.running, /do not hold together/);
  });
});
