import assert from "node:assert/strict";
import { test } from "node:test";
import { gridOffsetMs, gridPointAtOrBefore } from "../../../lib/base/grid.ts";
import type { Sample } from "../sampling.ts";
import { figuresOf, judgeInterval } from "./figures.ts";
import type { LoggedRequest } from "./protocol.ts";

const INTERVAL_MS = 10_000;
const FROM_MS = Date.UTC(2026, 0, 1);
const CLUSTERS = ["east", "west"];

/** The grid point of a cluster in interval `i`. */
function pointOf(cluster: string, i = 0): number {
  const endMs = FROM_MS + (i + 1) * INTERVAL_MS;
  return gridPointAtOrBefore(endMs - 1, gridOffsetMs(cluster, INTERVAL_MS), INTERVAL_MS);
}

function request(cluster: string, atMs: number, more: Partial<LoggedRequest> = {}): LoggedRequest {
  const counted = { bytesIn: 400, bytesOut: 300, connection: 1, http2: true, status: 200 };
  return { cluster, verb: "patch", beat: true, atMs, ...counted, ...more };
}

function sample(i: number, more: Partial<Sample> = {}): Sample {
  const atMs = FROM_MS + i * INTERVAL_MS;
  return { atMs, cpuMs: i * 100, rssBytes: 60e6, heapUsedBytes: 20e6, externalBytes: 0, ...more };
}

function figures(requests: readonly LoggedRequest[], intervals: number) {
  return figuresOf({
    clusters: CLUSTERS,
    measured: { fromMs: FROM_MS, intervalMs: INTERVAL_MS, intervals },
    samples: Array.from({ length: intervals + 1 }, (_, i) => sample(i)),
    retained: sample(intervals, { heapUsedBytes: 14e6 }),
    empty: sample(0, { rssBytes: 50e6, heapUsedBytes: 10e6 }),
    record: { requests, connectionsOpened: 2 },
    facts: {},
  });
}

test("a beat is as late as its answer is behind its grid point; a little early is not late", () => {
  const beats = new Map([
    ["east", [pointOf("east") + 700]],
    ["west", [pointOf("west") - 3]],
  ]);

  const { due, latenessMs } = judgeInterval(CLUSTERS, beats, FROM_MS, INTERVAL_MS);

  assert.equal(due, 2);
  assert.deepEqual(latenessMs, [700, 0]);
});

test("a beat that comes when the next is due counts for the next, and one of two makes no second", () => {
  const beats = new Map([
    ["east", [pointOf("east") + INTERVAL_MS + 1]],
    ["west", [pointOf("west") + 5, pointOf("west") + 900]],
  ]);

  assert.deepEqual(judgeInterval(CLUSTERS, beats, FROM_MS, INTERVAL_MS).latenessMs, [5]);
  assert.deepEqual(judgeInterval(CLUSTERS, beats, FROM_MS + INTERVAL_MS, INTERVAL_MS).latenessMs, [1]);
});

test("cost is counted by beat, over all requests that were made for it", () => {
  const requests = [0, 1].flatMap((i) =>
    CLUSTERS.flatMap((cluster) => [
      request(cluster, pointOf(cluster, i), { verb: "get", beat: false, bytesIn: 100 }),
      request(cluster, pointOf(cluster, i) + 1, { verb: "update" }),
    ]),
  );

  const { due, done, late, requestsPerBeat, bytesOutPerBeat, bytesInPerBeat, cpuMsPerBeat, corePercent } = figures(
    requests,
    2,
  );

  assert.deepEqual([due, done, late], [4, 4, 0]);
  assert.deepEqual(requestsPerBeat, { median: 2, min: 2, max: 2 });
  assert.equal(bytesOutPerBeat?.median, 500);
  assert.equal(bytesInPerBeat?.median, 600);
  assert.equal(cpuMsPerBeat?.median, 50);
  assert.equal(corePercent?.median, 1);
});

test("memory is that of the memberships, less a process without any", () => {
  const { rssKBPerMembership, heapKBPerMembership } = figures([], 1);

  assert.equal(rssKBPerMembership, 5000);
  assert.equal(heapKBPerMembership, 2000);
});

test("a driver that never beats has figures too: all due, none done", () => {
  const refusal = request("east", pointOf("east"), { beat: false, status: 403 });

  const { due, done, refused, latenessP50Ms, cpuMsPerBeat } = figures([refusal], 1);

  assert.deepEqual([due, done, refused], [2, 0, 1]);
  assert.equal(latenessP50Ms, undefined);
  assert.equal(cpuMsPerBeat, undefined);
});
