import assert from "node:assert/strict";
import { test } from "node:test";
import { LambdaClient } from "@aws-sdk/client-lambda";
import { type HttpReply, type HttpRequest, startLoopbackServer } from "../../infra/local/aws/loopback-server.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { FunctionInvoker } from "../../lib/runtime/function-invoker.ts";

const PREFIX = "arn:aws:lambda:us-east-1:000000000000:function:hawser-test-";
const EVENT = { role: "announce", shard: "default-1" };
const signal = new AbortController().signal;

/** An invoker whose Lambda API answers as told. */
async function invokerFor(answer: (request: HttpRequest) => HttpReply) {
  const server = await startLoopbackServer(async (request) => answer(request));
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new LambdaClient({ endpoint: server.url, region: "us-east-1", credentials, maxAttempts: 1 });
  const invoker = new FunctionInvoker(client, systemClock, PREFIX);
  return {
    invoker,
    async [Symbol.asyncDispose]() {
      client.destroy();
      await server.stop();
    },
  };
}

test("invokes a role as its schedule does, and does not wait for its work", async () => {
  const requests: HttpRequest[] = [];
  await using lambda = await invokerFor((request) => {
    requests.push(request);
    return { status: 202 };
  });

  const invoked = await lambda.invoker.invoke(EVENT, signal);

  assert.equal(invoked.ok, true);
  assert.equal(requests.length, 1);
  assert.equal(requests[0]!.headers["x-amz-invocation-type"], "Event");
  assert.match(decodeURIComponent(requests[0]!.path), /function:hawser-test-announce\/invocations$/);
  assert.deepEqual(JSON.parse(requests[0]!.body.toString("utf8")), EVENT);
});

test("a refusal is told with role, shard and what happens instead", async () => {
  await using lambda = await invokerFor(() => ({
    status: 403,
    headers: { "content-type": "application/json", "x-amzn-errortype": "AccessDeniedException" },
    body: JSON.stringify({ Message: "not allowed" }),
  }));

  const invoked = await lambda.invoker.invoke(EVENT, signal);

  assert.ok(!invoked.ok);
  assert.match(
    invoked.error.message,
    /invoke announce for shard default-1: AccessDeniedException: .*Its schedule fires/,
  );
});
