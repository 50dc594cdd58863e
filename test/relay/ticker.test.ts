import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { gridOffsetMs } from "../../lib/base/grid.ts";
import { type BeatReport, type BeatTarget, Ticker, type TickerOptions } from "../../lib/relay/ticker.ts";
import { FakeClock } from "../support/fake-clock.ts";

const INTERVAL_MS = 10_000;

function targetsOf(count: number, hub: (i: number) => string = () => "hub"): BeatTarget[] {
  return Array.from({ length: count }, (_, i) => ({ name: `member-${i}`, hub: hub(i) }));
}

function start(
  targets: readonly BeatTarget[],
  options: Partial<TickerOptions<BeatTarget>> = {},
  previousRoundAt?: number,
  clock = new FakeClock(),
) {
  const beats: { name: string; atMs: number; dueAt: number }[] = [];
  const reports: BeatReport[] = [];
  const skipped: string[] = [];
  const end = new AbortController();
  const ticker = new Ticker<BeatTarget>({
    clock,
    intervalMs: INTERVAL_MS,
    concurrency: 100,
    beat: async ({ name }, dueAt) => {
      beats.push({ name, atMs: clock.now().getTime(), dueAt });
    },
    onBeat: (report) => reports.push(report),
    onSkip: (name) => skipped.push(name),
    ...options,
  });
  ticker.setTargets(targets);
  const startMs = clock.now().getTime();
  const ended = ticker.run(end.signal, previousRoundAt ?? startMs);
  return { clock, ticker, beats, reports, skipped, startMs, ended, end };
}

