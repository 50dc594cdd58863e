import assert from "node:assert/strict";
import { test } from "node:test";
import { createLog, createLogger } from "../../lib/runtime/log.ts";
import { captureOutput } from "../support/captured-output.ts";

test("a line is a constant message with the facts beside it", async () => {
  const [line] = await captureOutput(async () => {
    createLog(createLogger()).info("cluster connected", { cluster: "east", fence: 7, ms: 12.3456, shard: undefined });
  });

  const { timestamp, ...rest } = JSON.parse(line!) as Record<string, unknown>;
  assert.match(String(timestamp), /^\d{4}-/);
  assert.deepEqual(rest, {
    level: "INFO",
    message: "cluster connected",
    service: "hawser",
    sampling_rate: 0,
    cluster: "east",
    fence: 7,
    ms: 12.3,
  });
});

test("an error's facts are in the line, its secrets are not, and the line is below 16 KiB", async () => {
  const error = new Error(`Bearer c4n4ry0123456789 ${"x".repeat(100_000)}`);

  const [line] = await captureOutput(async () => {
    createLog(createLogger()).error("window failed", error, { role: "announce" });
  });

  assert.ok(Buffer.byteLength(line!) < 16_384);
  assert.doesNotMatch(line!, /c4n4ry/);
  const { level, role, errorName } = JSON.parse(line!) as Record<string, unknown>;
  assert.deepEqual({ level, role, errorName }, { level: "ERROR", role: "announce", errorName: "Error" });
});

test("debug lines are silent unless asked for", async () => {
  const lines = await captureOutput(async () => createLog(createLogger()).debug("beat sent", { cluster: "east" }));

  assert.deepEqual(lines, []);
});
