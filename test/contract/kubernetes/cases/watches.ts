import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { assertStatus } from "../assertions.ts";
import type { WatchedEvent, Watching } from "../contract-client.ts";
import type { Area } from "../contract-cluster.ts";
import { DEFINITIONS, definitionOf, serve } from "../custom-definition.ts";

const MERGE = "application/merge-patch+json";

/** Watches: where they begin, what they tell, how they end. */
export function watchCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const make = async (name: string, labels: object = {}) =>
    await area().admin.must("POST", configMaps(), { metadata: { name, labels } });
  const now = async (): Promise<string> =>
    (await area().admin.must("GET", `${configMaps()}?limit=1`)).metadata.resourceVersion ?? "";
  const watch = async (t: TestContext, query: string, path = configMaps()): Promise<Watching> => {
    const watching = await area().admin.watch(`${path}?watch=true&${query}`);
    t.after(() => watching.leave());
    return watching;
  };
  const summary = (event: WatchedEvent | undefined): string => `${event?.type} ${event?.object.metadata.name}`;
  const next = async (watching: Watching, count: number): Promise<string[]> => {
    const seen: string[] = [];
    for (let i = 0; i < count; i += 1) seen.push(summary(await watching.next()));
    return seen;
  };

  test("from a list's resourceVersion: all that came after it, in order, with the kind in each object", async (t) => {
    const { admin } = area();
    const from = await now();
    const made = await make("w-order");
    const changed = await admin.must("PATCH", `${configMaps()}/w-order`, { data: { k: "v" } }, MERGE);
    await admin.must("DELETE", `${configMaps()}/w-order`);

    const watching = await watch(t, `resourceVersion=${from}&fieldSelector=metadata.name%3Dw-order`);
    const events = [await watching.next(), await watching.next(), await watching.next()];

    assert.deepEqual(
      events.map((event) => event?.type),
      ["ADDED", "MODIFIED", "DELETED"],
    );
    assert.deepEqual(events[0]?.object, { kind: "ConfigMap", apiVersion: "v1", ...made });
    assert.deepEqual(events[1]?.object, { kind: "ConfigMap", apiVersion: "v1", ...changed });
    assert.deepEqual(events[2]?.object["data"], { k: "v" });
  });

  test("what was deleted carries the resourceVersion of its deletion", async (t) => {
    const { admin } = area();
    const made = await make("w-deleted");
    const from = await now();
    await admin.must("DELETE", `${configMaps()}/w-deleted`);

    const watching = await watch(t, `resourceVersion=${from}&fieldSelector=metadata.name%3Dw-deleted`);
    const event = await watching.next();

    assert.equal(summary(event), "DELETED w-deleted");
    assert.ok(Number(event?.object.metadata.resourceVersion) > Number(made.metadata.resourceVersion));
  });

  test("resumed from an event's resourceVersion: nothing is lost, nothing comes twice", async (t) => {
    const from = await now();
    for (const name of ["r-1", "r-2", "r-3"]) await make(name, { r: "yes" });
    const first = await watch(t, `labelSelector=r&resourceVersion=${from}`);
    const event = await first.next();
    first.leave();

    const second = await watch(t, `labelSelector=r&resourceVersion=${event?.object.metadata.resourceVersion}`);

    assert.equal(summary(event), "ADDED r-1");
    assert.deepEqual(await next(second, 2), ["ADDED r-2", "ADDED r-3"]);
  });

  test("live: events come as they happen", async (t) => {
    const watching = await watch(t, `labelSelector=live&resourceVersion=${await now()}`);

    await make("live-1", { live: "yes" });
    assert.deepEqual(await next(watching, 1), ["ADDED live-1"]);
    await make("live-2", { live: "yes" });
    assert.deepEqual(await next(watching, 1), ["ADDED live-2"]);
  });

  test("without a resourceVersion, or from 0: what is there comes as ADDED first", async (t) => {
    for (const name of ["init-b", "init-a"]) await make(name, { init: "yes" });

    for (const query of ["labelSelector=init", "labelSelector=init&resourceVersion=0"]) {
      const watching = await watch(t, query);

      assert.deepEqual((await next(watching, 2)).toSorted(), ["ADDED init-a", "ADDED init-b"]);
    }
  });

  test("an object that begins to match is ADDED, one that ceases to is DELETED", async (t) => {
    const { admin } = area();
    await make("move", { at: "home" });
    const watching = await watch(t, `labelSelector=at%3Daway&resourceVersion=${await now()}`);
    const goTo = async (at: string) =>
      await admin.must("PATCH", `${configMaps()}/move`, { metadata: { labels: { at } } }, MERGE);

    await goTo("away");
    await admin.must("PATCH", `${configMaps()}/move`, { data: { k: "v" } }, MERGE);
    const left = await goTo("home");

    assert.deepEqual(await next(watching, 2), ["ADDED move", "MODIFIED move"]);
    const event = await watching.next();
    assert.equal(summary(event), "DELETED move");
    // The last state that matched, under the resourceVersion of the change.
    assert.deepEqual(event?.object.metadata.labels, { at: "away" });
    assert.equal(event?.object.metadata.resourceVersion, left.metadata.resourceVersion);
  });

  test("a delete that a finalizer holds is MODIFIED first", async (t) => {
    const { admin } = area();
    const metadata = { name: "held", finalizers: ["hawser.test/hold"] };
    await admin.must("POST", configMaps(), { metadata });
    const watching = await watch(t, `fieldSelector=metadata.name%3Dheld&resourceVersion=${await now()}`);

    await admin.must("DELETE", `${configMaps()}/held`);
    await admin.must("PATCH", `${configMaps()}/held`, { metadata: { finalizers: null } }, MERGE);

    const [marked, gone] = [await watching.next(), await watching.next()];
    assert.deepEqual([summary(marked), summary(gone)], ["MODIFIED held", "DELETED held"]);
    assert.equal(typeof marked?.object.metadata.deletionTimestamp, "string");
  });

  test("timeoutSeconds ends the stream, without an error", async (t) => {
    const watching = await watch(
      t,
      `timeoutSeconds=1&resourceVersion=${await now()}&fieldSelector=metadata.name%3Dnone`,
    );

    assert.deepEqual(await watching.rest(), []);
  });

  test("bookmarks come where they are asked for, at the latest shortly before the end", async (t) => {
    const from = await now();
    const query = `timeoutSeconds=4&resourceVersion=${from}&allowWatchBookmarks=true`;
    const watching = await watch(t, `${query}&fieldSelector=metadata.name%3Dnone`);
    await make("moves-on");

    const events = await watching.rest();

    assert.ok(events.length >= 1, "no bookmark came");
    const last = events.at(-1);
    assert.equal(last?.type, "BOOKMARK");
    assert.deepEqual([last?.object.kind, last?.object.apiVersion], ["ConfigMap", "v1"]);
    assert.ok(Number(last?.object.metadata.resourceVersion) > Number(from));
  });

  test("a watch list: what is there, then a bookmark that says so", async (t) => {
    await make("listed", { wl: "yes" });
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&labelSelector=wl";

    const watching = await watch(t, query);
    const [added, bookmark] = [await watching.next(), await watching.next()];

    assert.equal(summary(added), "ADDED listed");
    assert.equal(bookmark?.type, "BOOKMARK");
    assert.equal(bookmark?.object.metadata.annotations?.["k8s.io/initial-events-end"], "true");
  });

  test("a watch list without its conditions: 422", async () => {
    const answer = await area().admin.request("GET", `${configMaps()}?watch=true&sendInitialEvents=true`);

    assertStatus(answer, { code: 422, reason: "Invalid", message: /sendInitialEvents/ });
  });

  test("from a resourceVersion that is forgotten: 410 Expired, in the stream or at once", async (t) => {
    const { admin, cluster } = area();
    if (cluster.compact === undefined) return t.skip("needs an etcd to compact");
    const { path, object } = await serve(t, area(), definitionOf(area(), { kind: "Compacted" }));
    await admin.must("POST", path(), object("a"));
    const from = "1";
    await admin.must("POST", path(), object("b"));
    await cluster.compact();

    const answer = await admin.request("GET", `${path()}?watch=true&resourceVersion=${from}&timeoutSeconds=5`);

    const status = answer.code === 410 ? answer.json : (JSON.parse(answer.text) as WatchedEvent).object;
    assert.deepEqual([status["code"], status["reason"], status.kind], [410, "Expired", "Status"]);
    assert.match(String(status["message"]), /too old resource version/);
    return undefined;
  });

  test("from a resourceVersion of the future: no events, or a refusal that asks to come again", async () => {
    const from = String(Number(await now()) + 1_000_000_000);

    const answer = await area().admin.request(
      "GET",
      `${configMaps()}?watch=true&timeoutSeconds=2&resourceVersion=${from}`,
    );

    if (answer.code === 200) assert.ok(!answer.text.includes("ADDED"), answer.text);
    else assertStatus(answer, { code: 504, reason: "Timeout" });
  });

  test("parameters that are none: 400; a resourceVersion: 500", async () => {
    const { admin } = area();

    const version = await admin.request("GET", `${configMaps()}?watch=true&resourceVersion=abc`);
    const seconds = await admin.request("GET", `${configMaps()}?watch=true&timeoutSeconds=abc`);
    const selector = await admin.request("GET", `${configMaps()}?watch=true&labelSelector=a%20b`);

    for (const answer of [seconds, selector]) assertStatus(answer, { code: 400, reason: "BadRequest" });
    assertStatus(version, { code: 500, message: /parsing "abc": invalid syntax/ });
  });

  test("a watch of custom resources ends with DELETED when their definition goes", async (t) => {
    const { admin } = area();
    const { path, object, plural, group } = await serve(t, area(), definitionOf(area(), { kind: "Ending" }));
    const { metadata } = await admin.must("POST", path(), object("e"));
    const watching = await watch(t, `resourceVersion=${metadata.resourceVersion}`, path());

    await admin.must("DELETE", `${DEFINITIONS}/${plural}.${group}`);

    const events = await watching.rest();
    assert.equal(summary(events.at(-1)), "DELETED e");
  });

  test("over all Namespaces: objects say where they are", async (t) => {
    const watching = await watch(t, `labelSelector=everywhere&resourceVersion=${await now()}`, "/api/v1/configmaps");

    await make("anywhere", { everywhere: "yes" });

    const event = await watching.next();
    assert.deepEqual([summary(event), event?.object.metadata.namespace], ["ADDED anywhere", area().namespace]);
  });

  test("the stream's type is JSON, and it is not compressed", async (t) => {
    const watching = await watch(t, `resourceVersion=${await now()}`);

    assert.equal(watching.headers["content-type"], "application/json");
    assert.equal(watching.headers["content-encoding"], undefined);
  });
}
