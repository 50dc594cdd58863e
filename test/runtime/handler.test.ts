import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { EARLY_MS, functionHandler } from "../../lib/runtime/handler.ts";
import { captureOutput } from "../support/captured-output.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { lambdaContext } from "../support/lambda-context.ts";

test("hands event, request id and remaining time to the work and its answer back", async () => {
  const handler = functionHandler("echo", async (event, { requestId, remainingMs }) => ({
    event,
    requestId,
    remaining: remainingMs(),
  }));

  const answer = await handler({ a: 1 }, lambdaContext({ requestId: "r-1", remainingMs: () => 60_000 }));

  assert.deepEqual(answer, { event: { a: 1 }, requestId: "r-1", remaining: 60_000 });
});

test("takes two parameters: more would be a callback, which the runtime refuses", () => {
  assert.ok(functionHandler("any", async () => undefined).length <= 2);
});

test("puts the invocation's ids into every line of the work", async () => {
  const handler = functionHandler("speaks", async (_event, { log }) => log.info("hello", { shard: "default-1" }));

  const [line] = await captureOutput(async () => {
    await handler({}, lambdaContext({ requestId: "r-2" }));
  });

  const facts = JSON.parse(line!) as Record<string, unknown>;
  assert.equal(facts.function_request_id, "r-2");
  assert.equal(facts.function_name, "hawser-test-function");
  assert.equal(facts.shard, "default-1");
});

test("logs what the work throws, once and without secrets, and lets the platform see the failure", async () => {
  const handler = functionHandler("fails", async () => {
    throw new Error("refused with Bearer c4n4ry0123456789");
  });

  const lines = await captureOutput(async () => {
    await assert.rejects(handler({}, lambdaContext({ requestId: "r-3" })), /refused/);
  });

  assert.equal(lines.length, 1);
  const facts = JSON.parse(lines[0]!) as Record<string, unknown>;
  assert.deepEqual([facts.message, facts.function, facts.function_request_id], ["invocation failed", "fails", "r-3"]);
  assert.doesNotMatch(lines[0]!, /c4n4ry/);
});

test("never logs the event", async () => {
  const lines = await captureOutput(async () => {
    await functionHandler("quiet", async () => undefined)({ token: "c4n4ry" }, lambdaContext()).catch(() => undefined);
  });

  assert.deepEqual(lines, []);
});

test("tells the work to end before the deadline and gives back what the work then answers", async () => {
  const handler = functionHandler("ends in time", async (_event, { signal }) => {
    await once(signal, "abort");
    return "settled";
  });

  assert.equal(await handler({}, lambdaContext({ remainingMs: () => EARLY_MS + 20 })), "settled");
});

test("fails by name when the work does not end although it was told to", async (t) => {
  const release = Promise.withResolvers<void>();
  t.after(() => release.resolve());
  const clock = new FakeClock();
  const told = Promise.withResolvers<void>();
  const handler = functionHandler(
    "hangs",
    async (_event, { signal }) => {
      signal.addEventListener("abort", () => told.resolve());
      await release.promise;
    },
    { clock },
  );

  const lines = await captureOutput(async () => {
    const answer = assert.rejects(handler({}, lambdaContext({ remainingMs: () => EARLY_MS })), /hangs did not end/);
    await told.promise;
    await clock.advance(3_000);
    await answer;
  });

  assert.equal(lines.length, 1);
});
