import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { EPOCH_MS } from "./simulation/process.ts";
import { NO_FAULTS } from "./simulation/store.ts";
import { Story } from "./story.ts";

describe("a window of a cold relay", () => {
  test("takes a free baton, prepares, and works", async () => {
    const story = new Story();
    const { platform } = story;

    const first = platform.invoke(0);
    await story.until(30);

    assert.equal(platform.record?.fence, 1);
    assert.equal(platform.record?.holder, first.hold?.holder);
    assert.equal(first.prepared, 1);
    assert.ok(first.hold?.mayWrite());
    assert.ok(story.longestGap(3, 30) <= 10.2);
  });

  test("beats until 10 s before its deadline when no successor comes, releases, and ends before the timeout", async () => {
    const story = new Story();
    const { platform } = story;

    const only = platform.invoke(0);
    await story.until(901);

    assert.deepEqual(only.result, { kind: "worked", fence: 1, ended: "deadline" });
    assert.ok(only.endedMs! > 889_000 && only.endedMs! < 891_000, `${only.endedMs}`);
    assert.ok(story.longestGap(3, 890) <= 10.2);
    const { holder, expiresAt, stoppedFence } = platform.record!;
    assert.deepEqual({ holder, expiresAt, stoppedFence }, { holder: undefined, expiresAt: undefined, stoppedFence: 1 });
    assert.equal(only.process.sleeping, 0);
    assert.equal(only.closed, 1);
    assert.deepEqual(platform.violations, []);
  });

  test("hands over without a gap: the successor prepares, then takes, while the holder goes on", async () => {
    const story = new Story({ prepareMs: () => 12_000 });
    const { platform } = story;

    const old = platform.invoke(0);
    await story.until(640);
    const next = platform.invoke(0);
    await story.until(651);
    const whilePreparing = platform.record;
    await story.until(680);

    assert.equal(whilePreparing?.fence, 1);
    assert.equal(whilePreparing?.yielding, true);
    assert.equal(platform.record?.fence, 2);
    assert.equal(platform.record?.stoppedFence, 1);
    assert.deepEqual(old.result, { kind: "worked", fence: 1, ended: "yielded" });
    assert.ok(next.hold?.mayWrite());
    assert.ok(story.longestGap(13, 680) <= 10.2);
    assert.equal(old.process.sleeping, 0);
    assert.deepEqual(platform.violations, []);
  });

  test("lets no successor write before its predecessor has stopped", async () => {
    const story = new Story();
    const { platform } = story;
    const old = platform.invoke(0);
    await story.until(640);

    const next = platform.invoke(0);
    await story.until(643);

    assert.equal(platform.record?.fence, 2);
    assert.deepEqual([old.hold?.mayWrite(), next.hold?.mayWrite()], [true, false]);
    assert.equal(next.hold?.mayRepeat(), true);
    assert.deepEqual([old.hold?.predecessorStopped(), next.hold?.predecessorStopped()], [true, false]);
    await story.until(653);
    assert.deepEqual([old.hold?.mayWrite(), next.hold?.mayWrite()], [false, true]);
    assert.equal(next.hold?.predecessorStopped(), true);
  });

  test("waits out a predecessor that died at the handover before it writes", async () => {
    const story = new Story();
    const { platform } = story;
    const old = platform.invoke(0);
    await story.until(640);

    const next = platform.invoke(0);
    await story.until(643);
    old.process.kill();
    await story.until(660);
    const early = next.hold?.mayWrite();
    await story.until(672);

    assert.equal(early, false);
    assert.equal(next.hold?.mayWrite(), true);
    assert.equal(next.hold?.predecessorStopped(), false);
  });

  test("ends at once while the baton is held and fresh, with one read", async () => {
    const story = new Story();
    const { platform } = story;
    const holder = platform.invoke(0);
    await story.until(65);
    const { reads, changes } = platform.store;

    const second = platform.invoke(0);
    await story.until(65.05);

    assert.deepEqual(second.result, { kind: "heldByOther", holder: holder.hold?.holder, fence: 1 });
    assert.deepEqual([platform.store.reads - reads, platform.store.changes - changes], [1, 0]);
    assert.equal(second.process.sleeping, 0);
    assert.equal(second.prepared, 0);
  });

  test("is replaced by the first firing after its expiry when it is killed", async () => {
    const story = new Story();
    const { platform } = story;
    const first = platform.invoke(0);
    await story.until(101);
    first.process.kill();

    await story.until(110);
    const early = platform.invoke(0);
    await story.until(135);
    const second = platform.invoke(0);
    await story.until(160);

    assert.equal(early.result?.kind, "heldByOther");
    assert.equal(platform.record?.holder, second.hold?.holder);
    assert.equal(platform.record?.fence, 2);
    assert.ok(second.hold?.mayWrite());
    assert.ok(story.longestGap(3, 160) < 50);
  });

  test("waits for the expiry of a holder that has missed a renewal, instead of leaving it to the next firing", async () => {
    const story = new Story();
    const { platform } = story;
    const first = platform.invoke(0);
    await story.until(100.5);
    first.process.kill();
    await story.until(120);

    const second = platform.invoke(0);
    await story.until(135);

    assert.equal(platform.record?.holder, second.hold?.holder);
    assert.ok(story.longestGap(3, 145) < 41);
  });

  test("takes no baton before its expiry is 5 s past", async () => {
    const story = new Story();
    const { platform } = story;
    const first = platform.invoke(0);
    await story.until(100.5);
    first.process.kill();

    await story.until(120);
    platform.invoke(0);
    const expiresS = (platform.record!.expiresAt! - EPOCH_MS) / 1_000;
    await story.until(expiresS + 4.99);
    const before = platform.record;
    await story.until(expiresS + 6.1);

    assert.ok(expiresS > 125 && expiresS < 125.1);
    assert.equal(before?.fence, 1);
    assert.equal(platform.record?.fence, 2);
  });

  for (const monotonicStandsStill of [false, true]) {
    const how = monotonicStandsStill ? "frozen, its monotonic clock too," : "paused";
    test(`writes nothing when it was ${how} beyond its expiry and is resumed`, async () => {
      const story = new Story();
      const { platform } = story;
      const first = platform.invoke(0);
      await story.until(100);
      first.process.pause(monotonicStandsStill);
      await story.until(140);
      const second = platform.invoke(0);
      await story.until(150);

      first.process.resume();
      const mayWrite = first.hold?.mayWrite();
      await story.until(165);

      assert.equal(mayWrite, false);
      assert.deepEqual(first.result, { kind: "worked", fence: 1, ended: "superseded" });
      assert.equal(platform.record?.holder, second.hold?.holder);
      assert.equal(platform.record?.fence, 2);
      assert.deepEqual(platform.violations, []);
    });
  }

  test("goes on when it was paused beyond its expiry and nobody took the baton", async () => {
    const story = new Story();
    const { platform } = story;
    const only = platform.invoke(0);
    await story.until(100);
    only.process.pause(false);
    await story.until(150);

    only.process.resume();
    await story.until(161);

    assert.equal(only.result, undefined);
    assert.equal(only.hold?.mayWrite(), true);
    assert.equal(platform.record?.fence, 1);
  });

  test("stops writing 5 s before its expiry, counted from the start of its last good renewal", async () => {
    const story = new Story();
    const { platform } = story;
    const only = platform.invoke(0);
    await story.until(101);
    platform.store.outage = true;

    await story.until(119.9);
    const still = only.hold?.mayWrite();
    await story.until(120.1);

    assert.equal(still, true);
    assert.equal(only.hold?.mayWrite(), false);
    assert.equal(only.hold?.mayRepeat(), true);
  });

  test("goes on beating while the store is away for a minute, and renews when it is back", async () => {
    const story = new Story();
    const { platform } = story;
    const only = platform.invoke(0);
    await story.until(101);

    platform.store.outage = true;
    await story.until(130);
    const other = platform.invoke(0);
    await story.until(161);
    platform.store.outage = false;
    await story.until(175);

    assert.equal(other.result?.kind, "storeUnavailable");
    assert.ok(story.longestGap(3, 175) <= 10.2);
    assert.equal(only.hold?.mayWrite(), true);
    const kinds = only.events.map(({ event }) => event.kind).filter((kind) => kind.startsWith("store"));
    assert.deepEqual(kinds, ["storeLost", "storeBack"]);
    assert.deepEqual(platform.violations, []);
  });

  test("ends in time when its time is up while the store is away", async () => {
    const story = new Story();
    const { platform } = story;
    const only = platform.invoke(0);
    await story.until(850);

    platform.store.outage = true;
    await story.until(901);

    assert.deepEqual(only.result, { kind: "worked", fence: 1, ended: "storeLost" });
    assert.ok(only.endedMs! < 899_000);
    assert.equal(only.process.sleeping, 0);
    assert.deepEqual(platform.violations, []);
  });

  test("prepares again when the revision moves, and carries the new one in its next renewal", async () => {
    const story = new Story();
    const { platform } = story;
    const only = platform.invoke(0);
    await story.until(50);
    const before = platform.record?.seenRevision;

    platform.store.revision = 7;
    await story.until(75);

    assert.equal(before, 1);
    assert.equal(only.prepared, 2);
    assert.equal(platform.record?.seenRevision, 7);
  });

  test("reads everything again at its start, whatever an earlier window knew", async () => {
    const story = new Story();
    const { platform } = story;
    const first = platform.invoke(0, 120_000);
    await story.until(200);
    const second = platform.invoke(0);
    await story.until(210);

    assert.equal(first.result?.kind, "worked");
    assert.equal(second.prepared, 1);
  });

  test("recognises a take whose answer was lost", async () => {
    const story = new Story();
    const { platform } = story;
    platform.store.faults = { ...NO_FAULTS, lostAnswer: 1 };
    const only = platform.invoke(0);
    await story.until(0.02);
    platform.store.faults = NO_FAULTS;
    await story.until(1.7);
    platform.store.faults = { ...NO_FAULTS, lostAnswer: 1 };
    await story.until(1.8);
    platform.store.faults = NO_FAULTS;
    await story.until(8);

    assert.equal(platform.record?.fence, 1);
    assert.equal(only.worked, 1);
    assert.equal(only.hold?.mayWrite(), true);
  });

  test("goes on after a renewal whose answer was lost", async () => {
    const story = new Story();
    const { platform } = story;
    const only = platform.invoke(0);
    await story.until(9.99);
    const before = platform.record!.renewals;
    platform.store.faults = { ...NO_FAULTS, lostAnswer: 1 };
    await story.until(10.1);
    platform.store.faults = NO_FAULTS;
    await story.until(12);

    assert.equal(only.result, undefined);
    assert.equal(platform.record?.renewals, before + 2);
    assert.equal((platform.record!.expiresAt! - EPOCH_MS) / 1_000 > 36, true);
  });

  test("tries a throttled renewal again within the tick", async () => {
    const story = new Story();
    const { platform } = story;
    const only = platform.invoke(0);
    await story.until(9.9);
    platform.store.faults = { ...NO_FAULTS, throttled: 1 };
    await story.until(12);
    platform.store.faults = NO_FAULTS;
    await story.until(15);

    const expiresS = (platform.record!.expiresAt! - EPOCH_MS) / 1_000;
    assert.ok(expiresS > 37 && expiresS < 40, `${expiresS}`);
    assert.equal(only.hold?.mayWrite(), true);
  });

  test("of two clocks 10 s apart, none takes the baton while the other may write", async () => {
    for (const [holderSkewMs, takerSkewMs] of [
      [-5_000, 5_000],
      [5_000, -5_000],
    ] as const) {
      const story = new Story();
      const { platform } = story;
      const first = platform.invoke(holderSkewMs);
      await story.until(100.5);
      first.process.pause(false);

      for (let second = 101; second < 200; second += 1) {
        platform.invoke(takerSkewMs);
        await story.until(second);
      }

      assert.equal(platform.record?.fence, 2);
      assert.deepEqual(platform.violations, []);
    }
  });

  test("keeps beating with firings 119 s apart", async () => {
    const story = new Story();
    const { platform } = story;
    let minute = 0;
    for (const second of [1, 120, 239, 358, 477, 596, 715, 834, 953, 1072, 1191, 1310, 1429, 1548]) {
      minute += 1;
      await story.until(second);
      platform.invoke(0);
    }
    await story.until(1600);

    assert.equal(minute, 14);
    assert.equal(platform.record?.fence, 3);
    assert.ok(story.longestGap(4, 1600) <= 10.2);
    assert.deepEqual(platform.violations, []);
  });
});

