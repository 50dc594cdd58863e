import assert from "node:assert/strict";
import { test } from "node:test";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Answer } from "../contract-client.ts";
import type { Area } from "../contract-cluster.ts";
import { definitionOf, serve } from "../custom-definition.ts";

const VERSION = "meta.k8s.io/v1";

/** Pages and resourceVersions of lists: what is asked, and what makes no sense. */
export function listOptionCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const make = async (name: string, labels: object = {}) =>
    await area().admin.must("POST", configMaps(), { metadata: { name, labels } });
  const list = async (query: string): Promise<Answer> => await area().admin.request("GET", `${configMaps()}?${query}`);
  const names = ({ items = [] }: Answer["json"]): string[] => items.map((item) => item.metadata.name);
  const withToken = async (token: object): Promise<Answer> =>
    await list(`limit=1&continue=${Buffer.from(JSON.stringify(token)).toString("base64url")}`);
  const now = async (): Promise<number> =>
    Number((await area().admin.must("GET", `${configMaps()}?limit=1`)).metadata.resourceVersion);

  test("without a limit, a continue token gives all the rest", async () => {
    for (const name of ["rest-a", "rest-b", "rest-c"]) await make(name, { rest: "yes" });
    const { metadata } = (await list("labelSelector=rest&limit=1")).json;

    const rest = await list(`labelSelector=rest&continue=${encodeURIComponent(String(metadata["continue"]))}`);

    assert.deepEqual(names(rest.json), ["rest-b", "rest-c"]);
    assert.equal(rest.json.metadata["continue"], undefined);
  });

  test("pages of custom resources have a continue field, also on the last one", async (t) => {
    const { admin } = area();
    const { path, object } = await serve(t, area(), definitionOf(area(), { kind: "Paged" }));
    for (const name of ["a", "b"]) await admin.must("POST", path(), object(name));

    const first = await admin.must("GET", `${path()}?limit=1`);
    const token = encodeURIComponent(String(first.metadata["continue"]));
    const last = await admin.must("GET", `${path()}?limit=1&continue=${token}`);

    assert.equal(first.metadata["remainingItemCount"], 1);
    assert.deepEqual([names(last), last.metadata["continue"]], [["b"], ""]);
  });

  test("pages over all Namespaces go on from one to the next", async (t) => {
    const { admin, token } = area();
    const other = `contract-${token}-pages`;
    t.after(() => admin.request("DELETE", `/api/v1/namespaces/${other}`));
    await admin.must("POST", "/api/v1/namespaces", { metadata: { name: other } });
    const labels = { across: token };
    await make("across", labels);
    await admin.must("POST", `/api/v1/namespaces/${other}/configmaps`, { metadata: { name: "across", labels } });
    const path = `/api/v1/configmaps?labelSelector=across%3D${token}&limit=1`;

    const first = await admin.must("GET", path);
    const second = await admin.must(
      "GET",
      `${path}&continue=${encodeURIComponent(String(first.metadata["continue"]))}`,
    );

    const where = [first, second].map(({ items = [] }) => items.map((item) => item.metadata.namespace));
    // By Namespace and name in one text: a dash comes before the slash between them.
    assert.deepEqual(where, [[other], [area().namespace]]);
  });

  test("a token of the present goes on from a name in what is there now", async () => {
    for (const name of ["onward-a", "onward-b"]) await make(name, { onward: "yes" });
    const { metadata } = (await list("labelSelector=onward&limit=1")).json;
    const text = Buffer.from(String(metadata["continue"]), "base64url").toString("utf8");
    await make("onward-c", { onward: "yes" });

    // The form of the token that a server gives with 410 Expired.
    const token = JSON.stringify({ ...(JSON.parse(text) as object), rv: -1 });
    const rest = await list(`labelSelector=onward&continue=${Buffer.from(token).toString("base64url")}`);

    assert.equal(rest.code, 200, rest.text);
    assert.deepEqual(names(rest.json), ["onward-b", "onward-c"]);
  });

  test("a limit of zero or less is none; one that is no number is refused", async () => {
    for (const name of ["limit-a", "limit-b"]) await make(name, { limit: "yes" });

    for (const limit of ["0", "-1"]) {
      assert.deepEqual(names((await list(`labelSelector=limit&limit=${limit}`)).json), ["limit-a", "limit-b"]);
    }
    for (const limit of ["1.5", "x", "100000000000000000000"]) {
      const message = new RegExp(`strconv\\.ParseInt: parsing "${limit}": `);
      assertStatus(await list(`limit=${limit}`), { code: 400, reason: "BadRequest", message });
    }
  });

  test("a continue token that was not made here: 400; of a state that is still to come: 504", async () => {
    const wrong = { code: 400, reason: "BadRequest", message: /^invalid continue token: continue key is not valid: / };

    assertStatus(await list("limit=1&continue=%21%21%21"), wrong);
    assertStatus(await withToken({ v: "other", rv: 1, start: "a" }), wrong);
    assertStatus(await withToken({ v: VERSION, rv: 0, start: "a" }), wrong);
    assertStatus(await withToken({ v: VERSION, rv: 5, start: "" }), wrong);
    assertStatus(await withToken({ v: VERSION, rv: 5, start: "../secrets" }), wrong);
    const ahead = await withToken({ v: VERSION, rv: (await now()) + 1_000_000_000, start: "a" });
    assertStatus(ahead, { code: 504, reason: "Timeout", details: { retryAfterSeconds: 1 } });
  });

  test("a continue token beside resourceVersion 0 is fine, beside a resourceVersionMatch it is not", async () => {
    for (const name of ["beside-a", "beside-b"]) await make(name, { beside: "yes" });
    const { metadata } = (await list("labelSelector=beside&limit=1")).json;
    const token = `labelSelector=beside&continue=${encodeURIComponent(String(metadata["continue"]))}`;

    assert.deepEqual(names((await list(`${token}&resourceVersion=0`)).json), ["beside-b"]);
    assertStatus(await list(`${token}&resourceVersionMatch=NotOlderThan`), {
      code: 422,
      reason: "Invalid",
      message: /resourceVersionMatch is forbidden when continue is provided/,
    });
  });

  test("NotOlderThan and Exact say what a resourceVersion means", async () => {
    await make("means-a", { means: "yes" });
    const at = await now();
    await make("means-b", { means: "yes" });
    const means = async (query: string) => names((await list(`labelSelector=means&${query}`)).json);

    const notOlder = await means(`resourceVersion=${await now()}&resourceVersionMatch=NotOlderThan`);
    const exact = await list(`labelSelector=means&resourceVersion=${at}&resourceVersionMatch=Exact&limit=5`);

    assert.deepEqual(notOlder, ["means-a", "means-b"]);
    assert.deepEqual(names(exact.json), ["means-a"]);
    assert.equal(exact.json.metadata.resourceVersion, String(at));
    assertStatus(await list("resourceVersion=0&resourceVersionMatch=Exact"), {
      code: 422,
      reason: "Invalid",
      message: /resourceVersionMatch "exact" is forbidden for resourceVersion "0"/,
    });
  });

  test("a state that is still to come is waited for, then refused as a timeout, for objects and lists alike", async () => {
    await make("to-come");
    const ahead = (await now()) + 1_000_000_000;
    const expected = {
      code: 504,
      reason: "Timeout",
      message: /^Timeout: Too large resource version: \d+, current: \d+$/,
      details: { retryAfterSeconds: 1 },
    };

    const one = await area().admin.request("GET", `${configMaps()}/to-come?resourceVersion=${ahead}`);

    assertStatus(one, expected);
    assertStatus(await list(`resourceVersion=${ahead}&resourceVersionMatch=Exact`), expected);
  });

  test("a state that is forgotten: as it was, or 410 Expired", async (t) => {
    const { cluster } = area();
    if (cluster.compact === undefined) return t.skip("needs an etcd to compact");
    await make("past-a", { past: "yes" });
    const at = await now();
    await make("past-b", { past: "yes" });
    await cluster.compact();

    const answer = await list(`labelSelector=past&resourceVersion=${at}&resourceVersionMatch=Exact`);

    // Current servers keep some minutes in memory, whatever etcd has forgotten.
    if (answer.code === 200) assert.deepEqual(names(answer.json), ["past-a"]);
    else assertStatus(answer, { code: 410, reason: "Expired" });
    return undefined;
  });

  test("options of watches on a list: refused where they mean something else, ignored where they mean nothing", async () => {
    await make("ignored");
    const query = "fieldSelector=metadata.name%3Dignored";

    for (const more of ["allowWatchBookmarks=true", "timeoutSeconds=5", "unheardOf=1", "watch=false", "watch=0"]) {
      assert.deepEqual(names((await list(`${query}&${more}`)).json), ["ignored"], more);
    }
    const initial = await list("sendInitialEvents=true");
    assertStatus(initial, { code: 422, reason: "Invalid", message: /sendInitialEvents is forbidden for list/ });
    assertStatus(await list("timeoutSeconds=abc"), { code: 400, reason: "BadRequest" });
  });

  test("a Namespace that is not there has empty lists", async () => {
    const { admin, token } = area();

    const answer = await admin.request("GET", `/api/v1/namespaces/contract-${token}-absent/configmaps`);

    assert.equal(answer.code, 200, answer.text);
    assertHas(answer.json, { kind: "ConfigMapList", items: [] });
  });

  test("a slash at the end of a path changes nothing; two within it are no path", async () => {
    const { admin, namespace } = area();

    assert.equal((await admin.request("GET", `${configMaps()}/?limit=1`)).code, 200);
    assert.equal((await admin.request("GET", `/api/v1/namespaces/${namespace}//configmaps`)).code, 404);
    // What comes of a server's address that ends with a slash.
    assert.equal((await admin.request("GET", `/${configMaps()}`)).code, 404);
  });
}
