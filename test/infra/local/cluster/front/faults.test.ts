import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import type { FaultAction } from "../../../../../infra/local/cluster/faults/faults.ts";
import { Faults } from "../../../../../infra/local/cluster/faults/faults.ts";
import { startFaultsControl } from "../../../../../infra/local/cluster/faults/faults-control.ts";
import { seededRandom } from "../../../../support/seeded-random.ts";
import { CONFIG_MAPS, call, configMap, connect, startCluster } from "./cluster-under-test.ts";

test("a fault hits only what it names, as often as it says", () => {
  const faults = new Faults(seededRandom(1));
  const fault = faults.add({
    match: {
      verbs: ["patch"],
      resource: "memberclusterannounces",
      namespace: "common",
      name: "*-east",
      user: "system:*",
    },
    action: { kind: "hang" },
    times: 2,
  });
  const beat = {
    verb: "patch",
    path: "/p",
    resource: "memberclusterannounces",
    namespace: "common",
    name: "member-announce-from-east",
    user: "system:serviceaccount:common:east",
  };
  const hits = (subject: typeof beat): number => faults.plan(subject).before.length;

  assert.deepEqual(
    [
      { ...beat, verb: "get" },
      { ...beat, namespace: "commons" },
      { ...beat, name: "member-announce-from-west" },
      { ...beat, user: "jane" },
    ].map(hits),
    [0, 0, 0, 0],
  );
  assert.deepEqual([beat, beat, beat].map(hits), [1, 1, 0]);
  assert.equal(fault.hits, 2);
  assert.equal(faults.list().length, 0);
});

test("a probability hits its part of the requests, the same ones for the same seed", () => {
  const run = (seed: number): string => {
    const faults = new Faults(seededRandom(seed));
    faults.add({ action: { kind: "reset" }, probability: 0.25 });
    const subject = { verb: "get", path: "/" };
    return Array.from({ length: 1000 }, () => faults.plan(subject).before.length).join("");
  };

  const hits = run(7).split("1").length - 1;

  assert.ok(hits > 200 && hits < 300, `${hits} of 1000`);
  assert.equal(run(7), run(7));
});

for (const allowH2 of [false, true]) {
  const protocol = allowH2 ? "HTTP/2" : "HTTP/1.1";
  const setUp = async (t: Parameters<typeof startCluster>[0], action: FaultAction) => {
    const { cluster, clock } = await startCluster(t);
    cluster.faults.add({ match: { resource: "configmaps" }, action, times: 1 });
    return { cluster, clock, client: connect(t, cluster, { allowH2 }) };
  };

  test(`status over ${protocol}: code, reason, headers`, async (t) => {
    const action = { kind: "status", code: 429, message: "slow down", headers: { "retry-after": "3" } } as const;
    const { client } = await setUp(t, action);

    const answer = await call(client, "GET", CONFIG_MAPS);

    assert.deepEqual([answer.status, answer.headers["retry-after"]], [429, "3"]);
    assert.deepEqual([answer.json["reason"], answer.json["message"]], ["TooManyRequests", "slow down"]);
    assert.equal((await call(client, "GET", CONFIG_MAPS)).status, 200);
  });

  test(`a foreign body over ${protocol}`, async (t) => {
    const headers = { "content-type": "text/html" };
    const { client } = await setUp(t, { kind: "status", code: 502, body: "<html>", headers });

    const answer = await call(client, "GET", CONFIG_MAPS);

    assert.deepEqual([answer.status, answer.text, answer.headers["content-type"]], [502, "<html>", "text/html"]);
  });

  test(`latency over ${protocol} lasts as long as it says`, async (t) => {
    const { cluster, clock, client } = await setUp(t, { kind: "latency", ms: 2000 });
    const received = cluster.requestLog.nextReceived((e) => e.resource === "configmaps");
    const answer = call(client, "GET", CONFIG_MAPS);
    await received;

    await clock.advance(2000);

    assert.equal((await answer).status, 200);
    assert.ok((cluster.requestLog.entries().at(-1)?.durationMs ?? 0) >= 2000);
  });

  test(`a hanging request over ${protocol} gets no answer`, async (t) => {
    const { cluster, client } = await setUp(t, { kind: "hang" });
    const leave = new AbortController();
    const received = cluster.requestLog.nextReceived((e) => e.resource === "configmaps");
    const over = cluster.requestLog.next((e) => e.resource === "configmaps");

    const answer = call(client, "GET", CONFIG_MAPS, { signal: leave.signal });
    await received;
    leave.abort();

    await assert.rejects(answer, { name: "AbortError" });
    assert.deepEqual([(await over).status, (await over).complete], [0, false]);
  });

  test(`a reset over ${protocol} breaks the connection`, async (t) => {
    const { client } = await setUp(t, { kind: "reset" });

    await assert.rejects(call(client, "GET", CONFIG_MAPS), { code: "ECONNRESET" });
  });

  test(`a truncated answer over ${protocol} breaks or ends short`, async (t) => {
    const { cluster, client } = await setUp(t, { kind: "truncate", bytes: 20 });

    await assert.rejects(call(client, "GET", CONFIG_MAPS));
    cluster.faults.add({ match: { resource: "configmaps" }, action: { kind: "truncate", bytes: 20, clean: true } });
    const answer = await call(connect(t, cluster, { allowH2 }), "GET", CONFIG_MAPS);

    assert.deepEqual([answer.status, answer.text.length], [200, 20]);
  });

  test(`a dripping answer over ${protocol} arrives piece by piece`, async (t) => {
    const { cluster, clock, client } = await setUp(t, { kind: "drip", bytes: 1000, everyMs: 10 });
    await cluster.engine.apply({
      ...configMap("a", { big: "x".repeat(3000) }),
      metadata: { name: "a", namespace: "default" },
    });
    const over = cluster.requestLog.next((e) => e.resource === "configmaps");
    const response = await client.request({
      method: "GET",
      path: `${CONFIG_MAPS}/a`,
      headers: { authorization: "Bearer admin-token" },
    });

    let length = 0;
    for await (const chunk of response.body) {
      length += (chunk as Buffer).length;
      await clock.advance(10);
    }

    assert.ok(length > 3000);
    assert.ok((await over).durationMs >= 30);
  });
}

