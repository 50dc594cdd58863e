// The inside of an execution environment: loads the handler and works off invocations through the Lambda Runtime API
// (version 2018-06-01). Plain JavaScript, so that it starts as fast as it can and runs under any flags.
import { existsSync } from "node:fs";
import { Agent, request as httpRequest } from "node:http";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { format } from "node:util";

const [hostname, port] = (process.env.AWS_LAMBDA_RUNTIME_API ?? "").split(":");
const agent = new Agent({ keepAlive: true, maxSockets: 1 });
const watched = new WeakSet();
let requestId = "";

/** One call of the Runtime API. */
function call(method, path, body, headers = {}) {
  return new Promise((resolve) => {
    const options = { agent, hostname, port, method, path: `/2018-06-01/runtime/${path}`, headers };
    const request = httpRequest(options, (response) => {
      const chunks = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => resolve({ headers: response.headers, body: Buffer.concat(chunks) }));
      response.on("error", orphaned);
    });
    request.on("socket", (socket) => {
      if (watched.has(socket)) return;
      watched.add(socket);
      socket.once("close", orphaned);
    });
    request.on("error", orphaned);
    request.end(body);
  });
}

/** The connection to the Runtime API has broken: whoever started this environment is gone, and so must it be. */
function orphaned() {
  process.exit(1);
}

/** Lines as the managed runtime writes them: time, request id, level, message; one line for each message. */
function prefixConsole() {
  const levels = { log: "INFO", info: "INFO", debug: "DEBUG", warn: "WARN", error: "ERROR", trace: "TRACE" };
  for (const [method, level] of Object.entries(levels)) {
    console[method] = (...parts) => {
      const message = format(...parts).replaceAll("\n", "\r");
      process.stdout.write(`${new Date().toISOString()}\t${requestId}\t${level}\t${message}\n`);
    };
  }
}

function describe(error, type) {
  const isError = error instanceof Error;
  return JSON.stringify({
    errorType: type ?? (isError ? error.name : typeof error),
    errorMessage: isError ? error.message : String(error),
    trace: isError ? (error.stack ?? "").split("\n") : [],
  });
}

class InitError extends Error {
  constructor(type, message, options) {
    super(message, options);
    this.name = type;
  }
}

async function loadHandler() {
  const [, path, name] = /^(.*)\.([^./]+)$/.exec(process.env["_HANDLER"] ?? "") ?? [];
  if (path === undefined) throw new InitError("Runtime.MalformedHandlerName", "the handler must be FILE.EXPORT");
  const base = join(process.env.LAMBDA_TASK_ROOT ?? "", path);
  const file = [".mjs", ".js", ".cjs"].map((ending) => base + ending).find((candidate) => existsSync(candidate));
  if (file === undefined) throw new InitError("Runtime.ImportModuleError", `there is no ${base}.mjs, .js or .cjs`);
  let module;
  try {
    module = await import(pathToFileURL(file).href);
  } catch (error) {
    if (error instanceof SyntaxError) {
      throw new InitError("Runtime.UserCodeSyntaxError", `${file}: ${error.message}`, { cause: error });
    }
    if (error?.code === "ERR_MODULE_NOT_FOUND") {
      throw new InitError("Runtime.ImportModuleError", error.message, { cause: error });
    }
    throw error;
  }
  const handler = module[name] ?? module.default?.[name];
  if (typeof handler !== "function") {
    throw new InitError("Runtime.HandlerNotFound", `${file} does not export a function ${name}`);
  }
  if (handler.length > 2) {
    throw new InitError(
      "Runtime.CallbackHandlerDeprecated",
      `${name} takes a callback; handlers with callbacks are gone since Node.js 24: return a promise`,
    );
  }
  return handler;
}

function contextOf(headers) {
  const deadline = Number(headers["lambda-runtime-deadline-ms"]);
  const clientContext = headers["lambda-runtime-client-context"];
  return {
    callbackWaitsForEmptyEventLoop: true,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    functionVersion: process.env.AWS_LAMBDA_FUNCTION_VERSION,
    memoryLimitInMB: process.env.AWS_LAMBDA_FUNCTION_MEMORY_SIZE,
    logGroupName: process.env.AWS_LAMBDA_LOG_GROUP_NAME,
    logStreamName: process.env.AWS_LAMBDA_LOG_STREAM_NAME,
    invokedFunctionArn: headers["lambda-runtime-invoked-function-arn"],
    awsRequestId: headers["lambda-runtime-aws-request-id"],
    clientContext: clientContext === undefined ? undefined : JSON.parse(clientContext),
    getRemainingTimeInMillis: () => deadline - Date.now(),
  };
}

async function refuse(path, body) {
  const { errorType } = JSON.parse(body);
  await call("POST", path, body, { "lambda-runtime-function-error-type": errorType });
}

/** What nobody caught ends the environment, after it was reported for the invocation under way. */
async function die(error, type, code) {
  console.error("Uncaught", error);
  await refuse(requestId === "" ? "init/error" : `invocation/${requestId}/error`, describe(error, type));
  process.exit(code);
}

async function work(handler) {
  const next = await call("GET", "invocation/next");
  requestId = next.headers["lambda-runtime-aws-request-id"];
  process.env["_X_AMZN_TRACE_ID"] = next.headers["lambda-runtime-trace-id"] ?? "";
  try {
    const result = await handler(JSON.parse(next.body.toString("utf8")), contextOf(next.headers));
    await call("POST", `invocation/${requestId}/response`, JSON.stringify(result) ?? "null");
  } catch (error) {
    console.error("Invoke Error", describe(error));
    await refuse(`invocation/${requestId}/error`, describe(error));
  }
}

prefixConsole();
process.on("uncaughtException", (error) => void die(error, undefined, 129));
process.on("unhandledRejection", (reason) => void die(reason, "Runtime.UnhandledPromiseRejection", 128));
try {
  const handler = await loadHandler();
  for (;;) await work(handler);
} catch (error) {
  await refuse("init/error", describe(error));
  process.exit(1);
}
