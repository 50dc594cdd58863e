import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Asked, Examination, ifKnown } from "../../lib/doctor/examination.ts";
import { type Finding, passed, wrong } from "../../lib/doctor/finding.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { settleIo } from "../support/until.ts";

const signal = new AbortController().signal;

/** Asks one check that answers so, or never. */
function ask<T>(
  examination: Examination,
  check: string,
  needs: readonly Asked<unknown>[],
  finding?: Finding<T>,
): Asked<T> {
  return examination.ask<T, readonly Asked<unknown>[]>({
    side: "aws",
    check,
    needs,
    tries: `try ${check}`,
    timeoutMs: 2_000,
    ask: async () =>
      finding === undefined ? await new Promise<never>(() => undefined) : await Promise.resolve(finding),
  });
}

describe("an examination", () => {
  it("asks what builds on a check once that has passed, and gives it what was found", async () => {
    const examination = new Examination(new FakeClock(), 9_000, signal);
    const first = ask(examination, "first", [], passed(7, "seven"));
    const second = examination.ask({
      side: "member",
      check: "second",
      needs: [first],
      tries: (seven) => `try with ${seven}`,
      timeoutMs: 1_000,
      ask: ([seven]) => Promise.resolve(passed(seven + 1, "eight")),
    });

    const reports = await examination.reports();

    assert.deepEqual(await second, { known: true, value: 8 });
    assert.deepEqual(reports[1], {
      side: "member",
      check: "second",
      tried: "try with 7",
      ms: 0,
      outcome: "passed",
      came: "eight",
    });
  });

  it("reports as not asked, never as passed, whatever builds on a check that failed, and names where the chain ended", async () => {
    const examination = new Examination(new FakeClock(), 9_000, signal);
    const first = ask(examination, "first", [], wrong("TimedOut", "nothing", "wait"));
    const second = ask(examination, "second", [first], passed(1, "one"));
    void ask(examination, "third", [second], passed(1, "one"));

    const reports = await examination.reports();

    assert.deepEqual(
      reports.map((report) => (report.outcome === "notAsked" ? report.because : report.outcome)),
      ["failed", "aws first is not known", "aws first is not known"],
    );
  });

  it("goes on with what a failed check knows all the same, and with what may be unknown", async () => {
    const examination = new Examination(new FakeClock(), 9_000, signal);
    const paused = ask(examination, "paused", [], { ...wrong("ConfigurationInvalid", "paused", "resume"), known: 1 });
    const gone = ask(examination, "gone", [], wrong("TimedOut", "nothing", "wait"));
    void ask(examination, "last", [paused, ifKnown(gone)], passed(1, "one"));

    const reports = await examination.reports();

    assert.deepEqual(
      reports.map(({ outcome }) => outcome),
      ["failed", "failed", "passed"],
    );
  });

  it("gives each check its own time, side by side", async () => {
    const clock = new FakeClock();
    const examination = new Examination(clock, 9_000, signal);
    const silent = ask(examination, "silent", []);
    void ask(examination, "other", [], passed(1, "one"));
    void ask(examination, "behind", [silent], passed(1, "one"));

    const reports = examination.reports();
    await settleIo();
    await clock.advance(2_000);

    const [first, second, third] = await reports;
    assert.equal(first?.outcome === "failed" && `${first.cause}: ${first.came}`, "TimedOut: nothing within 2000 ms");
    assert.deepEqual([first?.ms, second?.ms], [2_000, 0]);
    assert.deepEqual([second?.outcome, third?.outcome], ["passed", "notAsked"]);
  });

  it("is over within its whole time, however many checks are silent one after the other", async () => {
    const clock = new FakeClock();
    const examination = new Examination(clock, 5_000, signal);
    let last: Asked<unknown> | undefined;
    for (let i = 0; i < 5; i += 1) {
      last = ask(examination, `${i}`, last === undefined ? [] : [ifKnown(last)]);
    }

    const reports = examination.reports();
    for (let second = 0; second < 5; second += 1) {
      await settleIo();
      await clock.advance(1_000);
    }

    assert.deepEqual(
      (await reports).map((report) => (report.outcome === "notAsked" ? report.because : report.ms)),
      [2_000, 2_000, 1_000, "there was no time left", "there was no time left"],
    );
  });

  it("cuts what came back to the length of a line", async () => {
    const examination = new Examination(new FakeClock(), 9_000, signal);
    void ask(examination, "long", [], wrong("ServerError", "x".repeat(50_000), "look"));

    const [report] = await examination.reports();

    assert.ok(report?.outcome === "failed" && Buffer.byteLength(report.came) <= 2_000);
    assert.match(report.came, /cut by \d+ bytes/);
  });
});
