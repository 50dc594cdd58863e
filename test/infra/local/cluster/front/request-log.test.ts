import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestLog, type RequestLogEntry } from "../../../../../infra/local/cluster/front/request-log.ts";

function entry(path: string): RequestLogEntry {
  return {
    atMs: 0,
    durationMs: 1,
    verb: "get",
    path,
    group: undefined,
    resource: undefined,
    subresource: undefined,
    namespace: undefined,
    name: undefined,
    user: "u",
    status: 200,
    complete: true,
    protocol: "HTTP/2",
    connection: 1,
    bytesIn: 1,
    bytesOut: 1,
    userAgent: undefined,
  };
}

test("the oldest entries are forgotten, the count goes on", () => {
  const log = new RequestLog(3);

  for (const path of ["a", "b", "c", "d", "e"]) log.append(entry(path));

  assert.deepEqual(
    log.entries().map((e) => e.path),
    ["c", "d", "e"],
  );
  assert.equal(log.total, 5);
});

test("listeners hear of what comes until they stop", () => {
  const log = new RequestLog();
  const heard: string[] = [];
  const stop = log.subscribe((e) => heard.push(e.path));

  log.append(entry("a"));
  stop();
  log.append(entry("b"));

  assert.deepEqual(heard, ["a"]);
});

test("the next fitting request is waited for, until the signal fires", async () => {
  const log = new RequestLog();
  const next = log.next((e) => e.path === "b");
  const ended = new AbortController();
  const never = log.next((e) => e.path === "z", ended.signal);

  log.append(entry("a"));
  log.append(entry("b"));
  ended.abort(new Error("enough"));

  assert.equal((await next).path, "b");
  await assert.rejects(never, /enough/);
});
