import assert from "node:assert/strict";
import { test } from "node:test";
import type { ApiObject, ApiReply } from "../../../../../infra/local/cluster/types.ts";
import { Bench, configMap, request, widget, widgetDefinition } from "./support.ts";

const MAPS = "v1/configmaps";
const WIDGETS = "example.com/v1/widgets";
const ns = { namespace: "default" };

interface List {
  readonly kind: string;
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
  readonly items: readonly ApiObject[];
}

const list = ({ body }: ApiReply): List => ({
  kind: body.kind as string,
  metadata: body.metadata as List["metadata"],
  items: (body as Record<string, unknown>)["items"] as readonly ApiObject[],
});
const names = (reply: ApiReply): readonly string[] => list(reply).items.map((o) => o.metadata.name ?? "");

async function withMaps(...maps: readonly string[]): Promise<Bench> {
  const bench = new Bench();
  for (const name of maps) await bench.must("create", MAPS, { ...ns, body: configMap(name, { labels: { name } }) });
  return bench;
}

const rv = (object: ApiObject): string => object.metadata.resourceVersion ?? "";

test("a list is sorted by Namespace and name, and its items go without kind", async () => {
  const bench = await withMaps("b", "a");
  await bench.must("create", MAPS, { namespace: "kube-system", body: { metadata: { name: "0" } } });

  const all = await bench.ask("list", MAPS);
  const one = await bench.ask("list", MAPS, ns);

  assert.equal(list(all).kind, "ConfigMapList");
  assert.deepEqual(names(all), ["a", "b", "0"]);
  assert.deepEqual(names(one), ["a", "b"]);
  assert.equal("kind" in (list(one).items[0] ?? {}), false);
});

test("pages show one moment, whatever happens between them", async () => {
  const bench = await withMaps("a", "b", "c", "d", "e");

  const first = await bench.ask("list", MAPS, { ...ns, query: { limit: "2" } });
  await bench.must("delete", MAPS, { ...ns, name: "d" });
  await bench.must("create", MAPS, { ...ns, body: configMap("bb") });
  const next = { limit: "2", continue: list(first).metadata.continue ?? "" };
  const second = await bench.ask("list", MAPS, { ...ns, query: next });
  const third = await bench.ask("list", MAPS, {
    ...ns,
    query: { ...next, continue: list(second).metadata.continue ?? "" },
  });

  assert.deepEqual([names(first), names(second), names(third)], [["a", "b"], ["c", "d"], ["e"]]);
  assert.deepEqual(
    [first, second, third].map((r) => list(r).metadata.remainingItemCount),
    [3, 1, undefined],
  );
  assert.equal(list(second).metadata.resourceVersion, list(first).metadata.resourceVersion);
  assert.equal(list(third).metadata.continue, undefined);
});

test("a continue token from before a compaction is expired, and offers one that goes on inconsistently", async () => {
  const bench = await withMaps("a", "b", "c");
  const first = await bench.ask("list", MAPS, { ...ns, query: { limit: "1" } });
  await bench.must("create", MAPS, { ...ns, body: configMap("bb") });
  bench.engine.compact();

  const old = await bench.ask("list", MAPS, { ...ns, query: { continue: list(first).metadata.continue ?? "" } });
  const token = (old.body["metadata"] as { continue: string }).continue;
  const rest = await bench.ask("list", MAPS, { ...ns, query: { continue: token } });

  assert.equal(old.code, 410);
  assert.equal(old.body["reason"], "Expired");
  assert.match(String(old.body["message"]), /^The provided continue parameter is too old to display a consistent list/);
  assert.deepEqual(names(rest), ["b", "bb", "c"]);
});

