import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { after, describe, it, type TestContext } from "node:test";
import {
  InvokeCommand,
  type InvokeCommandInput,
  LambdaClient,
  ResourceNotFoundException,
  TooManyRequestsException,
} from "@aws-sdk/client-lambda";
import type { FailedEvent } from "../../../../infra/local/lambda/event-queue.ts";
import type { FunctionDefinition } from "../../../../infra/local/lambda/function-definition.ts";
import {
  type EnvironmentRow,
  type Lambda,
  type LambdaOptions,
  type LogEvent,
  startLambda,
} from "../../../../infra/local/lambda/lambda.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { systemIds } from "../../../../lib/base/ids.ts";
import { systemRandom } from "../../../../lib/base/random.ts";

const PACKAGE = join(import.meta.dirname, "package");

/** A Lambda service for one test, with what happened in it. */
interface Bench {
  readonly lambda: Lambda;
  readonly client: LambdaClient;
  readonly logs: LogEvent[];
  readonly failures: FailedEvent[];
  readonly add: (name: string, more?: Partial<FunctionDefinition>) => void;
  readonly call: (name: string, payload?: unknown, more?: Partial<InvokeCommandInput>) => Promise<Called>;
  /** Resolves as soon as the condition holds; it is looked at whenever something happens. */
  readonly until: (holds: () => boolean) => Promise<void>;
}

interface Called {
  readonly status: number | undefined;
  readonly error: string | undefined;
  readonly log: string;
  readonly body: Record<string, unknown>;
}

async function bench(t: TestContext, options: Partial<LambdaOptions> = {}): Promise<Bench> {
  const waiting = new Set<() => void>();
  const look = (): void => {
    for (const check of waiting) check();
  };
  const logs: LogEvent[] = [];
  const failures: FailedEvent[] = [];
  const lambda = await startLambda({
    clock: systemClock,
    random: systemRandom,
    ids: systemIds(systemClock, systemRandom),
    onLog: (event) => {
      logs.push(event);
      look();
    },
    onEnvironment: look,
    onFailure: (record) => {
      failures.push(record);
      look();
    },
    ...options,
  });
  const client = new LambdaClient({
    endpoint: lambda.url,
    region: "us-east-1",
    credentials: { accessKeyId: "k", secretAccessKey: "s" },
    maxAttempts: 1,
  });
  t.after(async () => {
    client.destroy();
    await lambda.stop();
  });
  return {
    lambda,
    client,
    logs,
    failures,
    add: (name, more = {}) => {
      lambda.register({
        name,
        taskRoot: PACKAGE,
        handler: `functions.${name}`,
        timeoutSeconds: 30,
        memoryMb: 64,
        ...more,
      });
    },
    call: async (name, payload, more = {}) => {
      const got = await client.send(
        new InvokeCommand({
          FunctionName: name,
          ...(payload === undefined ? {} : { Payload: JSON.stringify(payload) }),
          ...more,
        }),
      );
      const text = got.Payload?.transformToString() ?? "";
      return {
        status: got.StatusCode,
        error: got.FunctionError,
        log: Buffer.from(got.LogResult ?? "", "base64").toString(),
        body: text === "" ? {} : (JSON.parse(text) as Record<string, unknown>),
      };
    },
    until: async (holds) => {
      if (holds()) return;
      await new Promise<void>((resolve) => {
        const check = (): void => {
          if (!holds()) return;
          waiting.delete(check);
          resolve();
        };
        waiting.add(check);
      });
    },
  };
}

/** A handler that was caught at work. */
interface Held {
  readonly pid: number;
  readonly release: () => void;
}

