import assert from "node:assert/strict";
import { test } from "node:test";
import { gridOffsetMs } from "../../lib/base/grid.ts";
import { createBeatTelemetry } from "../../lib/runtime/beat-telemetry.ts";
import { createLog, createLogger } from "../../lib/runtime/log.ts";
import { createRoleMetrics } from "../../lib/runtime/metrics.ts";
import { captureOutput } from "../support/captured-output.ts";
import { FakeClock } from "../support/fake-clock.ts";

const INTERVAL_MS = 10_000;
const FACTS = { role: "announce", shard: "default-1", protocol: "antrea" };

/** The metrics of a window whose beats come as given: after how many ms each, and how it ends. */
async function metricsOf(
  beats: readonly (readonly [afterMs: number, outcome: "ok" | "failed" | "throttled" | "withheld"])[],
) {
  const clock = new FakeClock();
  // To the first grid point of the cluster.
  await clock.advance(gridOffsetMs("east", INTERVAL_MS));
  const [line] = await captureOutput(async () => {
    const metrics = createRoleMetrics(clock, { stage: "dev", role: "announce", shard: "default-1" });
    const telemetry = createBeatTelemetry({ clock, log: createLog(createLogger()), metrics }, FACTS, INTERVAL_MS);
    for (const [afterMs, outcome] of beats) {
      await clock.advance(afterMs);
      telemetry.beat({ cluster: "east", outcome, ms: 5 });
    }
    metrics.flush();
  });
  return JSON.parse(line!) as Record<string, number | number[]>;
}

test("a beat is late by what lies between its grid point and its first byte", async () => {
  const metrics = await metricsOf([
    [5, "ok"],
    [10_030, "ok"],
  ]);

  assert.deepEqual(metrics.BeatLateness, [0, 30]);
  assert.deepEqual([metrics.Beats, metrics.BeatsMissed, metrics.Connected], [2, 0, 1]);
});

test("a grid point between two successes without one is a missed beat", async () => {
  const metrics = await metricsOf([
    [5, "ok"],
    [10_000, "failed"],
    [10_000, "failed"],
    [10_000, "ok"],
  ]);

  assert.deepEqual([metrics.Beats, metrics.BeatsFailed, metrics.BeatsMissed], [4, 2, 2]);
});

test("a cluster is connected by its last beat, and one that was withheld says nothing", async () => {
  const failed = await metricsOf([
    [5, "ok"],
    [10_000, "failed"],
  ]);
  const withheld = await metricsOf([
    [5, "ok"],
    [10_000, "withheld"],
  ]);

  assert.deepEqual([failed.Memberships, failed.Connected], [1, 0]);
  assert.deepEqual([withheld.Connected, withheld.BeatsWithheld], [1, 1]);
});

test("a beat that the hub throttles is counted as that, and not as a failure", async () => {
  const metrics = await metricsOf([
    [5, "ok"],
    [10_000, "throttled"],
  ]);

  assert.deepEqual([metrics.BeatsThrottled, metrics.BeatsFailed, metrics.Connected], [1, undefined, 1]);
});

test("a transition is a line with role and shard, a bug one with the error", async () => {
  const clock = new FakeClock();
  const lines = await captureOutput(async () => {
    const metrics = createRoleMetrics(clock, { stage: "dev", role: "announce", shard: "default-1" });
    const telemetry = createBeatTelemetry({ clock, log: createLog(createLogger()), metrics }, FACTS, INTERVAL_MS);
    telemetry.transition("connectivity changed", { cluster: "east", outcome: "Connected" });
    telemetry.bug(new TypeError("x is undefined"), "east");
  });

  const [transition, bug] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
  assert.deepEqual([transition?.level, transition?.shard, transition?.outcome], ["INFO", "default-1", "Connected"]);
  assert.deepEqual([bug?.level, bug?.cluster, bug?.errorName], ["ERROR", "east", "TypeError"]);
});