test("a half-open connection says nothing more, to any request on it", async (t) => {
  const { cluster } = await startCluster(t);
  const client = connect(t, cluster);
  assert.equal((await call(client, "GET", "/version")).status, 200);
  cluster.faults.add({ match: { resource: "configmaps" }, action: { kind: "halfOpen" }, times: 1 });
  const received = cluster.requestLog.nextReceived((e) => e.resource === "configmaps");
  const leave = new AbortController();

  const first = call(client, "GET", CONFIG_MAPS, { signal: leave.signal });
  await received;
  const second = call(client, "GET", "/version", { signal: leave.signal });
  assert.equal((await call(connect(t, cluster), "GET", "/version")).status, 200);
  leave.abort();

  await assert.rejects(first, { name: "AbortError" });
  await assert.rejects(second, { name: "AbortError" });
  assert.equal(cluster.requestLog.entries((e) => e.path === "/version").length, 2);
});

test("a lost answer: the write is stored, the client hears nothing of it", async (t) => {
  const { cluster } = await startCluster(t);
  cluster.faults.add({ match: { verbs: ["create"] }, when: "after", action: { kind: "reset" }, times: 1 });

  await assert.rejects(call(connect(t, cluster), "POST", CONFIG_MAPS, { body: configMap("written") }));

  assert.ok(cluster.engine.readOne("", "configmaps", "default", "written"));
});

test("new connections can be reset, or taken and left without a word", async (t) => {
  const { cluster } = await startCluster(t);
  const leave = new AbortController();

  cluster.faults.accept = "reset";
  await assert.rejects(call(connect(t, cluster), "GET", "/version"));
  cluster.faults.accept = "silent";
  const before = cluster.server.connectionCounts;
  const unheard = call(connect(t, cluster), "GET", "/version", { signal: leave.signal });
  while (cluster.server.connectionCounts.accepted === before.accepted) await setImmediate();
  cluster.faults.accept = "serve";

  assert.equal((await call(connect(t, cluster), "GET", "/version")).status, 200);
  leave.abort();
  await assert.rejects(unheard);
  assert.equal(cluster.server.connectionCounts.secured, before.secured + 1);
});

test("a watch can end at once, break, or be told that its version is gone", async (t) => {
  const { cluster } = await startCluster(t);
  const watch = async (
    fault: "end" | "goneEvent" | "goneStatus" | "reset",
  ): Promise<{ status: number; text: string }> => {
    cluster.faults.add({ action: { kind: "watch", fault }, times: 1 });
    return call(connect(t, cluster), "GET", `${CONFIG_MAPS}?watch=1&resourceVersion=0`);
  };

  assert.deepEqual([(await watch("end")).status, (await watch("end")).text], [200, ""]);
  const event = JSON.parse((await watch("goneEvent")).text) as { type: string; object: { code: number } };
  assert.deepEqual([event.type, event.object.code], ["ERROR", 410]);
  assert.equal((await watch("goneStatus")).status, 410);
  await assert.rejects(watch("reset"));
});

test("an open watch can be silenced, and ended", async (t) => {
  const { cluster } = await startCluster(t);
  const open = async (): Promise<AsyncIterator<unknown>> => {
    const response = await connect(t, cluster).request({
      method: "GET",
      path: `${CONFIG_MAPS}?watch=1&resourceVersion=0&fieldSelector=metadata.name=late`,
      headers: { authorization: "Bearer admin-token" },
    });
    return response.body[Symbol.asyncIterator]();
  };
  const silenced = await open();
  const ended = await open();
  const [first, second] = cluster.watches();

  first?.fail("silent");
  second?.fail("end");
  await cluster.engine.apply({ ...configMap("late"), metadata: { name: "late", namespace: "default" } });

  assert.equal((await ended.next()).done, true);
  const heard = silenced.next();
  const quiet = await Promise.race([heard, call(connect(t, cluster), "GET", "/version")]);
  assert.ok("status" in quiet, "a silenced watch must not tell of changes");
  cluster.server.destroyConnections();
  await assert.rejects(heard);
});

test("another process can break a cluster over the control endpoint", async (t) => {
  const { cluster } = await startCluster(t);
  const control = await startFaultsControl(cluster);
  t.after(() => control.close());
  const client = connect(t, cluster);
  const post = async (path: string, body: object): Promise<Response> =>
    fetch(`${control.url}${path}`, { method: "POST", body: JSON.stringify(body) });

  const added = (await (await post("/faults", { action: { kind: "status", code: 503 } })).json()) as { id: number };
  assert.equal((await call(client, "GET", "/version")).status, 503);
  await fetch(`${control.url}/faults/${added.id}`, { method: "DELETE" });
  assert.equal((await call(client, "GET", "/version")).status, 200);

  assert.equal((await post("/faults", { action: {} })).status, 400);
  const requests = (await (await fetch(`${control.url}/requests`)).json()) as { status: number }[];
  assert.deepEqual(
    requests.map((r) => r.status),
    [503, 200],
  );
  await post("/serving", { up: false });
  await assert.rejects(call(connect(t, cluster), "GET", "/version"), { code: "ECONNREFUSED" });
  await post("/serving", { up: true });
  assert.equal((await call(connect(t, cluster), "GET", "/version")).status, 200);
});
