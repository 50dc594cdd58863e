import assert from "node:assert/strict";
import { describe, type TestContext, test } from "node:test";
import { readWatchLine, type WatchEnd, type WatchEvent, type WatchOptions } from "../../lib/kube/watch.ts";
import type { TlsHandler } from "../support/tls-server.ts";
import { ANNOUNCES, clientTo, serverFor, status, TOKEN } from "./client-fixture.ts";

const WATCH: WatchOptions = { resourceVersion: "7", answerMs: 2_000, idleMs: 5_000, forMs: 60_000 };
const JSON_HEAD = { "content-type": "application/json" };

function line(type: string, resourceVersion: string, name = "a"): string {
  const metadata = type === "BOOKMARK" ? { resourceVersion } : { name, resourceVersion };
  return `${JSON.stringify({ type, object: { kind: "MemberClusterAnnounce", apiVersion: "x/v1", metadata } })}\n`;
}

async function watched(t: TestContext, handler: TlsHandler, more: Partial<WatchOptions> = {}, http2 = true) {
  const server = await serverFor(t, handler, { http2 });
  const { client } = clientTo(t, server);
  const events: WatchEvent[] = [];
  const end = await client.watch(ANNOUNCES, "antrea-mc", { ...WATCH, ...more }, (event) => events.push(event));
  return { end, events, server, versions: events.map((event) => `${event.kind} ${event.resourceVersion}`) };
}

function errorOf(end: WatchEnd) {
  assert.ok(end.kind === "failed", end.kind);
  return end.error;
}

