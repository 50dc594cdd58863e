import assert from "node:assert/strict";
import { test } from "node:test";
import { assertStatus } from "../assertions.ts";
import type { Answer } from "../contract-client.ts";
import type { Area } from "../contract-cluster.ts";
import { definitionOf, serve } from "../custom-definition.ts";

/** Lists: order, pages, resourceVersions, selectors. */
export function listCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const make = async (name: string, labels: object = {}) =>
    await area().admin.must("POST", configMaps(), { metadata: { name, labels } });
  const names = ({ items = [] }: Answer["json"]): string[] => items.map((item) => item.metadata.name);
  const selected = async (selector: string): Promise<string[]> =>
    names(await area().admin.must("GET", `${configMaps()}?labelSelector=${encodeURIComponent(selector)}`)).toSorted();
  const future = async (): Promise<string> => {
    const { metadata } = await area().admin.must("GET", `${configMaps()}?limit=1`);
    return String(Number(metadata.resourceVersion) + 1_000_000_000);
  };

  test("a list has a kind of its own, a resourceVersion, and items without kind; those of custom resources have one", async (t) => {
    const { admin } = area();
    const { path, object, kind, group } = await serve(t, area(), definitionOf(area(), { kind: "Listed" }));
    await make("kindless");
    await admin.must("POST", path(), object("kindful"));

    const builtIn = await admin.must("GET", `${configMaps()}?labelSelector=none%21%3Dsuch&limit=1`);
    const custom = await admin.must("GET", path());

    assert.deepEqual([builtIn.kind, builtIn.apiVersion], ["ConfigMapList", "v1"]);
    assert.match(builtIn.metadata.resourceVersion ?? "", /^\d+$/);
    assert.equal(builtIn.items?.[0]?.kind, undefined);
    assert.deepEqual([custom.kind, custom.apiVersion], [`${kind}List`, `${group}/v1`]);
    assert.equal(custom.items?.[0]?.kind, kind);
  });

  test("pages: a limit, a continue token, what remains, and one resourceVersion for all", async () => {
    const { admin } = area();
    const labels = { pages: "yes" };
    for (const name of ["page-c", "page-a", "page-b", "page-e", "page-d"]) await make(name, labels);
    const page = async (more: string) => await admin.must("GET", `${configMaps()}?limit=2${more}`);

    const seen: string[] = [];
    const versions = new Set<string | undefined>();
    let token = "";
    do {
      const { metadata, ...list } = await page(token === "" ? "" : `&continue=${encodeURIComponent(token)}`);
      seen.push(...names({ metadata, ...list }));
      versions.add(metadata.resourceVersion);
      token = typeof metadata["continue"] === "string" ? metadata["continue"] : "";
      assert.equal(metadata["remainingItemCount"] === undefined, token === "");
    } while (token !== "");

    assert.deepEqual(
      seen.filter((name) => name.startsWith("page-")),
      ["page-a", "page-b", "page-c", "page-d", "page-e"],
    );
    assert.equal(versions.size, 1);
  });

  test("pages show what was there when the first was read", async () => {
    const { admin } = area();
    for (const name of ["still-a", "still-b"]) await make(name, { still: "yes" });
    const path = `${configMaps()}?labelSelector=still&limit=1`;

    const first = await admin.must("GET", path);
    await admin.must("DELETE", `${configMaps()}/still-b`);
    await make("still-c", { still: "yes" });
    const token = encodeURIComponent(String(first.metadata["continue"]));
    const second = await admin.must("GET", `${path}&continue=${token}`);

    assert.deepEqual([names(first), names(second)], [["still-a"], ["still-b"]]);
  });

  test("what remains is not counted where a selector chooses", async () => {
    const { admin } = area();
    for (const name of ["count-a", "count-b"]) await make(name, { count: "yes" });

    const { metadata } = await admin.must("GET", `${configMaps()}?labelSelector=count&limit=1`);

    assert.equal(typeof metadata["continue"], "string");
    assert.equal(metadata["remainingItemCount"], undefined);
  });

  test("a page whose history is forgotten: as it was, or 410 Expired with a token to go on from another state", async (t) => {
    const { admin, cluster } = area();
    if (cluster.compact === undefined) return t.skip("needs an etcd to compact");
    for (const name of ["old-a", "old-b"]) await make(name, { old: "yes" });
    const path = `${configMaps()}?labelSelector=old&limit=1`;
    const first = await admin.must("GET", path);
    await make("old-c", { old: "yes" });
    await cluster.compact();

    const token = encodeURIComponent(String(first.metadata["continue"]));
    const answer = await admin.request("GET", `${path}&continue=${token}`);

    if (answer.code === 200) {
      // Current servers keep what is younger than some minutes in memory, whatever etcd has forgotten.
      assert.deepEqual(names(answer.json), ["old-b"]);
      return undefined;
    }
    assertStatus(answer, { code: 410, reason: "Expired", message: /The provided continue parameter is too old/ });
    const next = encodeURIComponent(String(answer.json.metadata["continue"]));
    const rest = await admin.must("GET", `${configMaps()}?labelSelector=old&continue=${next}`);
    assert.deepEqual(names(rest), ["old-b", "old-c"]);
    return undefined;
  });

  test("a continue token or limit that is none: 400", async () => {
    const { admin } = area();

    const token = await admin.request("GET", `${configMaps()}?continue=abc`);
    const limit = await admin.request("GET", `${configMaps()}?limit=abc`);

    assertStatus(token, { code: 400, reason: "BadRequest", message: /continue key is not valid/ });
    assertStatus(limit, { code: 400, reason: "BadRequest", message: /"abc".*invalid syntax/ });
  });

  test("a continue token together with a resourceVersion: 400", async () => {
    const { admin } = area();
    for (const name of ["both-a", "both-b"]) await make(name);
    const { metadata } = await admin.must("GET", `${configMaps()}?limit=1`);

    const token = encodeURIComponent(String(metadata["continue"]));
    const answer = await admin.request(
      "GET",
      `${configMaps()}?limit=1&continue=${token}&resourceVersion=${metadata.resourceVersion}`,
    );

    assertStatus(answer, {
      code: 400,
      reason: "BadRequest",
      message: /specifying resource version is not allowed when using continue/,
    });
  });

  test("a resourceVersion: 0 is any, one that was is at least that, Exact is that one", async () => {
    const { admin } = area();
    const before = await make("at-a", { at: "yes" });
    const { metadata } = await admin.must("GET", `${configMaps()}?labelSelector=at`);
    await make("at-b", { at: "yes" });
    const list = async (query: string) => names(await admin.must("GET", `${configMaps()}?labelSelector=at&${query}`));

    assert.ok((await list("resourceVersion=0")).length >= 0);
    assert.ok((await list(`resourceVersion=${metadata.resourceVersion}`)).includes("at-a"));
    const exact = `resourceVersion=${metadata.resourceVersion}&resourceVersionMatch=Exact`;
    assert.deepEqual(await list(exact), ["at-a"]);
    assert.equal(before.metadata.name, "at-a");
  });

  test("a resourceVersionMatch that cannot be: 400 or 422", async () => {
    const { admin } = area();

    const alone = await admin.request("GET", `${configMaps()}?resourceVersionMatch=Exact`);
    const unknown = await admin.request("GET", `${configMaps()}?resourceVersion=1&resourceVersionMatch=Nearly`);

    assertStatus(alone, {
      code: 422,
      reason: "Invalid",
      message: /resourceVersionMatch is forbidden unless resourceVersion is provided/,
    });
    assertStatus(unknown, {
      code: 422,
      reason: "Invalid",
      message: /resourceVersionMatch: Unsupported value: "Nearly"/,
    });
  });

  test("a resourceVersion that is none: 400", async () => {
    const answer = await area().admin.request("GET", `${configMaps()}?resourceVersion=abc`);

    assertStatus(answer, { code: 400, reason: "BadRequest", message: /invalid/i });
  });

  test("a resourceVersion of the future: 504 after a while, to be asked again", async () => {
    const answer = await area().admin.request("GET", `${configMaps()}?resourceVersion=${await future()}`);

    assertStatus(answer, {
      code: 504,
      reason: "Timeout",
      message: /^Timeout: Too large resource version: \d+, current: \d+$/,
      details: { causes: [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }] },
    });
    assert.match(String(answer.headers["retry-after"]), /^\d+$/);
  });

  test("a read takes a resourceVersion, too", async () => {
    const { admin } = area();
    const { metadata } = await make("read-at");

    assert.equal((await admin.request("GET", `${configMaps()}/read-at?resourceVersion=0`)).code, 200);
    const present = await admin.request("GET", `${configMaps()}/read-at?resourceVersion=${metadata.resourceVersion}`);
    assert.equal(present.code, 200);
  });

  test("label selectors: equality, sets, presence", async () => {
    await make("l-a", { sel: "a", tier: "x" });
    await make("l-b", { sel: "b", tier: "x" });
    await make("l-c", { sel: "c" });

    assert.deepEqual(await selected("sel=a"), ["l-a"]);
    assert.deepEqual(await selected("sel==a"), ["l-a"]);
    assert.deepEqual(await selected("sel,sel!=a"), ["l-b", "l-c"]);
    assert.deepEqual(await selected("sel in (a, b)"), ["l-a", "l-b"]);
    assert.deepEqual(await selected("sel,sel notin (a)"), ["l-b", "l-c"]);
    assert.deepEqual(await selected("sel,!tier"), ["l-c"]);
    assert.deepEqual(await selected("sel,tier"), ["l-a", "l-b"]);
    assert.deepEqual(await selected("sel=a,tier=x"), ["l-a"]);
    assert.deepEqual(await selected("sel=none"), []);
  });

  test("a label selector that cannot be read: 400", async () => {
    for (const selector of ["a b", "a in b", "a=(", "a in (b"]) {
      const path = `${configMaps()}?labelSelector=${encodeURIComponent(selector)}`;

      const answer = await area().admin.request("GET", path);

      assertStatus(answer, { code: 400, reason: "BadRequest", message: /^unable to parse requirement: / });
    }
  });

  test("field selectors: name and Namespace of all, some fields of some", async () => {
    const { admin, namespace } = area();
    await make("by-field");
    const secrets = `/api/v1/namespaces/${namespace}/secrets`;
    await admin.must("POST", secrets, { metadata: { name: "typed" }, type: "hawser.test/kind" });
    const list = async (path: string, selector: string) =>
      names(await admin.must("GET", `${path}?fieldSelector=${encodeURIComponent(selector)}`));

    assert.deepEqual(await list(configMaps(), "metadata.name=by-field"), ["by-field"]);
    assert.equal((await list(configMaps(), "metadata.name!=by-field")).includes("by-field"), false);
    assert.deepEqual(await list("/api/v1/configmaps", `metadata.namespace=${namespace},metadata.name=by-field`), [
      "by-field",
    ]);
    assert.deepEqual(await list(secrets, "type=hawser.test/kind"), ["typed"]);
  });

  test("a field that selectors may not name: 400", async () => {
    const answer = await area().admin.request("GET", `${configMaps()}?fieldSelector=data.k%3Dv`);

    assertStatus(answer, { code: 400, reason: "BadRequest", message: /not a known field selector|not supported/ });
  });

  test("custom resources are selected by name, and by the fields that their definition names", async (t) => {
    const { admin } = area();
    const definition = definitionOf(area(), {
      kind: "Selectable",
      properties: { color: { type: "string" }, size: { type: "integer" } },
      version: { selectableFields: [{ jsonPath: ".color" }] },
    });
    const { path, object } = await serve(t, area(), definition);
    for (const [name, color] of [
      ["s-a", "red"],
      ["s-b", "blue"],
    ] as const) {
      await admin.must("POST", path(), object(name, { color, size: 1 }));
    }
    const list = async (selector: string) =>
      await admin.request("GET", `${path()}?fieldSelector=${encodeURIComponent(selector)}`);

    assert.deepEqual(names((await list("metadata.name=s-a")).json), ["s-a"]);
    assert.deepEqual(names((await list("color=blue")).json), ["s-b"]);
    assertStatus(await list("size=1"), { code: 400, reason: "BadRequest", message: /field label not supported: size/ });
  });

  test("lists over all Namespaces are in the order of Namespace and name", async () => {
    const { admin } = area();
    await make("across");

    const list = await admin.must("GET", "/api/v1/configmaps");

    const keys = (list.items ?? []).map(({ metadata }) => `${metadata.namespace}/${metadata.name}`);
    assert.ok(keys.includes(`${area().namespace}/across`));
    assert.deepEqual(keys, keys.toSorted());
  });

  test("a large answer is compressed where the client takes gzip", async () => {
    const { admin } = area();
    await admin.must("POST", configMaps(), { metadata: { name: "large" }, data: { k: "x".repeat(300_000) } });

    const zipped = await admin.request("GET", `${configMaps()}/large`, { headers: { "accept-encoding": "gzip" } });
    const plain = await admin.request("GET", `${configMaps()}/large`);

    assert.equal(zipped.headers["content-encoding"], "gzip");
    assert.equal(plain.headers["content-encoding"], undefined);
  });
}