test("resourceVersion and resourceVersionMatch choose the moment", async () => {
  const bench = await withMaps("a");
  const before = rv(await bench.must("get", MAPS, { ...ns, name: "a" }));
  await bench.must("create", MAPS, { ...ns, body: configMap("b") });
  const ask = async (query: Record<string, string>): Promise<ApiReply> =>
    await bench.ask("list", MAPS, { ...ns, query });

  assert.deepEqual(names(await ask({ resourceVersion: before, resourceVersionMatch: "Exact" })), ["a"]);
  assert.deepEqual(names(await ask({ resourceVersion: before, resourceVersionMatch: "NotOlderThan" })), ["a", "b"]);
  assert.deepEqual(names(await ask({ resourceVersion: before })), ["a", "b"]);
  assert.deepEqual(names(await ask({ resourceVersion: "0", limit: "1" })), ["a", "b"]);
  const future = await ask({ resourceVersion: "999999" });
  assert.equal(future.code, 504);
  assert.equal(future.body["reason"], "Timeout");
  assert.match(String(future.body["message"]), /^Timeout: Too large resource version: 999999, current: \d+$/);
  assert.deepEqual((future.body["details"] as { causes: unknown }).causes, [
    { reason: "ResourceVersionTooLarge", message: "Too large resource version" },
  ]);
  const alone = await ask({ resourceVersionMatch: "Exact" });
  assert.equal(alone.code, 422);
  const junk = await ask({ continue: "junk" });
  assert.equal(junk.code, 400);
});

test("label selectors know equality, sets, existence and order", async () => {
  const bench = new Bench();
  for (const [name, labels] of Object.entries({
    a: { tier: "front", n: "1" },
    b: { tier: "back", n: "5" },
    c: { n: "9" },
    d: {},
  })) {
    await bench.must("create", MAPS, { ...ns, body: configMap(name, { labels }) });
  }
  const select = async (labelSelector: string): Promise<string> => {
    const reply = await bench.ask("list", MAPS, { ...ns, query: { labelSelector } });
    return reply.code === 200 ? names(reply).join("") : `${reply.code} ${String(reply.body["message"])}`;
  };

  assert.equal(await select("tier=front"), "a");
  assert.equal(await select("tier==back"), "b");
  assert.equal(await select("tier!=front"), "bcd");
  assert.equal(await select("tier in (front, back)"), "ab");
  assert.equal(await select("tier notin (front),n"), "bc");
  assert.equal(await select("tier"), "ab");
  assert.equal(await select("!tier"), "cd");
  assert.equal(await select("n>4"), "bc");
  assert.equal(await select("n<9,tier"), "ab");
  assert.match(await select("tier==="), /^400 unable to parse requirement/);
  assert.match(await select("a/b/c=x"), /^400 unable to parse requirement/);
});

test("field selectors know name, Namespace and the fields of the type", async () => {
  const bench = await withMaps("a", "b");
  await bench.must("create", "apiextensions.k8s.io/v1/customresourcedefinitions", { body: widgetDefinition({}) });
  await bench.must("create", "v1/secrets", { ...ns, body: { metadata: { name: "s" } } });
  await bench.must("create", "v1/secrets", { ...ns, body: { metadata: { name: "t" }, type: "example.com/x" } });
  const select = async (path: string, fieldSelector: string): Promise<string> => {
    const reply = await bench.ask("list", path, { ...ns, query: { fieldSelector } });
    return reply.code === 200 ? names(reply).join("") : `${reply.code} ${String(reply.body["message"])}`;
  };

  assert.equal(await select(MAPS, "metadata.name=a"), "a");
  assert.equal(await select(MAPS, "metadata.name!=a,metadata.namespace=default"), "b");
  assert.equal(await select("v1/secrets", "type=example.com/x"), "t");
  assert.equal(
    await select(MAPS, "data.x=1"),
    '400 "data.x" is not a known field selector: only "metadata.name", "metadata.namespace"',
  );
  assert.equal(await select(WIDGETS, "spec.x=1"), "400 field label not supported: spec.x");
});

