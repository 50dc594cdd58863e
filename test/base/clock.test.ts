import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { deadline, systemClock } from "../../lib/base/clock.ts";
import { FakeClock } from "../support/fake-clock.ts";

describe("a deadline", () => {
  it("fires after its time, and says that it was the time", async () => {
    const clock = new FakeClock();
    using limit = deadline(clock, 1_000);

    await clock.advance(999);
    const early = limit.signal.aborted;
    await clock.advance(1);

    assert.equal(early, false);
    assert.equal(limit.signal.aborted, true);
    assert.equal(limit.expired(), true);
  });

  it("fires with its parent, and says that it was not the time", async () => {
    const clock = new FakeClock();
    const parent = new AbortController();
    using limit = deadline(clock, 1_000, parent.signal);

    parent.abort();

    assert.equal(limit.signal.aborted, true);
    assert.equal(limit.expired(), false);
  });

  it("leaves no timer when it was not needed", async () => {
    const clock = new FakeClock();
    {
      using limit = deadline(clock, 1_000);
      assert.equal(clock.sleeping, 1);
      assert.equal(limit.signal.aborted, false);
    }

    assert.equal(clock.sleeping, 0);
  });
});

describe("the machine's clock", () => {
  it("wakes at once when its signal fires, without an error", async () => {
    const ended = new AbortController();
    const slept = systemClock.sleep(3_600_000, ended.signal);

    ended.abort();

    await slept;
  });

  it("never goes back in its monotonic time", () => {
    const first = systemClock.monotonicMs();

    assert.ok(systemClock.monotonicMs() >= first);
  });
});
