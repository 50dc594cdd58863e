import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { assertStatus } from "../assertions.ts";
import type { WatchedEvent, Watching } from "../contract-client.ts";
import type { Area } from "../contract-cluster.ts";

const MERGE = "application/merge-patch+json";
const INITIAL_END = "k8s.io/initial-events-end";

/** What can be asked of a watch, and what it then tells. */
export function watchOptionCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const make = async (name: string, labels: object = {}) =>
    await area().admin.must("POST", configMaps(), { metadata: { name, labels } });
  const touch = async (name: string, at: string) =>
    await area().admin.must("PATCH", `${configMaps()}/${name}`, { data: { at } }, MERGE);
  const now = async (): Promise<string> =>
    (await area().admin.must("GET", `${configMaps()}?limit=1`)).metadata.resourceVersion ?? "";
  const watch = async (t: TestContext, query: string, path = configMaps()): Promise<Watching> => {
    const watching = await area().admin.watch(`${path}?watch=true&${query}`);
    t.after(() => watching.leave());
    return watching;
  };
  const refused = async (query: string, expected: Parameters<typeof assertStatus>[1]): Promise<void> =>
    assertStatus(await area().admin.request("GET", `${configMaps()}?watch=true&timeoutSeconds=1&${query}`), expected);
  const summary = (event: WatchedEvent | undefined): string => `${event?.type} ${event?.object.metadata.name}`;
  const isInitialEnd = (event: WatchedEvent | undefined): boolean =>
    event?.object.metadata.annotations?.[INITIAL_END] === "true";

  test("many changes come in the order in which they were made, each with a greater resourceVersion", async (t) => {
    for (const name of ["order-a", "order-b"]) await make(name, { order: "yes" });
    const watching = await watch(t, `labelSelector=order&resourceVersion=${await now()}`);
    const made: string[] = [];
    for (let i = 0; i < 10; i += 1) {
      const { metadata } = await touch(i % 3 === 0 ? "order-b" : "order-a", String(i));
      made.push(metadata.resourceVersion ?? "");
    }

    const seen: string[] = [];
    while (seen.length < made.length) seen.push((await watching.next())?.object.metadata.resourceVersion ?? "");

    assert.deepEqual(seen, made);
    assert.deepEqual(
      made.map(Number),
      made.map(Number).toSorted((a, b) => a - b),
    );
  });

  test("two watches of the same see the same", async (t) => {
    const query = `labelSelector=same&resourceVersion=${await now()}`;
    const [one, two] = [await watch(t, query), await watch(t, query)];

    await make("same-1", { same: "yes" });
    await area().admin.must("DELETE", `${configMaps()}/same-1`);

    const events = async (of: Watching) => [await of.next(), await of.next()];
    assert.deepEqual(await events(one), await events(two));
  });

  test("from a resourceVersion, what is there already is not told, whatever else is asked", async (t) => {
    await make("there-1", { there: "yes" });
    const from = await now();

    const plain = await watch(t, `labelSelector=there&resourceVersion=${from}`);
    const query = "sendInitialEvents=false&resourceVersionMatch=NotOlderThan";
    const explicit = await watch(t, `labelSelector=there&resourceVersion=${from}&${query}`);
    await make("there-2", { there: "yes" });

    for (const watching of [plain, explicit]) assert.equal(summary(await watching.next()), "ADDED there-2");
  });

  test("from 0 with bookmarks, no bookmark comes before all that is there", async (t) => {
    for (const name of ["zero-a", "zero-b"]) await make(name, { zero: "yes" });

    const query = "labelSelector=zero&resourceVersion=0&allowWatchBookmarks=true&timeoutSeconds=3";
    const events = await (await watch(t, query)).rest();

    assert.deepEqual(events.slice(0, 2).map(summary).toSorted(), ["ADDED zero-a", "ADDED zero-b"]);
    // Current servers also say that the initial events are over, as if a watch list had been asked for.
    for (const event of events.slice(2)) assert.equal(event.type, "BOOKMARK");
  });

  test("a watch list of nothing: the bookmark alone; later changes follow", async (t) => {
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const watching = await watch(t, `labelSelector=nothing&${query}`);

    const bookmark = await watching.next();
    await make("nothing-1", { nothing: "yes" });
    const added = await watching.next();

    assert.deepEqual([bookmark?.type, isInitialEnd(bookmark)], ["BOOKMARK", true]);
    assert.equal(summary(added), "ADDED nothing-1");
  });

  test("a watch resumed from a bookmark goes on after it", async (t) => {
    await make("mark-1", { mark: "yes" });
    const query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
    const first = await watch(t, `labelSelector=mark&${query}`);
    await first.next();
    const bookmark = await first.next();
    first.leave();
    await make("mark-2", { mark: "yes" });

    const from = bookmark?.object.metadata.resourceVersion;
    const second = await watch(t, `labelSelector=mark&resourceVersion=${from}`);

    assert.equal(isInitialEnd(bookmark), true);
    assert.equal(summary(await second.next()), "ADDED mark-2");
  });

  test("a watch list of a state that is still to come: 504 in the stream, or at once", async () => {
    const from = Number(await now()) + 1_000_000_000;
    const query = `watch=true&timeoutSeconds=10&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true`;

    const answer = await area().admin.request("GET", `${configMaps()}?${query}&resourceVersion=${from}`);

    const status = answer.code === 200 ? (JSON.parse(answer.text) as WatchedEvent).object : answer.json;
    assert.deepEqual([status.kind, status["code"], status["reason"]], ["Status", 504, "Timeout"]);
    assert.match(String(status["message"]), /Too large resource version/);
  });

  test("pages are for lists: a limit changes nothing, unless it is none; a continue token is refused", async (t) => {
    for (const name of ["paged-a", "paged-b"]) await make(name, { paged: "yes" });

    const watching = await watch(t, "labelSelector=paged&limit=1");
    const seen = [summary(await watching.next()), summary(await watching.next())];

    assert.deepEqual(seen.toSorted(), ["ADDED paged-a", "ADDED paged-b"]);
    await refused("limit=abc", { code: 400, reason: "BadRequest", message: /parsing "abc": invalid syntax/ });
  });

  test("a resourceVersionMatch is for watch lists, and for those only NotOlderThan", async () => {
    const invalid = { code: 422, reason: "Invalid" };

    await refused("resourceVersion=1&resourceVersionMatch=NotOlderThan", {
      ...invalid,
      message: /resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided/,
    });
    await refused("resourceVersion=1&resourceVersionMatch=Exact&sendInitialEvents=true", {
      ...invalid,
      message: /sendInitialEvents requires setting resourceVersionMatch to NotOlderThan/,
    });
  });

  test("each way to say that a list is a watch", async () => {
    await make("ways");

    for (const way of ["watch=true", "watch=1", "watch=t", "watch"]) {
      const query = `fieldSelector=metadata.name%3Dways&timeoutSeconds=1&${way}`;
      const answer = await area().admin.request("GET", `${configMaps()}?${query}`);

      assert.equal(summary(JSON.parse(answer.text) as WatchedEvent), "ADDED ways", way);
    }
  });

  test("a request's time limit is not a watch's", async (t) => {
    const query = `resourceVersion=${await now()}&timeoutSeconds=3&timeout=1s&labelSelector=limitless`;
    const begun = performance.now();

    const events = await (await watch(t, query)).rest();

    assert.deepEqual(events, []);
    assert.ok(performance.now() - begun > 2_000, `${performance.now() - begun} ms`);
  });

  test("one object: by its name as field", async (t) => {
    const from = await now();
    const watching = await watch(t, `fieldSelector=metadata.name%3Dsingle&resourceVersion=${from}`);

    await make("single-not");
    await make("single");
    await area().admin.must("DELETE", `${configMaps()}/single`);

    assert.deepEqual(
      [summary(await watching.next()), summary(await watching.next())],
      ["ADDED single", "DELETED single"],
    );
  });

  test("a field selector chooses, too: a Secret by its type", async (t) => {
    const { admin, namespace } = area();
    const secrets = `/api/v1/namespaces/${namespace}/secrets`;
    const { metadata } = await admin.must("GET", `${secrets}?limit=1`);
    const query = `fieldSelector=type%3Dhawser.test%2Fkind&resourceVersion=${metadata.resourceVersion}`;
    const watching = await watch(t, query, secrets);

    await admin.must("POST", secrets, { metadata: { name: "other" } });
    await admin.must("POST", secrets, { metadata: { name: "typed" }, type: "hawser.test/kind" });

    assert.equal(summary(await watching.next()), "ADDED typed");
  });

  test("a selector of absence: an object that gets the label is DELETED, one that loses it is ADDED", async (t) => {
    const { admin } = area();
    await make("absence", { group: "absence" });
    const selector = encodeURIComponent("group=absence,!claimed");
    const watching = await watch(t, `labelSelector=${selector}&resourceVersion=${await now()}`);
    const claim = async (claimed: string | null) =>
      await admin.must("PATCH", `${configMaps()}/absence`, { metadata: { labels: { claimed } } }, MERGE);

    await claim("yes");
    await claim("again");
    await claim(null);

    assert.equal(summary(await watching.next()), "DELETED absence");
    assert.equal(summary(await watching.next()), "ADDED absence");
  });

  test("a collection that is deleted: each object by itself", async (t) => {
    for (const name of ["all-a", "all-b"]) await make(name, { all: "yes" });
    const watching = await watch(t, `labelSelector=all&resourceVersion=${await now()}`);

    await area().admin.must("DELETE", `${configMaps()}?labelSelector=all`);

    const seen = [summary(await watching.next()), summary(await watching.next())];
    assert.deepEqual(seen.toSorted(), ["DELETED all-a", "DELETED all-b"]);
  });

  test("a watch of a Namespace that is not there yet waits for it", async (t) => {
    const { admin, token } = area();
    const later = `contract-${token}-later`;
    t.after(() => admin.request("DELETE", `/api/v1/namespaces/${later}`));
    const from = await now();
    const path = `/api/v1/namespaces/${later}/configmaps`;
    const watching = await watch(t, `labelSelector=later&resourceVersion=${from}`, path);

    await admin.must("POST", "/api/v1/namespaces", { metadata: { name: later } });
    await admin.must("POST", path, { metadata: { name: "there", labels: { later: "yes" } } });

    assert.equal(summary(await watching.next()), "ADDED there");
  });
}