test("a watch without resourceVersion starts with what is there, one with it continues after it", async () => {
  const bench = await withMaps("a");
  const at = rv(await bench.must("get", MAPS, { ...ns, name: "a" }));
  await bench.must("create", MAPS, { ...ns, body: configMap("b") });
  const unset = await bench.watch(MAPS, ns);
  const zero = await bench.watch(MAPS, { ...ns, query: { resourceVersion: "0" } });
  const exact = await bench.watch(MAPS, { ...ns, query: { resourceVersion: at } });

  await bench.patch(MAPS, { ...ns, name: "a", body: { data: { k: "v" } } });
  await bench.must("delete", MAPS, { ...ns, name: "b" });

  assert.deepEqual(await unset.seen(), ["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"]);
  assert.deepEqual(await zero.seen(), ["ADDED a", "ADDED b", "MODIFIED a", "DELETED b"]);
  assert.deepEqual(await exact.seen(), ["ADDED b", "MODIFIED a", "DELETED b"]);
  for (const watcher of [unset, zero, exact]) watcher.stop();
});

test("the resourceVersion of a DELETED event is that of the deletion", async () => {
  const bench = await withMaps("a");
  const before = rv(await bench.must("get", MAPS, { ...ns, name: "a" }));
  const watcher = await bench.watch(MAPS, { ...ns, query: { resourceVersion: before } });

  await bench.must("delete", MAPS, { ...ns, name: "a" });

  await watcher.seen();
  assert.ok(Number(rv(watcher.events[0]?.object as ApiObject)) > Number(before));
  watcher.stop();
});

test("through a selection an object is ADDED when it comes in and DELETED when it leaves", async () => {
  const bench = await withMaps("a");
  const watcher = await bench.watch(MAPS, { ...ns, query: { labelSelector: "on=1" } });
  const label = async (on: string | null): Promise<void> => {
    await bench.patch(MAPS, { ...ns, name: "a", body: { metadata: { labels: { on } } } });
  };

  await label("0");
  await label("1");
  await bench.patch(MAPS, { ...ns, name: "a", body: { data: { k: "v" } } });
  await label(null);
  await label("2");

  assert.deepEqual(await watcher.seen(), ["ADDED a", "MODIFIED a", "DELETED a"]);
  const left = watcher.events[2]?.object as ApiObject;
  assert.equal(left.metadata.labels?.["on"], "1");
  assert.ok(Number(rv(left)) > Number(rv(watcher.events[1]?.object as ApiObject)));
  watcher.stop();
});

test("a watch of one Namespace or one name sees no others", async () => {
  const bench = await withMaps("a");
  const namespace = await bench.watch(MAPS, { namespace: "kube-system" });
  const name = await bench.watch(MAPS, { ...ns, query: { fieldSelector: "metadata.name=b" } });

  await bench.must("create", MAPS, { ...ns, body: configMap("b") });
  await bench.must("create", MAPS, { namespace: "kube-system", body: { metadata: { name: "c" } } });

  assert.deepEqual(await namespace.seen(), ["ADDED c"]);
  assert.deepEqual(await name.seen(), ["ADDED b"]);
  namespace.stop();
  name.stop();
});

test("timeoutSeconds ends the watch, and bookmarks tell how far it is", async () => {
  const bench = await withMaps("a");
  const query = { resourceVersion: "0", timeoutSeconds: "130", allowWatchBookmarks: "true" };
  const watcher = await bench.watch(MAPS, { ...ns, query });
  await bench.must("create", "v1/secrets", { ...ns, body: { metadata: { name: "elsewhere" } } });

  await bench.clock.advance(60_000);
  // The first one says that what was there has been told, as if a watch list had been asked for.
  assert.deepEqual(await watcher.seen(), ["ADDED a", "BOOKMARK", "BOOKMARK"]);
  const bookmark = watcher.events[2]?.object as ApiObject;
  assert.equal(bookmark.kind, "ConfigMap");
  assert.ok(Number(rv(bookmark)) > Number(rv(watcher.events[0]?.object as ApiObject)));

  await bench.clock.advance(70_000);
  assert.deepEqual(await watcher.seen(), ["ADDED a", "BOOKMARK", "BOOKMARK", "BOOKMARK", "BOOKMARK"]);
  assert.equal(watcher.ended, true);
});

test("the end of a client ends its watch and leaves no timer", async () => {
  const bench = await withMaps("a");
  const idle = bench.clock.sleeping;
  const watcher = await bench.watch(MAPS, ns);
  await watcher.seen();

  watcher.stop();

  await watcher.seen();
  assert.equal(watcher.ended, true);
  assert.equal(bench.clock.sleeping, idle);
});

