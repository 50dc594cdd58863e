import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { definitionOf, serve } from "../custom-definition.ts";
import {
  type Answering,
  failing,
  inForce,
  type ListeningWebhook,
  listen,
  type Registration,
  register,
} from "../webhook.ts";

const MERGE = "application/merge-patch+json";
const ALLOW: Answering = () => ({ allowed: true });

/** Admission webhooks: what they are asked, what their answers do, and what happens where there is none. */
export function admissionCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const named = (name: string): object => ({ metadata: { name } });
  /** A case with a webhook that is in force. */
  const webhookTest = (
    title: string,
    run: (t: TestContext, webhook: ListeningWebhook, hook: string) => Promise<void>,
    registration: Registration = {},
  ): void => {
    test(title, async (t) => {
      if (!area().cluster.reachesUs) return t.skip("needs a server that reaches this machine's 127.0.0.1");
      const webhook = await listen(t, ALLOW);
      const hook = await register(t, area(), webhook, registration);
      await inForce(area(), webhook);
      await run(t, webhook, hook);
      return undefined;
    });
  };
  const answering = (webhook: ListeningWebhook, answer: Answering): void => {
    webhook.answer = answer;
  };

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
      assertHas(create, {
        operation: "CREATE",
        name: "reviewed",
        namespace,
        resource,
        kind,
        requestKind: kind,
        dryRun: false,
      });
      assertHas(create?.["object"], { apiVersion: "v1", kind: "ConfigMap", data: { k: "1" } });
      assert.equal(create?.["oldObject"], null);
      assert.ok(JSON.stringify(create?.["userInfo"]).includes('"system:authenticated"'));
      assertHas(update, { operation: "UPDATE", object: { data: { k: "2" } }, oldObject: { data: { k: "1" } } });
      assertHas(remove, {
        operation: "DELETE",
        object: null,
        oldObject: { data: { k: "2" }, metadata: { uid: made.metadata.uid } },
      });
      assert.equal(new Set(webhook.asked.map(({ uid }) => uid)).size, 3);
    },
  );

  webhookTest("a denial with a message: 403, named after the webhook", async (_t, webhook, hook) => {
    answering(webhook, () => ({ allowed: false, status: { message: "not today", code: 403 } }));

    const answer = await area().admin.request("POST", configMaps(), { body: named("denied") });

    const message = `admission webhook "${hook}" denied the request: not today`;
    // No reason is made up where the webhook gives none.
    assertStatus(answer, { code: 403, message });
    assert.equal((await area().admin.request("GET", `${configMaps()}/denied`)).code, 404);
  });

  webhookTest(
    "a denial keeps the code and reason that it gives; without a code it is 403 or 400",
    async (_t, webhook, hook) => {
      const ask = async (status: object | undefined) => {
        answering(webhook, () => ({ allowed: false, ...(status === undefined ? {} : { status }) }));
        return await area().admin.request("POST", configMaps(), { body: named("coded") });
      };

      const precondition = await ask({ code: 412, message: "no ClusterSet" });
      const reasoned = await ask({ code: 403, reason: "Mine", message: "why" });
      const bare = await ask({ message: "why" });
      const empty = await ask(undefined);

      assertStatus(precondition, {
        code: 412,
        message: `admission webhook "${hook}" denied the request: no ClusterSet`,
      });
      assertStatus(reasoned, {
        code: 403,
        reason: "Mine",
        message: `admission webhook "${hook}" denied the request: why`,
      });
      assert.ok([400, 403].includes(bare.code), bare.text);
      assert.equal(bare.json["message"], `admission webhook "${hook}" denied the request: why`);
      assert.equal(empty.json["message"], `admission webhook "${hook}" denied the request without explanation`);
    },
  );

  webhookTest("warnings become Warning headers", async (_t, webhook) => {
    answering(webhook, () => ({ allowed: true, warnings: ["careful"] }));

    const answer = await area().admin.request("POST", configMaps(), { body: named("warned") });

    assert.deepEqual([answer.code, answer.headers["warning"]], [201, '299 - "careful"']);
  });

  webhookTest("a dry run is told to the webhook", async (_t, webhook) => {
    await area().admin.must("POST", `${configMaps()}?dryRun=All`, named("dry"));

    assert.equal(webhook.asked[0]?.dryRun, true);
  });

  webhookTest(
    "a webhook that is gone: 500, and the message says that it could not be called",
    async (_t, webhook, hook) => {
      webhook.close();

      const answer = await area().admin.request("POST", configMaps(), { body: named("unreachable") });

      const message = new RegExp(
        `^Internal error occurred: failed calling webhook "${hook}": failed to call webhook: Post "${webhook.url}\\?timeout=10s": dial tcp 127\\.0\\.0\\.1:\\d+: connect: connection refused$`,
      );
      assertStatus(answer, { code: 500, reason: "InternalError", message });
    },
  );

  webhookTest("a webhook that answers with an error, or not in JSON: 500", async (_t, webhook, hook) => {
    const prefix = `Internal error occurred: failed calling webhook "${hook}": `;
    const ask = async (raw: string, code: number) => {
      answering(webhook, () => ({ raw, code }));
      const answer = await area().admin.request("POST", configMaps(), { body: named("broken") });
      assertStatus(answer, { code: 500, reason: "InternalError" });
      return String(answer.json["message"]);
    };

    const failed = await ask("out of order", 500);
    const page = await ask("<html>hello</html>", 200);

    assert.ok(failed.startsWith(`${prefix}failed to call webhook: `), failed);
    assert.ok(page.startsWith(prefix), page);
  });

  webhookTest("an answer to another review: 500", async (_t, webhook) => {
    answering(webhook, () => ({ allowed: true, uid: "another" }));

    const answer = await area().admin.request("POST", configMaps(), { body: named("mixed-up") });

    assertStatus(answer, { code: 500, reason: "InternalError", message: /expected response\.uid/ });
  });

  test("a webhook that says nothing: 500 after its own timeout", async (t) => {
    if (!area().cluster.reachesUs) return t.skip("needs a server that reaches this machine's 127.0.0.1");
    const webhook = await listen(t, () => "silence");
    const hook = await register(t, area(), webhook, { more: { timeoutSeconds: 1 } });

    const { code, message } = await failing(area());

    assert.equal(code, 500);
    assert.match(
      message,
      new RegExp(`failed calling webhook "${hook}": failed to call webhook: Post ".*timeout=1s": `),
    );
    assert.match(message, /context deadline exceeded|timeout/i);
    return undefined;
  });

  test("a webhook whose certificate is another's: 500, x509", async (t) => {
    if (!area().cluster.reachesUs) return t.skip("needs a server that reaches this machine's 127.0.0.1");
    const [webhook, other] = [await listen(t, ALLOW), await listen(t, ALLOW)];
    const hook = await register(t, area(), { url: webhook.url, caBundle: other.caBundle });

    const { code, message } = await failing(area());

    assert.equal(code, 500);
    assert.match(
      message,
      new RegExp(`failed calling webhook "${hook}": failed to call webhook: Post ".*": tls: .*x509: `),
    );
    return undefined;
  });

  webhookTest(
    "failurePolicy Ignore lets through what could not be asked",
    async (_t, webhook) => {
      webhook.close();

      assert.equal((await area().admin.request("POST", configMaps(), { body: named("ignored") })).code, 201);
    },
    { more: { failurePolicy: "Ignore" } },
  );

  webhookTest(
    "only the operations of its rules are asked",
    async (_t, webhook) => {
      const { admin } = area();
      await admin.must("POST", configMaps(), named("some-operations"));
      await admin.must("PATCH", `${configMaps()}/some-operations`, { data: { k: "v" } }, MERGE);
      await admin.must("DELETE", `${configMaps()}/some-operations`);

      assert.deepEqual(
        webhook.asked.map(({ operation }) => operation),
        ["CREATE", "DELETE"],
      );
    },
    { operations: ["CREATE", "DELETE"] },
  );

  webhookTest(
    "an object that its objectSelector leaves out is not asked about",
    async (_t, webhook) => {
      await area().admin.must("POST", configMaps(), { metadata: { name: "unasked", labels: { ask: "no" } } });
      await area().admin.must("POST", configMaps(), named("asked"));

      assert.deepEqual(
        webhook.asked.map(({ name }) => name),
        ["asked"],
      );
    },
    { more: { objectSelector: { matchExpressions: [{ key: "ask", operator: "DoesNotExist" }] } } },
  );

  webhookTest("other Namespaces are not asked about", async (_t, webhook) => {
    const { admin, token } = area();
    const path = "/api/v1/namespaces/default/configmaps";
    await admin.must("POST", `${path}?dryRun=All`, named(`contract-${token}`));

    assert.equal(webhook.asked.length, 0);
  });

  webhookTest(
    "status is asked about only where the rules name it",
    async (t, webhook) => {
      const { admin } = area();
      const any = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
      const definition = definitionOf(area(), { kind: "Unasked", properties: { status: any }, status: true });
      const { path, object, plural, group } = await serve(t, area(), definition);
      await admin.must("POST", path(), object("u"));
      webhook.asked.splice(0);

      await admin.must("PATCH", `${path()}/u/status`, { status: { a: 1 } }, MERGE);
      await admin.must("PATCH", `${path()}/u`, { metadata: { labels: { a: "b" } } }, MERGE);

      assert.equal(webhook.asked.length, 1);
      assertHas(webhook.asked[0], { resource: { group, version: "v1", resource: plural } });
      assert.equal(webhook.asked[0]?.subResource, undefined);
    },
    { resources: ["*"] },
  );

  webhookTest(
    "a mutating webhook changes the object by JSON patch, before it is validated",
    async (_t, webhook) => {
      const patchOf = (operations: readonly object[]): object => ({
        allowed: true,
        patchType: "JSONPatch",
        patch: Buffer.from(JSON.stringify(operations)).toString("base64"),
      });
      answering(webhook, () => patchOf([{ op: "add", path: "/data", value: { from: "webhook" } }]));
      const changed = await area().admin.request("POST", configMaps(), { body: named("mutated") });
      answering(webhook, () => patchOf([{ op: "add", path: "/data", value: { "not valid": "x" } }]));
      const invalid = await area().admin.request("POST", configMaps(), { body: named("mutated-badly") });

      assert.deepEqual([changed.code, changed.json["data"]], [201, { from: "webhook" }]);
      assertStatus(invalid, { code: 422, reason: "Invalid" });
    },
    { type: "mutating" },
  );

  webhookTest("a write that only an earlier check refuses does not reach the webhook", async (_t, webhook) => {
    const answer = await area().admin.request("POST", configMaps(), { body: { metadata: { name: "A_b" } } });

    assertStatus(answer, { code: 422, reason: "Invalid" });
    assert.equal(webhook.asked.length, 0);
  });

  test("a configuration is validated", async () => {
    const { admin, token } = area();
    const make = async (webhook: object) =>
      await admin.request("POST", "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations?dryRun=All", {
        body: { metadata: { name: `contract-${token}-invalid` }, webhooks: [webhook] },
      });
    const good = {
      name: "a.hawser.test",
      clientConfig: { url: "https://127.0.0.1/x" },
      sideEffects: "None",
      admissionReviewVersions: ["v1"],
    };

    assert.equal((await make(good)).code, 201);
    assertStatus(await make({ ...good, name: "short" }), {
      code: 422,
      reason: "Invalid",
      message: /webhooks\[0\]\.name/,
    });
    assertStatus(await make({ ...good, sideEffects: "Some" }), {
      code: 422,
      reason: "Invalid",
      message: /sideEffects/,
    });
    const http = { ...good, clientConfig: { url: "http://127.0.0.1/x" } };
    assertStatus(await make(http), { code: 422, reason: "Invalid", message: /webhooks\[0\]\.clientConfig\.url/ });
    assertStatus(await make({ ...good, timeoutSeconds: 31 }), {
      code: 422,
      reason: "Invalid",
      message: /timeoutSeconds/,
    });
    assertStatus(await make({ ...good, admissionReviewVersions: ["v9"] }), {
      code: 422,
      reason: "Invalid",
      message: /admissionReviewVersions/,
    });
  });
}
