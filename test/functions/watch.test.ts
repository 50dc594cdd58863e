import assert from "node:assert/strict";
import { after, test } from "node:test";
import { handler } from "../../functions/watch.ts";
import { captureOutput } from "../support/captured-output.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { startDeployedEnvironment } from "./deployed-environment.ts";

const deployed = await startDeployedEnvironment();
Object.assign(process.env, deployed.env, { HAWSER_WATCH_MODE_EXCEPT: "other" });

after(async () => {
  await deployed.stop();
});

/** The context of an invocation whose window ends by itself after `workMs`: it keeps 10 s for its end. */
function shortWindow(workMs: number): ReturnType<typeof lambdaContext> {
  const endsAt = performance.now() + 10_000 + workMs;
  return lambdaContext({ remainingMs: () => endsAt - performance.now() });
}

test("refuses an event that is not its own", async () => {
  await captureOutput(async () => {
    await assert.rejects(handler({ role: "announce", shard: "s" }, lambdaContext()), /event of watch must be/);
  });
});

test("holds its baton for the whole window, and one of two deliveries finds it held", async () => {
  const event = { role: "watch", shard: "twice" };
  await captureOutput(async () => {
    const both = await Promise.all([handler(event, shortWindow(1_500)), handler(event, shortWindow(1_500))]);

    assert.deepEqual(both.map(({ kind }) => kind).toSorted(), ["heldByOther", "worked"]);
  });
});

test("is done at once with a shard in windowed mode that has nothing to watch, and gives the baton back", async () => {
  const event = { role: "watch", shard: "other" };
  const results: unknown[] = [];
  await captureOutput(async () => {
    for (let i = 0; i < 2; i += 1) results.push(await handler(event, lambdaContext({ remainingMs: () => 600_000 })));
  });

  assert.deepEqual(results, [
    { kind: "worked", fence: 1, ended: "finished" },
    { kind: "worked", fence: 2, ended: "finished" },
  ]);
});
