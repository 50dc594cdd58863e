// Handlers for the tests of the Lambda service.
import { execFileSync } from "node:child_process";
import { once } from "node:events";
import { createConnection } from "node:net";

let calls = 0;

export async function echo(event, context) {
  calls += 1;
  return {
    event,
    calls,
    pid: process.pid,
    requestId: context.awsRequestId,
    arn: context.invokedFunctionArn,
    remainingMs: context.getRemainingTimeInMillis(),
    name: context.functionName,
  };
}

export async function environment() {
  const descriptors = execFileSync("/bin/sh", ["-c", "ulimit -n"], { encoding: "utf8" }).trim();
  return { variables: process.env, descriptors, flags: process.execArgv };
}

/** Tells a listener on `event.port` that it works, and returns when that closes the connection. */
export async function hold(event) {
  const socket = createConnection(event.port, "127.0.0.1");
  socket.write(`${process.pid}\n`);
  socket.resume();
  await once(socket, "close");
  return { pid: process.pid };
}

/** Ticks for ever, also after it has returned. */
export async function ticking() {
  const first = Date.now();
  const ticks = (globalThis.ticks ??= []);
  globalThis.timer ??= setInterval(() => ticks.push(Date.now()), 5);
  await new Promise((resolve) => setTimeout(resolve, 30));
  return { first, ticks: ticks.splice(0) };
}

export async function log(event) {
  console.log("said", event.word);
  console.error("two\nlines");
  process.stdout.write("raw\n");
  return null;
}

export async function fail(event) {
  throw new TypeError(`no good: ${event.why ?? ""}`);
}

export async function exit() {
  process.exit(7);
}

/** Works until it is killed. */
export async function forever() {
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}

export async function forgotten() {
  void Promise.reject(new Error("nobody waits for me"));
  await new Promise((resolve) => setTimeout(resolve, 10_000));
}

export function callback(event, context, done) {
  done(null, event);
}

export const number = 5;