describe("the grid of beats", () => {
  test("beats each target once an interval, at its own moment", async () => {
    const targets = targetsOf(20);
    const story = start(targets);

    await story.clock.advance(3 * INTERVAL_MS - 1);
    story.end.abort();
    await story.ended;

    for (const { name } of targets) {
      const at = story.beats.filter((beat) => beat.name === name).map((beat) => beat.dueAt - story.startMs);
      const offset = gridOffsetMs(name, INTERVAL_MS);
      assert.deepEqual(at, [offset, offset + INTERVAL_MS, offset + 2 * INTERVAL_MS]);
    }
    assert.ok(story.reports.every((report) => report.latenessMs <= 5));
    assert.equal(story.clock.sleeping, 0);
  });

  test("beats at once what has not been beaten for an interval, then keeps the grid", async () => {
    const story = start(targetsOf(5), {}, Date.UTC(2025, 0, 1));

    await story.clock.advance(0);
    const atOnce = story.beats.length;
    await story.clock.advance(INTERVAL_MS - 1);
    story.end.abort();
    await story.ended;

    assert.equal(atOnce, 5);
    assert.equal(story.beats.length, 10);
  });

  test("leaves alone at the start what the predecessor has just beaten", async () => {
    const story = start(targetsOf(5));

    await story.clock.advance(0);
    story.end.abort();
    await story.ended;

    assert.equal(story.beats.length, 0);
  });

  test("follows the grid and not the last beat, however long that took", async () => {
    const story: ReturnType<typeof start> = start(targetsOf(1), {
      beat: async ({ name }, dueAt) => {
        story.beats.push({ name, atMs: story.clock.now().getTime(), dueAt });
        await story.clock.sleep(4_000);
      },
    });

    await story.clock.advance(5 * INTERVAL_MS - 1);
    story.end.abort();
    await story.clock.advance(4_000);
    await story.ended;

    const steps = story.beats.map((beat, i) => beat.dueAt - (story.beats[i - 1]?.dueAt ?? beat.dueAt - INTERVAL_MS));
    assert.deepEqual(steps, [INTERVAL_MS, INTERVAL_MS, INTERVAL_MS, INTERVAL_MS, INTERVAL_MS]);
  });

  test("never has two beats of one target waiting or under way", async () => {
    let running = 0;
    let most = 0;
    const story: ReturnType<typeof start> = start(targetsOf(1), {
      beat: async () => {
        running += 1;
        most = Math.max(most, running);
        await story.clock.sleep(25_000);
        running -= 1;
      },
    });

    await story.clock.advance(60_000);
    story.end.abort();
    await story.clock.advance(25_000);
    await story.ended;

    assert.equal(most, 1);
    assert.equal(story.reports.length, 2);
    assert.equal(story.skipped.length, 4);
  });

  test("a hub that hangs delays only its own targets", async () => {
    const targets = targetsOf(100, (i) => `hub-${i % 10}`);
    const late: number[] = [];
    const clock = new FakeClock();
    const story = start(
      targets,
      {
        concurrency: 20,
        beat: async ({ hub }) => {
          await clock.sleep(hub === "hub-0" ? 9_000 : 50);
        },
        onBeat: (report) => {
          const hub = targets.find((target) => target.name === report.target)?.hub;
          if (hub !== "hub-0") late.push(report.latenessMs);
        },
      },
      0,
      clock,
    );

    await story.clock.advance(3 * INTERVAL_MS);
    story.end.abort();
    await story.clock.advance(10_000);
    await story.ended;

    assert.ok(late.length >= 90 * 3);
    // Ten targets of a hub share two places: the last of the first round waits for four beats before it.
    assert.ok(Math.max(...late) <= 4 * 50 + 10, `${Math.max(...late)} ms`);
  });

  test("says up to which moment every due beat has ended", async () => {
    const rounds: number[] = [];
    const story: ReturnType<typeof start> = start(targetsOf(2), {
      onRound: (roundAt) => rounds.push(roundAt),
      beat: async ({ name }) => {
        if (name === "member-1") await story.clock.sleep(60_000);
      },
    });
    const stuckAt = story.startMs + gridOffsetMs("member-1", INTERVAL_MS);

    await story.clock.advance(35_000);
    const roundAt = story.ticker.roundAt();
    story.end.abort();
    await story.clock.advance(60_000);
    await story.ended;

    assert.equal(roundAt, stuckAt - 1);
    assert.equal(rounds.at(-1)! < story.startMs + 100_000, true);
    assert.ok(rounds.length <= 110);
  });

  test("beats a new target at once, and one that is gone no more", async () => {
    const story = start(targetsOf(3));
    await story.clock.advance(25_000);

    story.ticker.setTargets([...targetsOf(2), { name: "new", hub: "other" }]);
    await story.clock.advance(0);
    const atOnce = story.beats.at(-1)?.name;
    const before = story.beats.filter((beat) => beat.name === "member-2").length;
    await story.clock.advance(20_000);
    story.end.abort();
    await story.ended;

    assert.equal(atOnce, "new");
    assert.equal(story.beats.filter((beat) => beat.name === "new").length, 3);
    assert.equal(story.beats.filter((beat) => beat.name === "member-2").length, before);
  });

  test("waits for targets when it has none", async () => {
    const story = start([]);
    await story.clock.advance(25_000);

    story.ticker.setTargets(targetsOf(1));
    await story.clock.advance(0);
    story.end.abort();
    await story.ended;

    assert.equal(story.beats.length, 1);
  });

  for (const [what, byMs] of [
    ["set back an hour", -3_600_000],
    ["set forward an hour", 3_600_000],
  ] as const) {
    test(`goes on when the wall clock is ${what}`, async () => {
      const story = start(targetsOf(4));
      await story.clock.advance(20_000);

      story.clock.setWall(new Date(story.clock.now().getTime() + byMs));
      const before = story.beats.length;
      await story.clock.advance(30_000);
      story.end.abort();
      await story.ended;

      const after = story.beats.length - before;
      assert.ok(after >= 12 && after <= 16, `${after} beats in three intervals`);
    });
  }

  test("beats each target once after a long pause, not once for every interval of it", async () => {
    const story = start(targetsOf(4));
    await story.clock.advance(20_000);
    const before = story.beats.length;

    story.clock.setWall(new Date(story.clock.now().getTime() + 95_000));
    await story.clock.advance(2_500);
    story.end.abort();
    await story.ended;

    assert.ok(story.beats.length - before <= 8);
  });

  test("ends soon after it is told to, and starts nothing more", async () => {
    const clock = new FakeClock();
    const story = start(
      targetsOf(50),
      { concurrency: 1, beat: async (_target, _due, signal) => clock.sleep(8_000, signal) },
      0,
      clock,
    );
    await story.clock.advance(100);

    story.end.abort();
    await story.ended;

    assert.equal(story.reports.length, 1);
    assert.equal(story.clock.sleeping, 0);
  });

  test("rejects when a beat rejects: that is a bug", async () => {
    const story = start(
      targetsOf(1),
      {
        beat: async () => {
          throw new Error("a bug");
        },
      },
      0,
    );

    await assert.rejects(story.ended, /a bug/);
  });

  test("goes round with 10,000 targets", async () => {
    const story = start(
      targetsOf(10_000, (i) => `hub-${i % 100}`),
      { concurrency: 256 },
    );

    const fromMs = process.cpuUsage().user;
    await story.clock.advance(INTERVAL_MS + 5);
    const usedMs = (process.cpuUsage().user - fromMs) / 1_000;
    story.end.abort();
    await story.ended;

    assert.ok(story.beats.length >= 10_000);
    assert.ok(story.reports.every((report) => report.latenessMs <= 10));
    assert.ok(usedMs < 10_000, `${usedMs} ms for one interval`);
  });
});