describe("two deliveries of one firing", () => {
  test("make one holder, and a loser that asks nothing of any cluster", async () => {
    for (let round = 0; round < 100; round += 1) {
      const story = new Story();
      const { platform } = story;
      const apartMs = (round % 6) * 1;

      platform.world.at(0, () => platform.invoke(0));
      platform.world.at(apartMs, () => platform.invoke(0));
      await story.until(5);

      const loser = platform.invocations.find((invocation) => invocation.result !== undefined);
      const winner = platform.invocations.find((invocation) => invocation !== loser);
      assert.equal(loser?.result?.kind, "heldByOther");
      assert.ok(loser.endedMs! - loser.startedMs <= 100);
      assert.deepEqual([loser.prepared, loser.worked, loser.closed, loser.process.sleeping], [0, 0, 1, 0]);
      assert.equal(winner?.worked, 1);
      assert.equal(platform.record?.fence, 1);
      assert.ok(platform.store.reads <= 2 && platform.store.changes <= 2);
    }
  });

  test("while the holder yields make one successor, and one preparation", async () => {
    const story = new Story();
    const { platform } = story;
    platform.invoke(0);
    await story.until(640);

    const both = [platform.invoke(0), platform.invoke(0)];
    await story.until(660);

    assert.deepEqual(new Set(both.map((invocation) => invocation.prepared)), new Set([0, 1]));
    assert.equal(both.filter((invocation) => invocation.result?.kind === "heldByOther").length, 1);
    assert.equal(platform.record?.fence, 2);
  });
});

