import assert from "node:assert/strict";
import { test } from "node:test";
import { forbidden } from "../../../../../infra/local/cluster/status.ts";
import type { Admission, AdmissionAttributes, ApiObject } from "../../../../../infra/local/cluster/types.ts";
import { admitAll, Bench, configMap, USER, widget, widgetDefinition } from "./support.ts";

const MAPS = "v1/configmaps";
const ns = { namespace: "default" };
const a = { ...ns, name: "a" };

test("admission sees each write twice, with object, old object and user", async () => {
  const seen: (AdmissionAttributes & { phase: string })[] = [];
  const bench = new Bench({
    admission: async (phase, attributes) => {
      seen.push({ phase, ...attributes });
      return await admitAll(phase, attributes);
    },
  });

  await bench.must("create", MAPS, { ...ns, body: configMap("a") });
  await bench.patch(MAPS, { ...a, body: { data: { k: "v" } }, query: { dryRun: "All" } });
  await bench.must("delete", MAPS, a);

  const short = seen.map(
    (s) =>
      `${s.phase} ${s.operation} ${s.object === undefined ? "-" : "new"} ${s.oldObject === undefined ? "-" : "old"} ${s.dryRun}`,
  );
  assert.deepEqual(short, [
    "mutating CREATE new - false",
    "validating CREATE new - false",
    "mutating UPDATE new old true",
    "validating UPDATE new old true",
    "mutating DELETE - old false",
    "validating DELETE - old false",
  ]);
  assert.deepEqual(seen[0]?.user, USER);
  assert.deepEqual(
    [seen[0]?.kind, seen[0]?.resource, seen[0]?.namespace, seen[0]?.name],
    ["ConfigMap", "configmaps", "default", "a"],
  );
  assert.deepEqual((seen[3]?.object as ApiObject | undefined)?.["data"], { k: "v" });
});

test("what mutating admission changes is defaulted, validated and stored", async () => {
  const admission: Admission = async (phase, { object }) => {
    if (phase === "validating" || object === undefined) return { allowed: true, object, warnings: [] };
    return {
      allowed: true,
      object: { ...object, spec: { size: object.metadata.name === "bad" ? 0 : 5, x: 1 } },
      warnings: [],
    };
  };
  const bench = new Bench({ admission });
  await bench.engine.apply(
    widgetDefinition({ size: { type: "integer", minimum: 1 }, on: { type: "boolean", default: true } }),
  );

  const good = await bench.must("create", "example.com/v1/widgets", { ...ns, body: widget("a", {}) });
  const bad = await bench.ask("create", "example.com/v1/widgets", { ...ns, body: widget("bad", {}) });

  assert.deepEqual(good["spec"], { size: 5, on: true });
  assert.equal(bad.code, 422);
});

test("a refusal is the answer, and nothing is written", async () => {
  const refuse: Admission = async (phase, { object, name }) =>
    phase === "validating"
      ? { allowed: false, status: forbidden({ group: "", resource: "configmaps" }, name, "no") }
      : { allowed: true, object, warnings: [] };
  const bench = new Bench({ admission: refuse });

  const reply = await bench.ask("create", MAPS, { ...ns, body: configMap("a") });

  assert.equal(reply.code, 403);
  assert.equal(reply.body["message"], 'configmaps "a" is forbidden: no');
  assert.equal((await bench.ask("get", MAPS, a)).code, 404);
});

test("warnings of webhooks reach the client", async () => {
  const bench = new Bench({
    admission: async (_phase, { object }) => ({ allowed: true, object, warnings: ["mind the gap"] }),
  });

  const reply = await bench.ask("create", MAPS, { ...ns, body: configMap("a") });

  assert.equal(reply.headers?.["Warning"], '299 - "mind the gap"');
});

test("a patch that another write overtakes while admission thinks is applied to the newer object", async () => {
  const gate = Promise.withResolvers<void>();
  const bench: Bench = new Bench({
    admission: async (phase, attributes) => {
      if (phase === "validating" && attributes.user.username === "slow") await gate.promise;
      return await admitAll(phase, attributes);
    },
  });
  const made = await bench.must("create", MAPS, { ...ns, body: configMap("a", { data: { k: "1" } }) });
  const slow = { ...USER, username: "slow" };

  const patch = bench.patch(MAPS, { ...a, user: slow, body: { data: { mine: "1" } } });
  const put = bench.ask("update", MAPS, { ...a, user: slow, body: { ...made, data: { put: "1" } } });
  await bench.patch(MAPS, { ...a, body: { data: { theirs: "1" } } });
  gate.resolve();

  assert.equal((await patch).code, 200);
  assert.deepEqual((await bench.must("get", MAPS, a))["data"], { k: "1", theirs: "1", mine: "1" });
  assert.equal((await put).code, 409);
});

test("the server's own writes pass by admission", async () => {
  const bench = new Bench({
    admission: async (_phase, { name }) => ({
      allowed: false,
      status: forbidden({ group: "", resource: "x" }, name, "no"),
    }),
  });

  const first = await bench.engine.apply({ apiVersion: "v1", ...configMap("a", { data: { k: "1" } }) });
  const same = await bench.engine.apply({ apiVersion: "v1", ...configMap("a", { data: { k: "1" } }) });
  const next = await bench.engine.apply({ apiVersion: "v1", ...configMap("a", { data: { k: "2" } }) });

  assert.equal(same.metadata.resourceVersion, first.metadata.resourceVersion);
  assert.notEqual(next.metadata.resourceVersion, first.metadata.resourceVersion);
  assert.equal(next.metadata.uid, first.metadata.uid);
  await assert.rejects(
    bench.engine.apply({ apiVersion: "none/v1", kind: "None", metadata: { name: "a" } }),
    /none\/v1 None is not served/,
  );
});
