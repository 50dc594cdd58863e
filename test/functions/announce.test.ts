import assert from "node:assert/strict";
import { after, test } from "node:test";
import { handler } from "../../functions/announce.ts";
import { captureOutput } from "../support/captured-output.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { startDeployedEnvironment } from "./deployed-environment.ts";

const deployed = await startDeployedEnvironment();

after(async () => {
  await deployed.stop();
});

/** The context of an invocation whose window ends by itself after `workMs`: it keeps 10 s for its end. */
function shortWindow(workMs: number): ReturnType<typeof lambdaContext> {
  const endsAt = performance.now() + 10_000 + workMs;
  return lambdaContext({ remainingMs: () => endsAt - performance.now() });
}

// Before the others: what a process has wired once, it keeps.
test("says which variable is missing, in the log as to the platform, and recovers when it is there", async () => {
  const lines = await captureOutput(async () => {
    await assert.rejects(
      handler({ role: "announce", shard: "default-1" }, lambdaContext({ requestId: "r-1" })),
      /HAWSER_TABLE: is not set\. It is set by serverless\.yml/,
    );
  });

  const [line] = lines.map((text) => JSON.parse(text) as Record<string, unknown>);
  assert.deepEqual([line?.message, line?.function_request_id, line?.level], ["invocation failed", "r-1", "ERROR"]);
  Object.assign(process.env, deployed.env);
});

test("takes two parameters, as the runtime demands", () => {
  assert.ok(handler.length <= 2);
});

test("refuses an event that is not its own", async () => {
  const lines = await captureOutput(async () => {
    await assert.rejects(handler({ role: "watch", shard: "default-1" }, lambdaContext()), /event of announce must be/);
  });

  assert.equal(lines.length, 1);
});

test("delivered twice at once, one works and the other finds the baton held and asks no more", async () => {
  for (let round = 0; round < 2; round += 1) {
    const event = { role: "announce", shard: `twice-${round}` };
    const lines = await captureOutput(async () => {
      const both = await Promise.all([handler(event, shortWindow(1_500)), handler(event, shortWindow(1_500))]);

      const kinds = both.map(({ kind }) => kind).toSorted();
      assert.deepEqual(kinds, ["heldByOther", "worked"]);
    });

    const taken = lines.filter((line) => line.includes('"baton taken"'));
    assert.equal(taken.length, 1);
    assert.ok(lines.every((line) => !line.includes('"ERROR"')));
  }
});

test("gives the baton back at its end, so that the next invocation takes it at once", async () => {
  const event = { role: "announce", shard: "next" };
  const results: unknown[] = [];
  await captureOutput(async () => {
    for (let i = 0; i < 2; i += 1) results.push(await handler(event, shortWindow(1_000)));
  });

  assert.deepEqual(results, [
    { kind: "worked", fence: 1, ended: "deadline" },
    { kind: "worked", fence: 2, ended: "deadline" },
  ]);
});

test("treats an event that comes minutes late as any other: it carries no moment, and no beat is caught up", async () => {
  const late = { role: "announce", shard: "late", "scheduled-time": new Date(Date.now() - 420_000).toISOString() };
  await captureOutput(async () => {
    assert.equal((await handler(late, shortWindow(1_000))).kind, "worked");
  });
});
