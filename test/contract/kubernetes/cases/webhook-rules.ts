import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { definitionOf, serve } from "../custom-definition.ts";
import { ALLOW, inForce, type ListeningWebhook, listen, register, webhookTests } from "../webhook.ts";

const MERGE = "application/merge-patch+json";
const CONFIGURATIONS = "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations";
const ANY = { type: "object", "x-kubernetes-preserve-unknown-fields": true };

/** Which requests an admission webhook is asked about, and what its configuration may say. */
export function webhookRuleCases(area: () => Area): void {
  const webhookTest = webhookTests(area);
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  // A server whose cached copy turns out to be outdated decides, and asks, once more: repeats are one.
  const asked = (webhook: ListeningWebhook): readonly unknown[] =>
    webhook.asked
      .map(({ operation, name, subResource }) => [operation, name, subResource].filter(Boolean).join(" "))
      .filter((line, i, lines) => line !== lines[i - 1]);
  const rulesOf = (rule: object): object => ({
    rules: [
      { apiGroups: ["*"], apiVersions: ["*"], operations: ["*"], resources: ["configmaps"], scope: "*", ...rule },
    ],
  });

  webhookTest(
    "only the operations of its rules are asked about",
    async (_t, webhook) => {
      const { admin } = area();
      await admin.must("POST", configMaps(), { metadata: { name: "some" } });
      await admin.must("PATCH", `${configMaps()}/some`, { data: { k: "v" } }, MERGE);
      await admin.must("DELETE", `${configMaps()}/some`);

      assert.deepEqual(asked(webhook), ["CREATE some", "DELETE some"]);
    },
    { operations: ["CREATE", "DELETE"] },
  );

  webhookTest(
    "an object is asked about where its objectSelector selects it as it is or as it was",
    async (_t, webhook) => {
      const { admin } = area();
      await admin.must("POST", configMaps(), { metadata: { name: "left-out", labels: { ask: "no" } } });
      await admin.must("POST", configMaps(), { metadata: { name: "meant" } });
      await admin.must("PATCH", `${configMaps()}/meant`, { metadata: { labels: { ask: "no" } } }, MERGE);
      await admin.must("PATCH", `${configMaps()}/meant`, { data: { k: "v" } }, MERGE);
      await admin.must("DELETE", `${configMaps()}/left-out`);

      assert.deepEqual(asked(webhook), ["CREATE meant", "UPDATE meant"]);
    },
    { more: { objectSelector: { matchExpressions: [{ key: "ask", operator: "DoesNotExist" }] } } },
  );

  webhookTest("other Namespaces are not asked about", async (_t, webhook) => {
    const { admin, token } = area();
    const path = "/api/v1/namespaces/default/configmaps";
    await admin.must("POST", `${path}?dryRun=All`, { metadata: { name: `contract-${token}` } });

    assert.equal(webhook.asked.length, 0);
  });

  webhookTest(
    "a Namespace is asked about as lying in itself, where scope Cluster is asked about",
    async (_t, webhook) => {
      const { admin, namespace } = area();
      await admin.must("PATCH", `/api/v1/namespaces/${namespace}`, { metadata: { labels: { touched: "1" } } }, MERGE);
      await admin.must("POST", configMaps(), { metadata: { name: "within" } });

      assert.equal(webhook.asked.length, 2);
      assertHas(webhook.asked[0], { operation: "UPDATE", name: namespace, namespace });
      assert.deepEqual(asked(webhook)[1], "CREATE within");
    },
    { resources: ["namespaces", "configmaps"] },
  );

  test("a scope leaves out what lies elsewhere", async (t) => {
    if (!area().cluster.reachesUs) return t.skip("needs a server that reaches this machine's 127.0.0.1");
    const { admin, namespace } = area();
    const webhook = await listen(t, ALLOW);
    const resources = ["namespaces", "configmaps"];
    await register(t, area(), webhook, { more: rulesOf({ scope: "Namespaced", resources }) });
    await inForce(area(), webhook);

    await admin.must("PATCH", `/api/v1/namespaces/${namespace}`, { metadata: { labels: { touched: "2" } } }, MERGE);
    await admin.must("POST", configMaps(), { metadata: { name: "scoped" } });

    assert.deepEqual(asked(webhook), ["CREATE scoped"]);
    return undefined;
  });

  webhookTest(
    "status is asked about only where the rules name it",
    async (t, webhook) => {
      const { admin } = area();
      const definition = definitionOf(area(), { kind: "Unasked", properties: { status: ANY }, status: true });
      const { path, object, plural, group } = await serve(t, area(), definition);
      await admin.must("POST", path(), object("u"));
      webhook.asked.splice(0);

      await admin.must("PATCH", `${path()}/u/status`, { status: { a: 1 } }, MERGE);
      await admin.must("PATCH", `${path()}/u`, { metadata: { labels: { a: "b" } } }, MERGE);

      assert.deepEqual(asked(webhook), ["UPDATE u"]);
      assertHas(webhook.asked[0], { resource: { group, version: "v1", resource: plural } });
    },
    { resources: ["*"] },
  );

  webhookTest(
    "a rule for a resource and its subresources names both",
    async (t, webhook) => {
      const { admin } = area();
      const definition = definitionOf(area(), { kind: "Asked", properties: { status: ANY }, status: true });
      const { path, object } = await serve(t, area(), definition);
      await admin.must("POST", path(), object("u"));
      webhook.asked.splice(0);

      await admin.must("PATCH", `${path()}/u/status`, { status: { a: 1 } }, MERGE);
      await admin.must("PATCH", `${path()}/u`, { metadata: { labels: { a: "b" } } }, MERGE);

      assert.deepEqual(asked(webhook), ["UPDATE u status", "UPDATE u"]);
      assertHas(webhook.asked[0], { requestSubResource: "status", object: { status: { a: 1 } } });
    },
    { resources: ["*/*"] },
  );

  test("a write by another version is asked about in the version of the rule", async (t) => {
    if (!area().cluster.reachesUs) return t.skip("needs a server that reaches this machine's 127.0.0.1");
    const { admin } = area();
    const definition = definitionOf(area(), { kind: "Versioned" });
    const [version] = definition.spec.versions;
    assert.ok(version !== undefined);
    const versions = [version, { ...version, name: "v2", storage: false }];
    const { path, object, group, plural } = await serve(t, area(), {
      ...definition,
      spec: { ...definition.spec, versions },
    });
    const webhook = await listen(t, ALLOW);
    // ConfigMaps beside it show when it is in force.
    const rule = { apiGroups: [group], apiVersions: ["v2"], operations: ["*"], resources: [plural], scope: "*" };
    const both = [rule, { ...rule, apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }];
    await register(t, area(), webhook, { more: { rules: both } });
    await inForce(area(), webhook);

    await admin.must("POST", path("v1"), object("old-way", {}, "v1"));

    const [review] = webhook.asked;
    assertHas(review, {
      kind: { group, version: "v2", kind: "Versioned" },
      requestKind: { group, version: "v1", kind: "Versioned" },
      object: { apiVersion: `${group}/v2` },
    });
    return undefined;
  });

  webhookTest("a changed or deleted configuration is in force a moment later", async (t, webhook, hook) => {
    const { admin } = area();
    const other = await listen(t, () => ({ allowed: false, status: { code: 403, message: "moved" } }));
    const path = `${CONFIGURATIONS}/${hook.replace(/\.hawser\.test$/, "")}`;
    const configuration = await admin.must("GET", path);
    const [registered] = configuration["webhooks"] as object[];
    const clientConfig = { url: other.url, caBundle: other.caBundle };
    await admin.must("PUT", path, { ...configuration, webhooks: [{ ...registered, clientConfig }] });
    const untilCode = async (wanted: number): Promise<void> => {
      await eventually(systemClock, `writes to end in ${wanted}`, async () => {
        const body = { metadata: { name: "probe" } };
        const { code } = await admin.request("POST", `${configMaps()}?dryRun=All`, { body });
        return code === wanted ? true : undefined;
      });
    };

    await untilCode(403);
    webhook.asked.splice(0);
    await untilCode(403);
    assert.equal(webhook.asked.length, 0, "the old one is not asked any more");
    await admin.must("DELETE", path);
    await untilCode(201);
  });

  webhookTest("all webhooks are asked, and one denial is enough", async (t, webhook) => {
    const { admin } = area();
    const second = await listen(t, () => ({ allowed: false, status: { code: 403, message: "no" } }));
    const hook = await register(t, area(), second);
    await inForce(area(), second);
    webhook.asked.splice(0);

    const answer = await admin.request("POST", configMaps(), { body: { metadata: { name: "both" } } });

    assertStatus(answer, { code: 403, message: `admission webhook "${hook}" denied the request: no` });
    assert.deepEqual([webhook.asked.length, second.asked.length], [1, 1]);
  });

  test("a configuration is validated, and its defaults are filled in", async () => {
    const { admin, token } = area();
    const make = async (...webhooks: object[]) =>
      await admin.request("POST", `${CONFIGURATIONS}?dryRun=All`, {
        body: { metadata: { name: `contract-${token}-invalid` }, webhooks },
      });
    const good = {
      name: "a.hawser.test",
      clientConfig: { url: "https://127.0.0.1/x" },
      rules: [{ apiGroups: [""], apiVersions: ["v1"], operations: ["CREATE"], resources: ["pods"] }],
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };
    const at = (url: string): object => ({ ...good, clientConfig: { url } });
    const ruled = (rule: object): object => ({ ...good, rules: [{ ...good.rules[0], ...rule }] });

    const made = await make(good);
    assert.equal(made.code, 201, made.text);
    assertHas(made.json, {
      webhooks: [{ failurePolicy: "Fail", matchPolicy: "Equivalent", timeoutSeconds: 10, rules: [{ scope: "*" }] }],
    });
    const bad: readonly (readonly [object, string])[] = [
      [{ ...good, name: "short" }, "name"],
      [{ ...good, sideEffects: "Some" }, "sideEffects"],
      [{ ...good, timeoutSeconds: 31 }, "timeoutSeconds"],
      [{ ...good, failurePolicy: "Shrug" }, "failurePolicy"],
      [{ ...good, admissionReviewVersions: ["v9"] }, "admissionReviewVersions"],
      [{ ...good, clientConfig: {} }, "clientConfig"],
      [at("http://127.0.0.1/x"), "clientConfig.url"],
      [at("https://u:p@127.0.0.1/x"), "clientConfig.url"],
      [at("https://127.0.0.1/x?y=z"), "clientConfig.url"],
      [ruled({ operations: ["BEAT"] }), "rules[0].operations[0]"],
      [ruled({ operations: ["*", "CREATE"] }), "rules[0].operations"],
      [ruled({ resources: [] }), "rules[0].resources"],
      [ruled({ scope: "Universe" }), "rules[0].scope"],
    ];
    for (const [webhook, field] of bad) {
      const details = { causes: [{ field: `webhooks[0].${field}` }] };
      assertStatus(await make(webhook), { code: 422, reason: "Invalid", details });
    }
    const twice = { causes: [{ field: "webhooks[1].name", reason: "FieldValueDuplicate" }] };
    assertStatus(await make(good, good), { code: 422, reason: "Invalid", details: twice });
  });
}
