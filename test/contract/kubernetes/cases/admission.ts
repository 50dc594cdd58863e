import assert from "node:assert/strict";
import type { ApiRecord } from "../../../../infra/local/api-client/api-client.ts";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { definitionOf, serve } from "../custom-definition.ts";
import { accountOf, grant } from "../identity.ts";
import { patching, register, webhookTests } from "../webhook.ts";

const MERGE = "application/merge-patch+json";

/** Admission webhooks: what they are asked, and what their answers do. */
export function admissionCases(area: () => Area): void {
  const webhookTest = webhookTests(area);
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const named = (name: string): object => ({ metadata: { name } });

  webhookTest(
    "a review names the object, the operation, the user, and holds the object old and new",
    async (_t, webhook) => {
      const { admin, namespace } = area();
      const made = await admin.must("POST", configMaps(), { ...named("reviewed"), data: { k: "1" } });
      await admin.must("PATCH", `${configMaps()}/reviewed`, { data: { k: "2" } }, MERGE);
      await admin.must("DELETE", `${configMaps()}/reviewed`);

      const [create, update, remove] = webhook.asked;

      const resource = { group: "", version: "v1", resource: "configmaps" };
      const kind = { group: "", version: "v1", kind: "ConfigMap" };
      const place = { name: "reviewed", namespace, resource, requestResource: resource, kind, requestKind: kind };
      assertHas(create, { ...place, operation: "CREATE", dryRun: false });
      assertHas(create?.["object"], { apiVersion: "v1", kind: "ConfigMap", data: { k: "1" } });
      assert.equal(create?.["oldObject"], null);
      assert.ok(JSON.stringify(create?.["userInfo"]).includes('"system:authenticated"'));
      assertHas(update, { ...place, operation: "UPDATE" });
      assertHas(update, { object: { data: { k: "2" } }, oldObject: { data: { k: "1" } } });
      assertHas(remove, {
        ...place,
        operation: "DELETE",
        object: null,
        oldObject: { data: { k: "2" }, metadata: { uid: made.metadata.uid } },
      });
      assert.equal(new Set(webhook.asked.map(({ uid }) => uid)).size, 3);
    },
  );

  webhookTest("a review says with what options the request came", async (_t, webhook) => {
    const { admin } = area();
    const meta = { apiVersion: "meta.k8s.io/v1" };
    await admin.must("POST", `${configMaps()}?fieldManager=hawser`, named("options"));
    await admin.must("PATCH", `${configMaps()}/options?dryRun=All&fieldManager=hawser`, { data: { k: "v" } }, MERGE);
    const { metadata } = await admin.must("GET", `${configMaps()}/options`);
    const deletion = { propagationPolicy: "Background", preconditions: { uid: metadata.uid } };
    await admin.must("DELETE", `${configMaps()}/options`, { kind: "DeleteOptions", apiVersion: "v1", ...deletion });

    const options = webhook.asked.map((review) => review["options"]);

    assertHas(options[0], { ...meta, kind: "CreateOptions", fieldManager: "hawser" });
    assertHas(options[1], { ...meta, kind: "UpdateOptions", fieldManager: "hawser", dryRun: ["All"] });
    assertHas(options[2], { kind: "DeleteOptions", ...deletion });
    assert.deepEqual(
      webhook.asked.map(({ dryRun }) => dryRun),
      [false, true, false],
    );
  });

  webhookTest(
    "a beat of a ServiceAccount on a custom resource is an UPDATE by that account, with both objects whole",
    async (t, webhook) => {
      const definition = definitionOf(area(), { kind: "Announced", properties: { clusterID: { type: "string" } } });
      const { path, object, plural, group, kind } = await serve(t, area(), definition);
      const { client, username } = await accountOf(t, area(), "beats");
      const rules = [{ apiGroups: [group], resources: [plural], verbs: ["create", "patch"] }];
      await grant(area(), "beats", { account: "beats" }, rules);
      await client.must("POST", path(), object("a", { clusterID: "east" }));
      webhook.asked.splice(0);

      const annotations = { "touch-ts": "2026-12-01T00:00:00Z" };
      const made = await client.must("PATCH", `${path()}/a`, { metadata: { annotations } }, MERGE);

      const { namespace } = area();
      const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
      const [review] = webhook.asked;
      assertHas(review, {
        operation: "UPDATE",
        name: "a",
        namespace,
        kind: { group, version: "v1", kind },
        userInfo: { username, groups },
        object: { clusterID: "east", metadata: { annotations, uid: made.metadata.uid } },
        oldObject: { clusterID: "east", metadata: { uid: made.metadata.uid } },
      });
      const old = review?.["oldObject"] as ApiRecord;
      assert.equal(old.metadata.annotations, undefined);
      assert.equal(webhook.asked.length, 1);
    },
    { resources: ["*"] },
  );

  webhookTest("a write that changes nothing is asked about, too", async (_t, webhook) => {
    const { admin } = area();
    const made = await admin.must("POST", configMaps(), { ...named("same"), data: { k: "v" } });
    webhook.asked.splice(0);

    const patched = await admin.must("PATCH", `${configMaps()}/same`, { data: { k: "v" } }, MERGE);

    assert.deepEqual([webhook.asked.length, patched.metadata.resourceVersion], [1, made.metadata.resourceVersion]);
  });

  webhookTest(
    "a deletion that waits for a finalizer is asked about once, its end as an UPDATE",
    async (_t, webhook) => {
      const { admin } = area();
      await admin.must("POST", configMaps(), { metadata: { name: "held", finalizers: ["hawser.test/held"] } });
      webhook.asked.splice(0);
      await admin.must("DELETE", `${configMaps()}/held`);
      await admin.must("PATCH", `${configMaps()}/held`, { metadata: { finalizers: null } }, MERGE);

      const [remove, update] = webhook.asked;

      assert.equal(webhook.asked.length, 2);
      assert.ok(remove !== undefined && update !== undefined);
      assert.deepEqual([remove.operation, update.operation], ["DELETE", "UPDATE"]);
      assert.equal((remove["oldObject"] as ApiRecord).metadata.deletionTimestamp, undefined);
      for (const side of ["object", "oldObject"]) {
        assert.ok((update[side] as ApiRecord).metadata.deletionTimestamp !== undefined, side);
      }
    },
  );

  webhookTest("a generated name is known to the webhook", async (_t, webhook) => {
    const made = await area().admin.must("POST", configMaps(), { metadata: { generateName: "generated-" } });

    const [review] = webhook.asked;
    assertHas(review?.["object"], { metadata: { name: made.metadata.name, generateName: "generated-" } });
  });

  webhookTest("many that are deleted at once are asked about one by one", async (_t, webhook) => {
    const { admin } = area();
    const names = ["many-1", "many-2"];
    for (const name of names) await admin.must("POST", configMaps(), { metadata: { name, labels: { many: "" } } });
    webhook.asked.splice(0);

    await admin.must("DELETE", `${configMaps()}?labelSelector=many`);

    const olds = webhook.asked.map((review) => (review["oldObject"] as ApiRecord).metadata.name);
    assert.deepEqual(olds.toSorted(), names);
    assert.deepEqual(
      webhook.asked.map(({ name }) => name),
      [undefined, undefined],
    );
  });

  webhookTest("a denial with a message: 403, named after the webhook", async (_t, webhook, hook) => {
    webhook.answer = () => ({ allowed: false, status: { message: "not today", code: 403 } });

    const answer = await area().admin.request("POST", configMaps(), { body: named("denied") });

    const message = `admission webhook "${hook}" denied the request: not today`;
    // No reason is made up where the webhook gives none.
    assertStatus(answer, { code: 403, message });
    assert.equal((await area().admin.request("GET", `${configMaps()}/denied`)).code, 404);
  });

  webhookTest("a denied update, delete or dry run changes nothing", async (_t, webhook, hook) => {
    const { admin } = area();
    const made = await admin.must("POST", configMaps(), { ...named("firm"), data: { k: "v" } });
    webhook.answer = () => ({ allowed: false, status: { message: "no", code: 403 } });
    const denied = { code: 403, message: `admission webhook "${hook}" denied the request: no` };

    const body = { data: { k: "w" } };
    assertStatus(await admin.request("PATCH", `${configMaps()}/firm`, { body, contentType: MERGE }), denied);
    assertStatus(await admin.request("DELETE", `${configMaps()}/firm`), denied);
    assertStatus(await admin.request("POST", `${configMaps()}?dryRun=All`, { body: named("dry") }), denied);

    const now = await admin.must("GET", `${configMaps()}/firm`);
    assert.equal(now.metadata.resourceVersion, made.metadata.resourceVersion);
  });

  webhookTest(
    "a denial keeps the code, reason and details that it gives; without a code it is 403 or 400",
    async (_t, webhook, hook) => {
      const ask = async (status: object | undefined) => {
        webhook.answer = () => ({ allowed: false, ...(status === undefined ? {} : { status }) });
        return await area().admin.request("POST", configMaps(), { body: named("coded") });
      };
      const words = (why: string): string => `admission webhook "${hook}" denied the request${why}`;
      const details = { name: "n", causes: [{ field: "a.b", message: "c" }] };

      const precondition = await ask({ code: 412, message: "no ClusterSet" });
      const reasoned = await ask({ code: 403, reason: "Mine", message: "why" });
      const detailed = await ask({ code: 422, reason: "Invalid", message: "why", details });
      const bare = await ask({ message: "why" });
      const senseless = await ask({ code: 200, message: "why" });
      const empty = await ask(undefined);

      assertStatus(precondition, { code: 412, message: words(": no ClusterSet") });
      assertStatus(reasoned, { code: 403, reason: "Mine", message: words(": why") });
      assertStatus(detailed, { code: 422, reason: "Invalid", message: words(": why"), details });
      for (const { code, text } of [bare, senseless, empty]) assert.ok([400, 403].includes(code), text);
      assert.equal(bare.json["message"], words(": why"));
      assert.equal(empty.json["message"], words(" without explanation"));
    },
  );

  webhookTest("warnings become Warning headers, also those of a denial", async (_t, webhook) => {
    const ask = async (name: string) => await area().admin.request("POST", configMaps(), { body: named(name) });
    webhook.answer = () => ({ allowed: true, warnings: ["careful", 'so "called"', "line\nbreak"] });
    const allowed = await ask("warned");
    webhook.answer = () => ({ allowed: false, warnings: ["careful"], status: { code: 403 } });
    const denied = await ask("warned-of");

    // What cannot stand in a header is left out.
    const warning = '299 - "careful", 299 - "so \\"called\\""';
    assert.deepEqual([allowed.code, String(allowed.headers["warning"])], [201, warning]);
    assert.deepEqual([denied.code, denied.headers["warning"]], [403, '299 - "careful"']);
  });

  webhookTest(
    "a mutating webhook changes the object by JSON patch, before it is validated",
    async (_t, webhook) => {
      const ask = async (name: string, data: object) => {
        webhook.answer = () => patching([{ op: "add", path: "/data", value: data }]);
        return await area().admin.request("POST", configMaps(), { body: named(name) });
      };
      const changed = await ask("mutated", { from: "webhook" });
      const invalid = await ask("mutated-badly", { "not valid": "x" });
      const mistyped = await ask("mutated-worse", { k: 5 });

      assert.deepEqual([changed.code, changed.json["data"]], [201, { from: "webhook" }]);
      assertStatus(invalid, { code: 422, reason: "Invalid" });
      assertStatus(mistyped, { code: 500, reason: "InternalError", message: /cannot unmarshal number/ });
    },
    { type: "mutating" },
  );

  webhookTest(
    "mutating webhooks come one after the other, validating ones see what they made",
    async (t, webhook) => {
      await register(t, area(), webhook, { type: "mutating" });
      await register(t, area(), webhook);
      let count = 0;
      webhook.answer = ({ object }) => {
        const { data = {} } = object as { data?: object };
        const seen = Object.keys(data).length;
        count += 1;
        return count <= 2
          ? patching([{ op: "add", path: `/data/by-${count}`, value: String(seen) }])
          : { allowed: true };
      };

      // The registrations are in force when all three were asked.
      let answer: ApiRecord | undefined;
      for (let attempt = 0; attempt < 100 && count !== 3; attempt += 1) {
        count = 0;
        webhook.asked.splice(0);
        answer = (
          await area().admin.request("POST", `${configMaps()}?dryRun=All`, {
            body: { ...named("chain"), data: { k: "v" } },
          })
        ).json;
      }

      assert.deepEqual(answer?.["data"], { k: "v", "by-1": "1", "by-2": "2" });
      assertHas(webhook.asked[2]?.["object"], { data: { k: "v", "by-1": "1", "by-2": "2" } });
    },
    { type: "mutating" },
  );

  webhookTest("a write that only an earlier check refuses does not reach the webhook", async (_t, webhook) => {
    const answer = await area().admin.request("POST", configMaps(), { body: { metadata: { name: "A_b" } } });

    assertStatus(answer, { code: 422, reason: "Invalid" });
    assert.equal(webhook.asked.length, 0);
  });
}
