import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { startTlsServer, type TlsHandler, type TlsServerOptions } from "../support/tls-server.ts";
import { ANNOUNCE, ANNOUNCES, announce, CALL, clientTo, SECRETS, serverFor, status, TOKEN } from "./client-fixture.ts";

async function withServer(
  t: TestContext,
  handler: TlsHandler,
  body: (
    context: ReturnType<typeof clientTo> & { server: Awaited<ReturnType<typeof startTlsServer>> },
  ) => Promise<void>,
  options: TlsServerOptions = {},
): Promise<void> {
  const server = await serverFor(t, handler, options);
  const made = clientTo(t, server);
  await body({ ...made, server });
}

for (const http2 of [true, false]) {
  test(`sends a merge patch as one request over HTTP/${http2 ? "2" : "1.1"}`, async (t) => {
    await withServer(
      t,
      (_request, reply) =>
        reply.send(200, announce({ spec: { x: 1 } }), { date: new Date(Date.now() + 60_000).toUTCString() }),
      async ({ client, server }) => {
        const patch = { metadata: { annotations: { "touch-ts": "now" } } };

        const result = await client.mergePatch(ANNOUNCE, patch, CALL);

        assert.ok(result.ok);
        assert.deepEqual(result.value.object["spec"], { x: 1 });
        assert.ok(Math.abs((result.value.clockAheadMs ?? 0) - 60_000) < 2000);
        const [request] = server.received;
        assert.equal(server.received.length, 1);
        assert.equal(request?.httpVersion, http2 ? "2.0" : "1.1");
        assert.equal(request?.method, "PATCH");
        assert.equal(
          request?.url,
          "/apis/multicluster.crd.antrea.io/v1alpha1/namespaces/antrea-mc/memberclusterannounces/member-announce-from-east?timeout=4500ms",
        );
        assert.equal(request?.headers["content-type"], "application/merge-patch+json");
        assert.equal(request?.headers["authorization"], `Bearer ${TOKEN}`);
        assert.equal(request?.headers["user-agent"], "hawser/9.9.9");
        assert.deepEqual(JSON.parse(request?.body ?? ""), patch);
      },
      { http2 },
    );
  });
}

test("reuses one connection for requests that follow each other", async (t) => {
  await withServer(
    t,
    (_request, reply) => reply.send(200, announce()),
    async ({ client, server, connections }) => {
      for (let i = 0; i < 20; i += 1) assert.ok((await client.get(ANNOUNCE, CALL)).ok);

      assert.equal(server.connections(), 1);
      assert.equal(connections.stats.opened, 1);
    },
  );
});

test("creates, updates and patches status with explicit JSON types", async (t) => {
  await withServer(
    t,
    (_request, reply) => reply.send(201, announce(), { warning: '299 - "old version"' }),
    async ({ client, server }) => {
      assert.ok((await client.create(ANNOUNCES, "antrea-mc", announce(), CALL)).ok);
      assert.ok((await client.update(ANNOUNCE, announce(), CALL)).ok);
      assert.ok((await client.updateStatus(ANNOUNCE, announce(), CALL)).ok);
      assert.ok((await client.mergePatchStatus(ANNOUNCE, {}, CALL)).ok);

      const seen = server.received.map((r) => [
        r.method,
        r.url.split("?")[0]?.split("/").at(-1),
        r.headers["content-type"],
      ]);
      assert.deepEqual(seen, [
        ["POST", "memberclusterannounces", "application/json"],
        ["PUT", "member-announce-from-east", "application/json"],
        ["PUT", "status", "application/json"],
        ["PATCH", "status", "application/merge-patch+json"],
      ]);
    },
  );
});

