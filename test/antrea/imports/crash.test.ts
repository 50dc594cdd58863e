import assert from "node:assert/strict";
import { it } from "node:test";
import { startTestServer } from "../../state/test-table.ts";
import { crashAtPoints } from "./crash.ts";

const server = await startTestServer();

it("a sync that is killed before or after any of its effects comes to the end of one that is not, by the next window", {
  timeout: 110_000,
}, async () => {
  // Twelve of them, evenly; all by `npm run test:crash`.
  const report = await crashAtPoints(server, (count) =>
    Array.from({ length: 12 }, (_, i) => Math.floor((i * count) / 12)),
  );

  assert.ok(report.points.length >= 60, `${report.points.length} points`);
  assert.deepEqual(report.faults, []);
});
