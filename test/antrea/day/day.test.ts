import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { simulateDay } from "./day.ts";

// A stack for every aborted signal is most of the cost.
Error.stackTraceLimit = 0;

const MEMBERS = ["east", "north-1", "south", "west"];

describe("eight simulated hours of handovers, deployments and one request in a hundred lost", {
  timeout: 60_000,
}, () => {
  it("miss no beat, and no member is disconnected by its leader's count or by its own conditions", async () => {
    const report = await simulateDay({ hours: 8, seed: 1, lost: 0.01, members: MEMBERS });

    assert.ok(report.handovers >= 40 && report.deployments >= 3, `${report.handovers} handovers`);
    assert.ok(report.beats >= 8 * 360 * MEMBERS.length);
    assert.deepEqual([report.missed, report.disconnects, report.bugs], [[], [], []]);
    assert.deepEqual(report.events, { Connected: MEMBERS.length });
    assert.ok(report.longestGapMs < 20_000);
  });

  it("would show it: with one request in three lost beats are missed", async () => {
    const report = await simulateDay({ hours: 1, seed: 1, lost: 0.33, members: MEMBERS });

    assert.ok(report.missed.length > 0);
  });
});

it("firings that arrive twice, and again after minutes, make one holder and no more beats", async () => {
  const members = Array.from({ length: 50 }, (_, i) => `member-${i}`);
  const report = await simulateDay({ hours: 0.5, seed: 8, lost: 0, members, repeated: true });

  assert.deepEqual([report.missed, report.disconnects, report.bugs], [[], [], []]);
  // One at most when a window begins: a new connection beats at once.
  assert.ok(report.mostExtra <= report.handovers + 1, `${report.mostExtra} extra in ${report.handovers} handovers`);
  const { worked, heldByOther, ...others } = report.results;
  assert.deepEqual(others, {});
  assert.ok(heldByOther !== undefined && heldByOther > 10 * (worked ?? 0), JSON.stringify(report.results));
});
