import assert from "node:assert/strict";
import { it } from "node:test";
import { startTestServer } from "../../state/test-table.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { crashAtPoints } from "./crash.ts";

const server = await startTestServer();
/** How many points, chosen by the seed; all of them without it. */
const limit = process.env["CRASH_POINTS"];
const seed = Number(process.env["CRASH_SEED"] ?? "1");

it("a sync that is killed anywhere comes to the end of one that is not", async () => {
  const random = seededRandom(seed);
  const choose = (count: number): readonly number[] => {
    const all = Array.from({ length: count }, (_, i) => ({ i, order: random.next() }));
    const chosen = limit === undefined ? all : all.toSorted((a, b) => a.order - b.order).slice(0, Number(limit));
    return chosen.map(({ i }) => i).toSorted((a, b) => a - b);
  };
  const report = await crashAtPoints(server, choose);

  console.log(`killed at ${choose(report.points.length).length} of ${report.points.length} points, seed ${seed}`);
  assert.deepEqual(report.faults, []);
});
