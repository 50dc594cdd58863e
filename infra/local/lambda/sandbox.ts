import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import type { Clock } from "../../../lib/base/clock.ts";
import { type HttpReply, type HttpRequest, type LoopbackServer, startLoopbackServer } from "../aws/loopback-server.ts";
import { environmentVariables, type Place } from "./environment-variables.ts";
import { type FunctionDefinition, failureOf, type Invocation, type InvocationResult } from "./function-definition.ts";
import { InvocationLog } from "./invocation-log.ts";
import type { Watchdog } from "./watchdog.ts";

/** `starting` until the handler is loaded, `busy` with an invocation, `frozen` between two. */
export type SandboxState = "starting" | "busy" | "frozen" | "ended";

/** What an environment is made of. */
export interface SandboxOptions {
  readonly id: string;
  readonly definition: FunctionDefinition;
  readonly place: Place;
  readonly sharedVariables: Readonly<Record<string, string>>;
  readonly initTimeoutMs: number;
  readonly clock: Clock;
  readonly watchdog: Watchdog;
  readonly onLine: (line: string) => void;
  readonly onState: (sandbox: Sandbox) => void;
}

interface Work {
  readonly invocation: Invocation;
  readonly done: PromiseWithResolvers<InvocationResult>;
  startedMs: number;
  outcome?: Pick<InvocationResult, "payload" | "functionError">;
}

const MAX_DESCRIPTORS = 1024;
const MAX_RESPONSE_BYTES = 6 * 1024 * 1024 + 100;
const API = "/2018-06-01/runtime/";

/**
 * One execution environment: a process of its own that speaks the Lambda Runtime API, frozen whenever it has nothing to
 * do and killed when an invocation takes too long. An invocation is over when the process asks for the next one, as for
 * Lambda: until then it may still use the processor.
 */
export class Sandbox {
  readonly id: string;
  readonly definition: FunctionDefinition;
  state: SandboxState = "starting";
  since: Date;
  readonly #options: SandboxOptions;
  readonly #log: InvocationLog;
  readonly #startedMs: number;
  readonly #ended = Promise.withResolvers<void>();
  readonly #timers = new AbortController();
  #server: LoopbackServer | undefined;
  #process: ChildProcess | undefined;
  #timer = new AbortController();
  #waiting: PromiseWithResolvers<HttpReply> | undefined;
  #work: Work | undefined;
  #initMs: number | undefined;
  #failure: Pick<InvocationResult, "payload" | "functionError"> | undefined;

  constructor(options: SandboxOptions) {
    this.#options = options;
    this.id = options.id;
    this.definition = options.definition;
    this.since = options.clock.now();
    this.#startedMs = options.clock.monotonicMs();
    this.#log = new InvocationLog(options.onLine);
  }

  /** The process id; undefined until it is started. */
  get pid(): number | undefined {
    return this.#process?.pid;
  }

  /** The invocation under way. */
  get requestId(): string | undefined {
    return this.#work?.invocation.requestId;
  }

  /** Settles when the process has gone and its port is free. */
  get ended(): Promise<void> {
    return this.#ended.promise;
  }