/** A listener that a `hold` handler connects to: `next` gives the connection of the next one at work. */
async function gate(t: TestContext): Promise<{ port: number; next: () => Promise<Held> }> {
  const arrived: Socket[] = [];
  const server: Server = createServer((socket) => {
    socket.on("error", () => {});
    arrived.push(socket);
    server.emit("arrived");
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.after(() => {
    server.close();
    for (const socket of arrived) socket.destroy();
  });
  const address = server.address();
  assert.ok(address !== null && typeof address !== "string");
  let taken = 0;
  return {
    port: address.port,
    next: async () => {
      while (arrived[taken] === undefined) await once(server, "arrived");
      const socket = arrived[taken];
      taken += 1;
      assert.ok(socket !== undefined);
      const [data] = (await once(socket, "data")) as [Buffer];
      return { pid: Number(data.toString()), release: () => void socket.end() };
    },
  };
}

/** The kernel's one-letter state of a process; undefined when it has gone. */
async function kernelState(pid: number | undefined): Promise<string | undefined> {
  const ps = spawn("ps", ["-o", "stat=", "-p", String(pid)], { stdio: ["ignore", "pipe", "ignore"] });
  let text = "";
  ps.stdout.on("data", (chunk: Buffer) => {
    text += chunk.toString();
  });
  await once(ps, "close");
  return text.trim()[0];
}

/** Waits until the kernel has stopped a process: a signal is sent before it is obeyed. */
async function untilStopped(pid: number | undefined): Promise<void> {
  for (let i = 0; i < 200; i += 1) if ((await kernelState(pid)) === "T") return;
  assert.fail(`process ${pid} does not stand still`);
}

const byFunction = (rows: readonly EnvironmentRow[], name: string): EnvironmentRow[] =>
  rows.filter((r) => r.function === name);

describe("Invoke", () => {
  it("answers with the handler's result and gives it Lambda's context", async (t) => {
    const { lambda, add, call } = await bench(t);
    add("echo");

    const { status, error, body } = await call("echo", { a: [1, "ü"] });

    assert.equal(status, 200);
    assert.equal(error, undefined);
    assert.deepEqual(body["event"], { a: [1, "ü"] });
    assert.equal(body["arn"], "arn:aws:lambda:us-east-1:000000000000:function:echo");
    assert.equal(body["name"], "echo");
    assert.match(String(body["requestId"]), /^[0-9a-f-]{36}$/);
    assert.ok(Number(body["remainingMs"]) > 20_000 && Number(body["remainingMs"]) <= 30_000);
    assert.equal(lambda.environments().length, 1);
  });

  it("takes names, partial and whole ARNs, and refuses unknown functions and versions", async (t) => {
    const { add, call } = await bench(t);
    add("echo");
    const arn = "arn:aws:lambda:us-east-1:000000000000:function:echo";

    for (const name of ["echo", arn, `${arn}:$LATEST`, "000000000000:function:echo"]) {
      assert.equal((await call(name, {})).status, 200, name);
    }
    await assert.rejects(call("other", {}), ResourceNotFoundException);
    await assert.rejects(call(`${arn}:3`, {}), ResourceNotFoundException);
  });

  it("runs nothing in a dry run, gives an empty object for no payload, and refuses what is not JSON", async (t) => {
    const { lambda, add, call, client } = await bench(t);
    add("echo");

    assert.equal((await call("echo", {}, { InvocationType: "DryRun" })).status, 204);
    assert.equal(lambda.environments().length, 0);
    assert.deepEqual((await call("echo")).body["event"], {});
    await assert.rejects(client.send(new InvokeCommand({ FunctionName: "echo", Payload: "{" })), {
      name: "InvalidRequestContentException",
    });
  });

  it("tells a function's own failure apart from its answers", async (t) => {
    const { add, call } = await bench(t);
    add("fail");

    const { status, error, body } = await call("fail", { why: "tired" });

    assert.equal(status, 200);
    assert.equal(error, "Unhandled");
    assert.equal(body["errorType"], "TypeError");
    assert.equal(body["errorMessage"], "no good: tired");
    assert.ok(Array.isArray(body["trace"]));
  });

  it("returns the end of the log when asked, and hands every line to the listener", async (t) => {
    const { lambda, add, call, logs } = await bench(t);
    add("log");

    const { log } = await call("log", { word: "hello" }, { LogType: "Tail" });

    assert.match(log, /^START RequestId: .*\n.*INFO\tsaid hello\n.*ERROR\ttwo\rlines\nraw\nEND RequestId: .*\nREPORT /);
    assert.match(log, /Memory Size: 64 MB\tInit Duration: /);
    assert.deepEqual(logs.map((l) => l.line).join("\n"), log.trimEnd());
    assert.equal(logs[0]?.environment, lambda.environments()[0]?.id);
    assert.doesNotMatch((await call("log", { word: "again" }, { LogType: "Tail" })).log, /hello|Init Duration/);
  });

  it("refuses more than the reserved concurrency", async (t) => {
    const { add, call, lambda } = await bench(t);
    const { port, next } = await gate(t);
    add("hold", { reservedConcurrency: 1 });
    const first = call("hold", { port });
    const { release } = await next();

    await assert.rejects(call("hold", { port }), TooManyRequestsException);
    release();
    await first;
    assert.equal(lambda.environments().length, 1);
  });
});

describe("an execution environment", () => {
  it("has Lambda's variables and the function's, nothing of its parent's, and 1,024 descriptors", async (t) => {
    process.env["HAWSER_TEST_CANARY"] = "must not get through";
    const { add, call, lambda } = await bench(t, { environment: { AWS_ENDPOINT_URL_DYNAMODB: "http://127.0.0.1:1" } });
    add("environment", { environment: { STAGE: "local" }, memoryMb: 128 });

    const { body } = await call("environment", {});

    const variables = body["variables"] as Record<string, string>;
    assert.equal(variables["HAWSER_TEST_CANARY"], undefined);
    assert.equal(variables["HOME"], undefined);
    assert.equal(variables["STAGE"], "local");
    assert.equal(variables["AWS_ENDPOINT_URL_DYNAMODB"], "http://127.0.0.1:1");
    assert.equal(variables["AWS_LAMBDA_FUNCTION_NAME"], "environment");
    assert.equal(variables["AWS_LAMBDA_FUNCTION_MEMORY_SIZE"], "128");
    assert.equal(variables["AWS_LAMBDA_FUNCTION_VERSION"], "$LATEST");
    assert.equal(variables["AWS_LAMBDA_LOG_GROUP_NAME"], "/aws/lambda/environment");
    assert.ok(variables["AWS_LAMBDA_LOG_STREAM_NAME"]?.endsWith(`[$LATEST]${lambda.environments()[0]?.id}`));
    assert.equal(variables["AWS_REGION"], "us-east-1");
    assert.equal(variables["LAMBDA_TASK_ROOT"], PACKAGE);
    assert.equal(variables["_HANDLER"], "functions.environment");
    assert.match(String(variables["_X_AMZN_TRACE_ID"]), /^Root=1-[0-9a-f]+-[0-9a-f]{24};/);
    assert.equal(body["descriptors"], "1024");
    assert.deepEqual(body["flags"], ["--max-old-space-size=128"]);
  });

  it("is used again when it is free, and a new one is made when all are busy", async (t) => {
    const { add, call, lambda } = await bench(t);
    const { port, next } = await gate(t);
    add("hold");

    const two = [call("hold", { port }), call("hold", { port })];
    const gates = [await next(), await next()];
    for (const { release } of gates) release();
    await Promise.all(two);
    const third = call("hold", { port });
    const { pid, release } = await next();
    release();
    await third;

    assert.equal(new Set(gates.map((g) => g.pid)).size, 2);
    assert.ok(gates.some((g) => g.pid === pid));
    assert.equal(lambda.environments().length, 2);
  });

  it("stands still between invocations", async (t) => {
    const { add, call, lambda } = await bench(t);
    add("ticking");
    await call("ticking", {});
    const [row] = lambda.environments();
    assert.equal(row?.state, "frozen");
    await untilStopped(row?.pid);

    const frozenUntil = Date.now() + 100;
    await systemClock.sleep(100);
    const { body } = await call("ticking", {});

    // A timer that was due fires once when the process goes on; none fired while it stood still.
    const ticks = body["ticks"] as number[];
    assert.ok(ticks.length > 0);
    assert.deepEqual(
      ticks.filter((at) => at > frozenUntil - 80 && at < frozenUntil - 5),
      [],
    );
  });

  it("is killed when an invocation takes too long", async (t) => {
    const { add, call, lambda, logs } = await bench(t);
    const { port, next } = await gate(t);
    add("hold", { timeoutSeconds: 0.3 });
    const called = call("hold", { port });
    const { pid } = await next();

    const { error, body } = await called;

    assert.equal(error, "Unhandled");
    assert.equal(body["errorType"], "Sandbox.Timedout");
    assert.match(String(body["errorMessage"]), /Task timed out after 0.30 seconds/);
    assert.ok(logs.some((l) => l.line.endsWith("Task timed out after 0.30 seconds")));
    assert.equal(await kernelState(pid), undefined);
    assert.deepEqual(lambda.environments(), []);
  });

  it("can be killed while it works", async (t) => {
    const { add, call, lambda } = await bench(t);
    const { port, next } = await gate(t);
    add("hold");
    const called = call("hold", { port });
    await next();
    const [row] = lambda.environments();
    assert.equal(row?.state, "busy");
    assert.ok(row?.requestId !== undefined);

    assert.equal(lambda.kill(row.id, "SIGKILL"), true);

    const { error, body } = await called;
    assert.equal(error, "Unhandled");
    assert.equal(body["errorType"], "Runtime.ExitError");
    assert.match(String(body["errorMessage"]), /signal: SIGKILL/);
    assert.equal(lambda.kill(row.id, "SIGKILL"), false);
  });

  it("can be paused while it works, and goes on when it is resumed", async (t) => {
    const { add, call, lambda } = await bench(t);
    const { port, next } = await gate(t);
    add("hold");
    const called = call("hold", { port });
    const { pid, release } = await next();
    const [row] = lambda.environments();
    assert.ok(row !== undefined);

    lambda.kill(row.id, "SIGSTOP");
    await untilStopped(pid);
    release();
    lambda.kill(row.id, "SIGCONT");

    assert.deepEqual((await called).body, { pid });
  });

  it("is replaced after it was killed while frozen", async (t) => {
    const { add, call, lambda, until } = await bench(t);
    add("echo");
    const first = await call("echo", {});
    const [row] = lambda.environments();
    assert.ok(row !== undefined);

    lambda.kill(row.id, "SIGKILL");
    await until(() => lambda.environments().length === 0 || lambda.environments()[0]?.state === "ended");
    const second = await call("echo", {});

    assert.notEqual(second.body["pid"], first.body["pid"]);
  });

  it("says why it exited", async (t) => {
    const { add, call } = await bench(t);
    add("exit");
    add("forgotten");

    const exited = await call("exit", {});
    assert.match(String(exited.body["errorMessage"]), /Runtime exited with error: exit status 7/);
    const rejected = await call("forgotten", {});
    assert.equal(rejected.body["errorType"], "Runtime.UnhandledPromiseRejection");
    assert.equal(rejected.body["errorMessage"], "nobody waits for me");
  });

  for (const [handler, type] of [
    ["functions.callback", "Runtime.CallbackHandlerDeprecated"],
    ["functions.absent", "Runtime.HandlerNotFound"],
    ["functions.number", "Runtime.HandlerNotFound"],
    ["nowhere.handler", "Runtime.ImportModuleError"],
    ["broken-import.handler", "Runtime.ImportModuleError"],
    ["nonsense", "Runtime.MalformedHandlerName"],
  ] as const) {
    it(`refuses the handler ${handler} with ${type}`, async (t) => {
      const { add, call, lambda } = await bench(t);
      add("refused", { handler });

      const { error, body } = await call("refused", {});

      assert.equal(error, "Unhandled");
      assert.equal(body["errorType"], type);
      assert.deepEqual(lambda.environments(), []);
    });
  }

  it("is killed when its initialization takes too long", async (t) => {
    const { add, call } = await bench(t, { initTimeoutMs: 200 });
    add("slow", { handler: "slow-init.handler" });

    assert.match(String((await call("slow", {})).body["errorMessage"]), /timed out after 0.20 seconds/);
  });

  it("ends when it has been idle for long", async (t) => {
    const { add, call, lambda, until } = await bench(t, { idleMs: 50 });
    add("echo");
    await call("echo", {});

    await until(() => lambda.environments().every((r) => r.state === "ended"));
  });
});

describe("a deployment", () => {
  it("replaces free environments at once and busy ones after their invocation", async (t) => {
    const { add, call, lambda, until } = await bench(t);
    const { port, next } = await gate(t);
    add("hold", { environment: { VERSION: "1" } });
    const old = call("hold", { port });
    const first = await next();

    lambda.update("hold", { handler: "functions.environment", environment: { VERSION: "2" } });
    const fresh = await call("hold", {});
    first.release();

    assert.equal((fresh.body["variables"] as Record<string, string>)["VERSION"], "2");
    assert.deepEqual((await old).body, { pid: first.pid });
    await until(() => byFunction(lambda.environments(), "hold").filter((r) => r.state !== "ended").length === 1);
    assert.notEqual(lambda.environments().find((r) => r.state === "frozen")?.pid, first.pid);
  });
});

describe("an asynchronous invocation", () => {
  it("is accepted at once and runs by itself", async (t) => {
    const { add, call, logs, until } = await bench(t);
    add("log");

    assert.equal((await call("log", { word: "later" }, { InvocationType: "Event" })).status, 202);

    await until(() => logs.some((l) => l.line.startsWith("REPORT")));
    assert.ok(logs.some((l) => l.line.endsWith("said later")));
  });

  it("is tried again as often as configured and then sent to the failure destination", async (t) => {
    const { add, lambda, failures, logs, until } = await bench(t, { retryDelaysMs: [1, 1] });
    add("fail", { maximumRetryAttempts: 1 });

    assert.equal(lambda.invokeEvent("fail", { why: "always" }), "accepted");
    await until(() => failures.length === 1);

    const [record] = failures;
    assert.equal(record?.requestContext.condition, "RetriesExhausted");
    assert.equal(record?.requestContext.approximateInvokeCount, 2);
    assert.deepEqual(record?.requestPayload, { why: "always" });
    assert.equal((record?.responsePayload as Record<string, unknown> | undefined)?.["errorMessage"], "no good: always");
    const starts = logs.filter((l) => l.line.startsWith("START")).map((l) => l.line);
    assert.equal(starts.length, 2);
    assert.equal(new Set(starts).size, 1, "a retry has the same request id");
  });

  it("is not tried again when no retries are configured", async (t) => {
    const { add, lambda, failures, until } = await bench(t);
    add("fail", { maximumRetryAttempts: 0 });

    lambda.invokeEvent("fail", {});
    await until(() => failures.length === 1);

    assert.equal(failures[0]?.requestContext.approximateInvokeCount, 1);
  });

  it("is dropped when it is too old", async (t) => {
    const { add, lambda, failures, until } = await bench(t, { retryDelaysMs: [30] });
    add("fail", { maximumEventAgeSeconds: 0.02 });

    lambda.invokeEvent("fail", {});
    await until(() => failures.length === 1);

    assert.equal(failures[0]?.requestContext.condition, "EventAgeExceeded");
  });

  it("may come twice", async (t) => {
    const { add, lambda, logs, until } = await bench(t, { duplicateProbability: 1 });
    add("log");

    lambda.invokeEvent("log", { word: "double" });
    await until(() => logs.filter((l) => l.line.endsWith("said double")).length === 2);

    const starts = logs.filter((l) => l.line.startsWith("START")).map((l) => l.line);
    assert.equal(new Set(starts).size, 1, "both carry the same request id");
  });

  it("of an unknown function is refused", async (t) => {
    const { lambda } = await bench(t);

    assert.equal(lambda.invokeEvent("nobody", {}), "notFound");
  });
});

describe("the end of the service", () => {
  it("takes busy, paused and frozen environments with it", async (t) => {
    const { add, call, lambda } = await bench(t);
    const { port, next } = await gate(t);
    add("hold");
    add("echo");
    await call("echo", {});
    const held = [call("hold", { port }), call("hold", { port })].map(async (p) => await p.catch(() => undefined));
    const first = await next();
    await next();
    const rows = lambda.environments();
    const paused = rows.find((r) => r.pid === first.pid);
    assert.ok(paused !== undefined && rows.length === 3);
    lambda.kill(paused.id, "SIGSTOP");

    await lambda.stop();

    for (const { pid } of rows) assert.equal(await kernelState(pid), undefined);
    await assert.rejects(fetch(lambda.url));
    await Promise.all(held);
  });

  it("also comes when its process is killed", async (t) => {
    const parent = spawn(process.execPath, [join(import.meta.dirname, "orphan-parent.ts")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    t.after(() => parent.kill("SIGKILL"));
    const [line] = (await once(createInterface({ input: parent.stdout }), "line")) as [string];
    const pids = JSON.parse(line) as number[];
    assert.equal(pids.length, 2);

    parent.kill("SIGKILL");
    await once(parent, "exit");

    for (const pid of pids) {
      for (let i = 0; i < 200 && (await kernelState(pid)) !== undefined; i += 1) await systemClock.sleep(10);
      assert.equal(await kernelState(pid), undefined);
    }
  });
});

after(() => {
  delete process.env["HAWSER_TEST_CANARY"];
});