describe("a watch", () => {
  for (const http2 of [true, false]) {
    test(`hands events and bookmarks on in order, however they are cut, over HTTP/${http2 ? "2" : "1.1"}`, async (t) => {
      const text = line("ADDED", "8") + line("MODIFIED", "9", "süß") + line("BOOKMARK", "12") + line("DELETED", "13");
      const { end, versions, events, server } = await watched(
        t,
        (_request, reply) => {
          const bytes = Buffer.from(text);
          reply.begin(200, JSON_HEAD, bytes.subarray(0, 70).toString("utf8"));
          reply.part(bytes.subarray(70).toString("utf8"));
          reply.end();
        },
        {},
        http2,
      );

      assert.deepEqual(end, { kind: "ended" });
      assert.deepEqual(versions, ["added 8", "modified 9", "bookmark 12", "deleted 13"]);
      const second = events[1];
      assert.ok(second?.kind === "modified" && second.object.metadata.name === "süß");
      assert.equal(
        server.received[0]?.url,
        "/apis/multicluster.crd.antrea.io/v1alpha1/namespaces/antrea-mc/memberclusterannounces" +
          "?watch=true&allowWatchBookmarks=true&resourceVersion=7&timeoutSeconds=60",
      );
      assert.equal(server.received.length, 1);
    });
  }

  test("hands on what came before an ERROR event, and names an outdated version in both of its forms", async (t) => {
    const gone = status(410, "Expired", "too old resource version: 7 (900)");
    const { end, versions } = await watched(t, (_request, reply) =>
      reply.send(200, `${line("ADDED", "8")}${JSON.stringify({ type: "ERROR", object: gone })}\n`, JSON_HEAD),
    );
    assert.deepEqual(versions, ["added 8"]);
    assert.equal(errorOf(end).kind, "gone");

    const refused = await watched(t, (_request, reply) => reply.send(410, gone));
    assert.equal(errorOf(refused.end).kind, "gone");
  });

  test("takes a version that the server has not reached yet for another history", async (t) => {
    const more = {
      details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
    };
    const { end } = await watched(t, (_request, reply) =>
      reply.send(504, status(504, "Timeout", "Too large resource version: 900, current: 5", more)),
    );
    assert.equal(errorOf(end).kind, "gone");
  });

  test("says what a refusal says, without the token", async (t) => {
    for (const [code, reason, kind] of [
      [401, "Unauthorized", "unauthorized"],
      [403, "Forbidden", "forbidden"],
      [404, "NotFound", "notFound"],
      [429, "TooManyRequests", "tooManyRequests"],
      [500, "InternalError", "unavailable"],
    ] as const) {
      const { end } = await watched(t, (_request, reply) => reply.send(code, status(code, reason, `no, ${TOKEN}`)));
      const error = errorOf(end);
      assert.equal(error.kind, kind);
      assert.match(error.message, /^watch memberclusterannounces antrea-mc: /);
      assert.doesNotMatch(error.message, new RegExp(TOKEN));
    }
  });

  test("that answers with a page or with broken JSON is no Kubernetes watch", async (t) => {
    for (const body of [
      "<html>maintenance</html>\n",
      '{"type":"ADDED","object":{"metadata":{}}}\n',
      '{"type":"ADDED"\n',
    ]) {
      const { end } = await watched(t, (_request, reply) => reply.send(200, body, { "content-type": "text/html" }));
      assert.equal(errorOf(end).kind, "unexpected");
    }
  });

  test("passes over types that are not known, and what did not come whole", async (t) => {
    const { end, versions } = await watched(t, (_request, reply) => {
      reply.begin(200, JSON_HEAD, line("PAUSED", "8") + line("ADDED", "9"));
      reply.part('{"type":"MODIFIED","object":{"metadata":{"na');
      reply.end();
    });
    assert.deepEqual([end.kind, versions], ["ended", ["added 9"]]);
  });

  test("is given up when nothing comes, before the answer and after it", async (t) => {
    const silent = await watched(t, (_request, reply) => reply.begin(200, JSON_HEAD, line("ADDED", "8")), {
      idleMs: 80,
    });
    assert.deepEqual([silent.end, silent.versions], [{ kind: "silent" }, ["added 8"]]);

    const { end } = await watched(t, () => undefined, { answerMs: 80 });
    assert.equal(errorOf(end).kind, "timeout");
  });

  test("is broken when its connection is, and what came before counts", async (t) => {
    const { end, versions } = await watched(t, (_request, reply) => {
      reply.begin(200, JSON_HEAD, line("ADDED", "8"));
      setTimeout(() => reply.reset(), 20);
    });
    assert.equal(errorOf(end).kind, "network");
    assert.deepEqual(versions, ["added 8"]);
  });

  test("ends with the caller's signal, also before it was sent", async (t) => {
    const ending = new AbortController();
    const { end } = await watched(
      t,
      (_request, reply) => {
        reply.begin(200, JSON_HEAD, line("ADDED", "8"));
        ending.abort();
      },
      { signal: ending.signal },
    );
    assert.deepEqual(end, { kind: "stopped" });
    const again = await watched(t, () => undefined, { signal: ending.signal });
    assert.deepEqual([again.end, again.server.received.length], [{ kind: "stopped" }, 0]);
  });

  test("is asked by a client on a connection of its own once its credential was refused", async (t) => {
    let refuse = true;
    const server = await serverFor(t, (_request, reply) => {
      if (refuse) reply.send(401, status(401, "Unauthorized", "no"));
      else reply.send(200, line("ADDED", "8"), JSON_HEAD);
    });
    const { client, connections } = clientTo(t, server);
    const ask = () => client.watch(ANNOUNCES, "antrea-mc", WATCH, () => undefined);
    assert.equal(errorOf(await ask()).kind, "unauthorized");
    refuse = false;
    assert.deepEqual(await ask(), { kind: "ended" });
    assert.equal(connections.stats.opened, 2);
  });
});

test("a line of a watch with a type but no object is malformed, an empty one is nothing", () => {
  assert.deepEqual(readWatchLine('{"type":"ADDED"}'), { kind: "malformed" });
  assert.deepEqual(readWatchLine("[]"), { kind: "malformed" });
  assert.equal(readWatchLine(" \r"), undefined);
  assert.deepEqual(readWatchLine('{"type":"ERROR","object":null}'), { kind: "error", object: null });
});
