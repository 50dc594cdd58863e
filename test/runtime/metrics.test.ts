import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createRoleMetrics, quantileSample } from "../../lib/runtime/metrics.ts";
import { captureOutput } from "../support/captured-output.ts";
import { FakeClock } from "../support/fake-clock.ts";

const DIMENSIONS = { stage: "dev", role: "announce", shard: "default-1" };

test("gathers a minute of beats in one line of embedded metrics", async () => {
  const clock = new FakeClock();
  const output = await captureOutput(async () => {
    const metrics = createRoleMetrics(clock, DIMENSIONS);
    for (let second = 0; second < 60; second += 1) {
      metrics.count("Beats", 100);
      for (let i = 0; i < 100; i += 1) metrics.time("BeatLateness", second + i / 100);
      metrics.gauge("Connected", second);
      metrics.flushIfDue();
      await clock.advance(1_000);
    }
    metrics.flushIfDue();
  });

  assert.equal(output.length, 1);
  const line = JSON.parse(output[0]!) as Record<string, unknown>;
  assert.equal(line.Beats, 6_000);
  assert.equal(line.Connected, 59);
  assert.deepEqual([line.stage, line.role, line.shard], ["dev", "announce", "default-1"]);
  const lateness = line.BeatLateness as number[];
  assert.ok(lateness.length < 100);
  assert.deepEqual([Math.min(...lateness), Math.max(...lateness)], [0, 59.99]);
});

test("publishes what is left when a window ends, and nothing when nothing has gathered", async () => {
  const output = await captureOutput(async () => {
    const metrics = createRoleMetrics(new FakeClock(), DIMENSIONS);
    metrics.count("BeatsMissed");
    metrics.flush();
    metrics.flush();
  });

  assert.equal(output.length, 1);
  assert.equal((JSON.parse(output[0]!) as Record<string, unknown>).BeatsMissed, 1);
});

test("a sample keeps the smallest, the largest and the percentiles", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ noNaN: true, min: 0, max: 1e6 }), { minLength: 1, maxLength: 2_000 }),
      (values) => {
        const sample = quantileSample(values);
        const sorted = values.toSorted((a, b) => a - b);

        assert.ok(sample.length <= 99 && sample.length === Math.min(99, values.length));
        assert.equal(sample[0], sorted[0]);
        assert.equal(sample.at(-1), sorted.at(-1));
        const rank = sorted.indexOf(sample[Math.floor(sample.length / 2)]!) / sorted.length;
        assert.ok(sorted.length < 99 || new Set(sorted).size < sorted.length || Math.abs(rank - 0.5) < 0.02);
      },
    ),
  );
});