test("sendInitialEvents marks the end of what was there", async () => {
  const bench = await withMaps("a");
  const query = { sendInitialEvents: "true", resourceVersionMatch: "NotOlderThan", allowWatchBookmarks: "true" };

  const watcher = await bench.watch(MAPS, { ...ns, query });

  assert.deepEqual(await watcher.seen(), ["ADDED a", "BOOKMARK"]);
  const bookmark = watcher.events[1]?.object as ApiObject;
  assert.deepEqual(bookmark.metadata.annotations, { "k8s.io/initial-events-end": "true" });
  watcher.stop();
});

test("a watch from before a compaction is told so by an ERROR event, or by a plain 410", async () => {
  const query = { resourceVersion: "3" };
  const byEvent = new Bench();
  const byStatus = new Bench({ watch: { tooOld: "status" } });
  byEvent.engine.compact();
  byStatus.engine.compact();

  const watcher = await byEvent.watch(MAPS, { ...ns, query });
  const refused = await byStatus.engine.watch(request("watch", MAPS, { ...ns, query }));

  await watcher.seen();
  assert.equal(watcher.ended, true);
  assert.equal(watcher.events.length, 1);
  const [event] = watcher.events;
  assert.equal(event?.type, "ERROR");
  const status = event?.object as Record<string, unknown>;
  assert.equal(status["code"], 410);
  assert.equal(status["reason"], "Expired");
  assert.match(String(status["message"]), /^too old resource version: 3 \(\d+\)$/);
  assert.equal(refused.kind === "refused" && refused.reply.code, 410);
});

test("a watch from the future waits for it, or is refused where the server does that", async () => {
  const query = { resourceVersion: "8" };
  const waits = new Bench();
  const refuses = new Bench({ watch: { tooNew: "refuse" } });

  const watcher = await waits.watch(MAPS, { ...ns, query });
  for (const name of ["a", "b", "c", "d"]) await waits.must("create", MAPS, { ...ns, body: configMap(name) });
  const refused = await refuses.engine.watch(request("watch", MAPS, { ...ns, query }));

  assert.deepEqual(await watcher.seen(), ["ADDED d"]);
  assert.equal(refused.kind === "refused" && refused.reply.code, 504);
  watcher.stop();
});

test("history is bounded by number and by age", async () => {
  const few = new Bench({ history: { events: 20 } });
  for (let i = 0; i < 60; i += 1) await few.must("create", MAPS, { ...ns, body: configMap(`m${i}`) });
  const young = new Bench({ history: { ms: 60_000 } });
  await young.must("create", MAPS, { ...ns, body: configMap("a") });
  await young.clock.advance(80_000);
  await young.must("create", MAPS, { ...ns, body: configMap("b") });

  for (const bench of [few, young]) {
    const watcher = await bench.watch(MAPS, { ...ns, query: { resourceVersion: "5" } });
    await watcher.seen();
    assert.equal(watcher.events[0]?.type, "ERROR");
  }
});

test("a restored backup brings back old objects and resourceVersions, and ends watches", async () => {
  const bench = await withMaps("a");
  const backup = bench.engine.snapshot();
  const at = list(await bench.ask("list", MAPS, ns)).metadata.resourceVersion;
  const version = bench.engine.collectionVersion("", "configmaps");
  const crds = "apiextensions.k8s.io/v1/customresourcedefinitions";
  await bench.must("create", crds, { body: widgetDefinition({}) });
  await bench.must("create", WIDGETS, { ...ns, body: widget("w", {}) });
  await bench.must("create", MAPS, { ...ns, body: configMap("b") });
  const watcher = await bench.watch(MAPS, ns);

  bench.engine.restore(backup);

  const restored = await bench.ask("list", MAPS, ns);
  assert.deepEqual(names(restored), ["a"]);
  assert.equal(list(restored).metadata.resourceVersion, at);
  assert.notEqual(bench.engine.collectionVersion("", "configmaps"), version);
  assert.equal((await bench.ask("list", WIDGETS, ns)).code, 404);
  await watcher.seen();
  assert.equal(watcher.ended, true);
});