  /** Runs one invocation; the first one also starts the process. Not to be called before the last one is over. */
  async invoke(invocation: Invocation): Promise<InvocationResult> {
    const done = Promise.withResolvers<InvocationResult>();
    this.#work = { invocation, done, startedMs: this.#options.clock.monotonicMs() };
    this.#log.begin(this.#process === undefined);
    if (this.#process === undefined) await this.#start();
    else this.#handOver();
    return await done.promise;
  }

  /** Sends a signal to the process and all that it started. */
  signal(name: NodeJS.Signals): void {
    const pid = this.#process?.pid;
    if (pid === undefined || this.state === "ended") return;
    try {
      process.kill(-pid, name);
    } catch (error) {
      // ESRCH: it has just gone by itself.
      if ((error as NodeJS.ErrnoException).code !== "ESRCH") throw error;
    }
  }

  /** Kills the process and waits until it has gone. */
  async end(): Promise<void> {
    if (this.state !== "ended") this.#failure ??= failureOf("Runtime.ExitError", "the environment was ended");
    if (this.#process === undefined) await this.#gone("ended before it was started");
    else this.signal("SIGKILL");
    await this.ended;
  }

  async #start(): Promise<void> {
    const { definition, place, sharedVariables, clock, watchdog } = this.#options;
    this.#server = await startLoopbackServer(async (request) => await this.#serve(request));
    if (this.state === "ended") {
      await this.#server.stop();
      return;
    }
    const day = clock.now().toISOString().slice(0, 10).replaceAll("-", "/");
    const runtime = { api: new URL(this.#server.url).host, logStream: `${day}/[$LATEST]${this.id}` };
    const node = [
      process.execPath,
      `--max-old-space-size=${definition.memoryMb}`,
      join(import.meta.dirname, "bootstrap.mjs"),
    ];
    // The shell is there for the limit alone, and becomes the process itself.
    const child = spawn("/bin/sh", ["-c", `ulimit -n ${MAX_DESCRIPTORS} && exec "$0" "$@"`, ...node], {
      cwd: definition.taskRoot,
      env: environmentVariables(definition, place, runtime, sharedVariables),
      stdio: ["ignore", "pipe", "pipe"],
      detached: true,
    });
    this.#process = child;
    if (child.pid !== undefined) watchdog.add(child.pid);
    this.#log.follow(child.stdout);
    this.#log.follow(child.stderr);
    child.on("error", (error) => void this.#gone(`could not be started: ${error.message}`));
    // Whatever it has started itself goes with it; the rest of its output is still read.
    child.on("exit", () => this.signal("SIGKILL"));
    child.on("close", (code, signal) => {
      if (child.pid !== undefined) watchdog.remove(child.pid);
      void this.#gone(signal === null ? `exit status ${code}` : `signal: ${signal}`);
    });
    this.#limit(this.#options.initTimeoutMs);
    this.#options.onState(this);
  }

  async #serve(request: HttpRequest): Promise<HttpReply> {
    const path = request.path.startsWith(API) ? request.path.slice(API.length) : "";
    if (request.method === "GET" && path === "invocation/next") return await this.#next();
    const [, id, kind] = /^invocation\/([^/]+)\/(response|error)$/.exec(path) ?? [];
    if (request.method !== "POST" || (path !== "init/error" && id === undefined)) return status(404, "NotFound");
    const payload = request.body.toString("utf8");
    if (path === "init/error") {
      this.#failure ??= { payload, functionError: "Unhandled" };
      return status(202);
    }
    const work = this.#work;
    if (work === undefined || work.invocation.requestId !== id || work.outcome !== undefined) {
      return status(400, "InvalidRequestID");
    }
    if (request.body.length > MAX_RESPONSE_BYTES) {
      work.outcome = failureOf(
        "Function.ResponseSizeTooLarge",
        "Response payload size exceeded maximum allowed (6291556 bytes).",
      );
      return status(413, "RequestEntityTooLarge");
    }
    work.outcome = kind === "error" ? { payload, functionError: "Unhandled" } : { payload };
    return status(202);
  }

  /** The process has nothing to do any more: what it did is over, and it gets the next invocation or is frozen. */
  async #next(): Promise<HttpReply> {
    const waiting = Promise.withResolvers<HttpReply>();
    this.#waiting = waiting;
    this.#timer.abort();
    this.#initMs ??= this.#options.clock.monotonicMs() - this.#startedMs;
    const work = this.#work;
    if (work?.outcome !== undefined) {
      // What was written to the log before is still on its way through the pipe.
      await new Promise<void>((resolve) => setImmediate(resolve));
      if (this.#work === work) this.#finish(work, work.outcome);
    } else if (work !== undefined) {
      this.#handOver();
    }
    return await waiting.promise;
  }

  #handOver(): void {
    const [work, waiting] = [this.#work, this.#waiting];
    if (work === undefined || waiting === undefined) return;
    this.#waiting = undefined;
    const { invocation } = work;
    const timeoutMs = this.definition.timeoutSeconds * 1000;
    work.startedMs = this.#options.clock.monotonicMs();
    this.#log.write(`START RequestId: ${invocation.requestId} Version: $LATEST`);
    this.signal("SIGCONT");
    this.#become("busy");
    this.#limit(timeoutMs);
    waiting.resolve({
      status: 200,
      headers: {
        "content-type": "application/json",
        "lambda-runtime-aws-request-id": invocation.requestId,
        "lambda-runtime-deadline-ms": String(Math.round(this.#options.clock.now().getTime() + timeoutMs)),
        "lambda-runtime-invoked-function-arn": invocation.functionArn,
        "lambda-runtime-trace-id": invocation.traceId,
        ...(invocation.clientContext === undefined
          ? {}
          : { "lambda-runtime-client-context": invocation.clientContext }),
      },
      body: invocation.payload,
    });
  }

  /** Kills the process when it has not asked for the next invocation in time. */
  #limit(ms: number): void {
    const timer = new AbortController();
    this.#timer = timer;
    const signal = AbortSignal.any([timer.signal, this.#timers.signal]);
    void this.#options.clock.sleep(ms, signal).then(() => {
      if (signal.aborted) return;
      const text = `Task timed out after ${(ms / 1000).toFixed(2)} seconds`;
      this.#log.write(`${this.#options.clock.now().toISOString()} ${this.requestId ?? "-"} ${text}`);
      this.#failure ??= failureOf("Sandbox.Timedout", `RequestId: ${this.requestId ?? "-"} Error: ${text}`);
      this.signal("SIGKILL");
    });
  }

  async #gone(how: string): Promise<void> {
    if (this.state === "ended") return;
    this.#timers.abort();
    this.#waiting?.resolve("reset");
    this.#become("ended");
    const work = this.#work;
    if (work !== undefined) {
      const text = `RequestId: ${work.invocation.requestId} Error: Runtime exited with error: ${how}`;
      this.#finish(work, work.outcome ?? this.#failure ?? failureOf("Runtime.ExitError", text));
    }
    await this.#server?.stop();
    this.#ended.resolve();
  }

  #finish(work: Work, outcome: Pick<InvocationResult, "payload" | "functionError">): void {
    const { requestId } = work.invocation;
    const ms = this.#options.clock.monotonicMs() - work.startedMs;
    const init = this.#initMs === undefined || this.#initMs < 0 ? "" : `\tInit Duration: ${this.#initMs.toFixed(2)} ms`;
    // Reported once, with the first invocation.
    this.#initMs = -1;
    this.#log.write(`END RequestId: ${requestId}`);
    this.#log.write(
      `REPORT RequestId: ${requestId}\tDuration: ${ms.toFixed(2)} ms\tBilled Duration: ${Math.ceil(ms)} ms\tMemory Size: ${this.definition.memoryMb} MB${init}`,
    );
    this.#work = undefined;
    if (this.state !== "ended") {
      this.signal("SIGSTOP");
      this.#become("frozen");
    }
    work.done.resolve({ ...outcome, logTail: this.#log.tail });
  }

  #become(state: SandboxState): void {
    this.state = state;
    this.since = this.#options.clock.now();
    this.#options.onState(this);
  }
}

function status(code: number, errorType?: string): HttpReply {
  return {
    status: code,
    headers: { "content-type": "application/json" },
    body: JSON.stringify(errorType === undefined ? { status: "OK" } : { errorType, errorMessage: errorType }),
  };
}
