import assert from "node:assert/strict";
import { test } from "node:test";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Answer } from "../contract-client.ts";
import type { Area } from "../contract-cluster.ts";
import { definitionOf, serve } from "../custom-definition.ts";

const TABLE = "application/json;as=Table;v=v1;g=meta.k8s.io";
const AGGREGATED = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";

/** The form of answers, and what answers beside the resources. */
export function answerCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const get = async (path: string, headers: Record<string, string> = {}, method = "GET"): Promise<Answer> =>
    await area().admin.request(method, path, { headers });
  const accept = async (path: string, range: string): Promise<Answer> => await get(path, { accept: range });
  const make = async (name: string) => await area().admin.must("POST", configMaps(), { metadata: { name } });

  test("who takes anything gets JSON; who takes nothing that there is gets 406", async () => {
    await make("forms");

    for (const range of ["*/*", "application/json", "text/html,*/*;q=0.1", "application/json;stream=watch"]) {
      const answer = await accept(`${configMaps()}/forms`, range);
      assert.equal(answer.code, 200, range);
      assert.equal(answer.headers["content-type"], "application/json");
    }
    assertStatus(await accept(`${configMaps()}/forms`, "text/html"), { code: 406, reason: "NotAcceptable" });
  });

  test("protobuf or JSON: the answer says which; custom resources have JSON alone", async (t) => {
    await make("binary");
    const { path } = await serve(t, area(), definitionOf(area(), { kind: "Textual" }));
    const both = "application/vnd.kubernetes.protobuf,application/json";

    const builtIn = await accept(`${configMaps()}/binary`, both);
    const custom = await accept(path(), both);

    assert.equal(builtIn.code, 200);
    if (builtIn.headers["content-type"] === "application/json") assertHas(builtIn.json, { kind: "ConfigMap" });
    else assert.equal(builtIn.headers["content-type"], "application/vnd.kubernetes.protobuf");
    assert.equal(custom.headers["content-type"], "application/json");
    // That there is none is said in protobuf.
    assert.equal((await accept(path(), "application/vnd.kubernetes.protobuf")).code, 406);
  });

  test("a table or the objects: the kind says which", async () => {
    await make("tabled");

    const { code, json } = await accept(
      `${configMaps()}?fieldSelector=metadata.name%3Dtabled`,
      `${TABLE},application/json`,
    );

    assert.equal(code, 200);
    assert.ok(json.kind === "Table" || json.kind === "ConfigMapList", json.kind);
    if (json.kind === "Table") assert.equal((json["rows"] as unknown[]).length, 1);
  });

  test("discovery in one piece or group by group: the content type says which", async () => {
    const answer = await accept("/apis", `${AGGREGATED},application/json`);

    const inOnePiece = String(answer.headers["content-type"]).includes("as=APIGroupDiscoveryList");
    assert.equal(answer.json.kind, inOnePiece ? "APIGroupDiscoveryList" : "APIGroupList");
  });

  test("pretty: for people, as it is for programs", async () => {
    const made = await make("pretty");

    const pretty = await get(`${configMaps()}/pretty?pretty=true`);
    const plain = await get(`${configMaps()}/pretty`);

    assert.match(pretty.text, /^\{\n {2}"/);
    assert.doesNotMatch(plain.text.trim(), /\n/);
    assert.deepEqual([pretty.json, plain.json], [made, made]);
  });

  test("an answer names its audit event: the client's own, or a new one", async () => {
    const own = await get("/version", { "audit-id": "contract-audit" });
    const [one, two] = [await get("/version"), await get("/version")];

    assert.equal(own.headers["audit-id"], "contract-audit");
    assert.match(String(one.headers["audit-id"]), /^[0-9a-f-]{36}$/);
    assert.notEqual(one.headers["audit-id"], two.headers["audit-id"]);
  });

  test("answers are not to be kept", async () => {
    const { headers } = await get(`${configMaps()}?limit=1`);

    assert.equal(headers["cache-control"], "no-cache, private");
  });

  test("a time limit that is over at once: 504, in plain text, whatever is asked; nothing is written", async () => {
    const { admin } = area();
    const late = await admin.request("POST", `${configMaps()}?timeout=1ns`, { body: { metadata: { name: "late" } } });

    for (const answer of [late, await get("/version?timeout=1ns")]) {
      assert.equal(answer.code, 504);
      assert.match(String(answer.headers["content-type"]), /^text\/plain/);
      assertHas(answer.json, {
        status: "Failure",
        reason: "Timeout",
        message: "Timeout: request did not complete within the allotted timeout",
        code: 504,
      });
    }
  });

  test("time limits are Go's durations; none, or one that is below zero, is the server's own", async () => {
    for (const timeout of ["10s", "1m30s", "1.5s", "0", "0s", "-1s", "1h"]) {
      assert.equal((await get(`${configMaps()}?limit=1&timeout=${timeout}`)).code, 200, timeout);
    }
    for (const timeout of ["10", "1d", "s"]) {
      const message = /^invalid timeout specified in the request URL/;
      assertStatus(await get(`${configMaps()}?timeout=${timeout}`), { code: 400, reason: "BadRequest", message });
    }
  });

  test("health is asked by check, without one, and by any method", async () => {
    assert.deepEqual([(await get("/readyz/etcd")).text, (await get("/livez?exclude=etcd")).text], ["ok", "ok"]);
    assert.equal((await get("/readyz/informer-sync")).text, "ok");
    assert.equal((await get("/livez", {}, "POST")).code, 200);
    assert.equal((await get("/readyz/no-such-check")).code, 404);
    assert.match((await get("/readyz?verbose")).text, /^\[\+\]etcd ok$/m);
  });

  test("version and discovery are read, and nothing else: 405", async () => {
    for (const path of ["/version", "/api/v1"]) {
      assertStatus(await get(path, {}, "POST"), {
        code: 405,
        reason: "MethodNotAllowed",
        message: "the server does not allow this method on the requested resource",
      });
      assert.equal((await get(path, {}, "HEAD")).code, 405);
    }
  });

  test("what no group serves: 404 as text; what a group of the server's own does not: 404 as Status", async () => {
    for (const path of ["/nonsense", "/apis/none.example.com", "/apis/none.example.com/v1"]) {
      const answer = await get(path);
      assert.deepEqual([answer.code, answer.text], [404, "404 page not found\n"], path);
    }
    for (const path of ["/apis/coordination.k8s.io/v9", "/api/v2"]) {
      const message = "the server could not find the requested resource";
      assertStatus(await get(path), { code: 404, reason: "NotFound", message });
    }
  });

  test("discovery of a group's version names what can be done with each resource", async () => {
    const resources = async (path: string) => {
      const { json } = await get(path);
      return json["resources"] as { name: string; verbs: string[] }[];
    };
    const verbsOf = async (path: string, name: string) =>
      (await resources(path)).find((resource) => resource.name === name)?.verbs.toSorted();
    const all = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

    assert.deepEqual(await verbsOf("/apis/coordination.k8s.io/v1", "leases"), all);
    assert.deepEqual(
      await verbsOf("/api/v1", "namespaces"),
      all.filter((verb) => verb !== "deletecollection"),
    );
    assert.deepEqual(await verbsOf("/api/v1", "namespaces/finalize"), ["update"]);
    const approval = await verbsOf("/apis/certificates.k8s.io/v1", "certificatesigningrequests/approval");
    assert.deepEqual(approval, ["get", "patch", "update"]);
    assert.deepEqual(await verbsOf("/apis/authorization.k8s.io/v1", "selfsubjectaccessreviews"), ["create"]);
  });
}