test("deletes with preconditions in the body", async (t) => {
  await withServer(
    t,
    (_request, reply) => reply.send(200, { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success" }),
    async ({ client, server }) => {
      const result = await client.delete(ANNOUNCE, { uid: "u-1", resourceVersion: "7" }, CALL);

      assert.ok(result.ok);
      assert.deepEqual(JSON.parse(server.received[0]?.body ?? ""), {
        apiVersion: "v1",
        kind: "DeleteOptions",
        preconditions: { uid: "u-1", resourceVersion: "7" },
      });
    },
  );
});

test("never sends a request whose name would make it address something else", async (t) => {
  await withServer(
    t,
    (_request, reply) => reply.send(200, announce()),
    async ({ client, server }) => {
      for (const name of ["", ".", "..", "a/b", "a%2fb"]) {
        const result = await client.delete({ ...ANNOUNCE, name }, {}, CALL);
        assert.equal(result.ok ? "sent" : result.error.kind, "invalid");
      }
      const result = await client.list(SECRETS, "", CALL);
      assert.equal(result.ok ? "sent" : result.error.kind, "invalid");
      assert.equal(server.received.length, 0);
    },
  );
});

test("keeps the path prefix of the server URL in front of the API", async (t) => {
  const server = await serverFor(t, (_request, reply) => reply.send(200, "ok"));
  const { client } = clientTo(t, { ...server, url: `${server.url}/k8s/clusters/c-1/` });

  const result = await client.getText("/livez", CALL);

  assert.equal(result.ok ? result.value.object : result.error.message, "ok");
  assert.equal(server.received[0]?.url, "/k8s/clusters/c-1/livez");
});

test("lists page by page and answers the list's resourceVersion", async (t) => {
  const pages = [
    { metadata: { resourceVersion: "9", continue: "c1" }, items: [announce({ n: 1 }), announce({ n: 2 })] },
    { metadata: { resourceVersion: "9" }, items: [announce({ n: 3 })] },
  ];
  await withServer(
    t,
    (request, reply) => reply.send(200, pages[request.url.includes("continue=c1") ? 1 : 0]),
    async ({ client, server }) => {
      const result = await client.list(ANNOUNCES, "antrea-mc", { ...CALL, labelSelector: "a in (b,c)" });

      assert.ok(result.ok);
      assert.deepEqual(
        result.value.items.map((item) => item["n"]),
        [1, 2, 3],
      );
      assert.equal(result.value.resourceVersion, "9");
      assert.match(server.received[0]?.url ?? "", /limit=500&labelSelector=a\+in\+%28b%2Cc%29&timeout=/);
    },
  );
});

test("starts a list over once when a later page is gone, and mixes no pages", async (t) => {
  let firstPages = 0;
  await withServer(
    t,
    (request, reply) => {
      if (request.url.includes("continue=")) {
        if (firstPages === 1)
          return reply.send(410, status(410, "Expired", "The provided continue parameter is too old"));
        return reply.send(200, { metadata: { resourceVersion: "20" }, items: [announce({ n: "b2" })] });
      }
      firstPages += 1;
      const items = [announce({ n: firstPages === 1 ? "a1" : "b1" })];
      reply.send(200, { metadata: { resourceVersion: firstPages === 1 ? "10" : "20", continue: "c" }, items });
    },
    async ({ client }) => {
      const result = await client.list(ANNOUNCES, "antrea-mc", CALL);

      assert.ok(result.ok);
      assert.deepEqual(
        result.value.items.map((item) => item["n"]),
        ["b1", "b2"],
      );
      assert.equal(result.value.resourceVersion, "20");
    },
  );
});

test("gives a list up when it is gone a second time", async (t) => {
  await withServer(
    t,
    (request, reply) =>
      request.url.includes("continue=")
        ? reply.send(410, status(410, "Expired", "too old"))
        : reply.send(200, { metadata: { resourceVersion: "1", continue: "c" }, items: [announce()] }),
    async ({ client, server }) => {
      const result = await client.list(ANNOUNCES, "antrea-mc", CALL);

      assert.equal(result.ok ? "list" : result.error.kind, "gone");
      assert.equal(server.received.length, 4);
    },
  );
});

test("takes a list without items for an empty one, and a body that is no list for an error", async (t) => {
  const bodies: unknown[] = [
    { metadata: { resourceVersion: "3" }, items: null },
    { metadata: {}, items: "x" },
  ];
  await withServer(
    t,
    (_request, reply) => reply.send(200, bodies.shift()),
    async ({ client }) => {
      const empty = await client.list(ANNOUNCES, "antrea-mc", CALL);
      const wrong = await client.list(ANNOUNCES, "antrea-mc", CALL);

      assert.deepEqual(empty, { ok: true, value: { items: [], resourceVersion: "3" } });
      assert.equal(wrong.ok ? "list" : wrong.error.kind, "unexpected");
    },
  );
});