describe("a deployment", () => {
  test("that is newer asks the holder to yield, and works within a minute", async () => {
    const story = new Story();
    const { platform } = story;
    const old = platform.invoke(0);
    await story.until(100);

    platform.deployedAt += 60_000;
    const next = platform.invoke(0);
    await story.until(100.1);
    const asked = platform.record?.yieldTo;
    await story.until(125);

    assert.equal(asked, platform.deployedAt);
    assert.deepEqual(old.result, { kind: "worked", fence: 1, ended: "deployment" });
    assert.equal(platform.record?.holder, next.hold?.holder);
    assert.equal(platform.record?.yieldTo, undefined);
    assert.equal(platform.record?.deployedAt, platform.deployedAt);
    assert.ok(story.longestGap(3, 125) <= 10.2);
    assert.deepEqual(platform.violations, []);
  });

  test("that is older leaves the newer one alone, even when it yields", async () => {
    const story = new Story();
    const { platform } = story;
    platform.deployedAt += 60_000;
    platform.invoke(0);
    await story.until(640);

    platform.deployedAt -= 60_000;
    const older = platform.invoke(0);
    await story.until(660);

    assert.equal(older.result?.kind, "heldByOther");
    assert.equal(platform.record?.fence, 1);
  });

  test("that is older takes over before the newer one's end when it was rolled back to, and no beat is missed", async () => {
    const story = new Story();
    const { platform } = story;
    platform.deployedAt += 60_000;
    platform.invoke(0);
    await story.until(100);
    platform.deployedAt -= 60_000;

    // The worst of firings: 119 s apart.
    for (let second = 101; second < 1_100; second += 119) {
      await story.until(second);
      platform.invoke(0);
    }

    assert.equal(platform.record?.deployedAt, platform.deployedAt);
    assert.ok(story.longestGap(3, 1_000) <= 10.2, `a gap of ${story.longestGap(3, 1_000)} s`);
    assert.deepEqual(platform.violations, []);
  });

  test("that is newer leaves a holder alone that has been asked already", async () => {
    const story = new Story();
    const { platform } = story;
    platform.invoke(0);
    await story.until(100);
    platform.deployedAt += 60_000;

    const both = [platform.invoke(0), platform.invoke(0)];
    await story.until(130);

    assert.equal(both.filter((invocation) => invocation.result?.kind === "heldByOther").length, 1);
    assert.equal(platform.record?.fence, 2);
  });
});
