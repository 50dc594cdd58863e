import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { type TestContext, test } from "node:test";
import type { SimulatedCluster } from "../../../../../infra/local/cluster/simulated-cluster.ts";
import { CONFIG_MAPS, call, configMap, connect, startCluster } from "./cluster-under-test.ts";

interface ReviewRequest extends Record<string, unknown> {
  readonly uid: string;
  readonly operation: string;
  readonly name?: string;
  readonly namespace?: string;
  readonly userInfo: { readonly username: string };
  readonly object: { readonly data?: Record<string, string> } | null;
  readonly oldObject: { readonly data?: Record<string, string> } | null;
}
type Answer = Record<string, unknown> | "drop" | "hang" | 500;

/** A webhook on loopback, with what it was asked. */
async function startWebhook(
  t: TestContext,
  cluster: SimulatedCluster,
  answer: (request: ReviewRequest) => Answer,
  names: readonly string[] = ["127.0.0.1"],
): Promise<{ url: string; port: number; asked: ReviewRequest[]; stop: () => Promise<void> }> {
  const asked: ReviewRequest[] = [];
  const server = createServer(await cluster.authority.issueServer(names), (request, response) => {
    void text(request).then((body) => {
      const review = JSON.parse(body) as { request: ReviewRequest };
      asked.push(review.request);
      const said = answer(review.request);
      if (said === "hang") return;
      if (said === "drop") request.socket.destroy();
      else if (said === 500) response.writeHead(500).end("broken\n");
      else {
        const reply = { uid: review.request.uid, ...said };
        response.setHeader("content-type", "application/json");
        response.end(JSON.stringify({ apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview", response: reply }));
      }
    });
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const stop = async (): Promise<void> => {
    if (!server.listening) return;
    const closed = once(server, "close");
    server.close();
    server.closeAllConnections();
    await closed;
  };
  t.after(stop);
  const { port } = server.address() as AddressInfo;
  return { url: `https://127.0.0.1:${port}/hook`, port, asked, stop };
}

async function configure(
  cluster: SimulatedCluster,
  kind: "Validating" | "Mutating",
  hook: Record<string, unknown>,
  name = "test",
): Promise<void> {
  await cluster.engine.apply({
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: [
      {
        name: "check.hawser.test",
        admissionReviewVersions: ["v1"],
        sideEffects: "None",
        rules: [{ operations: ["CREATE", "UPDATE"], apiGroups: [""], apiVersions: ["v1"], resources: ["configmaps"] }],
        ...hook,
      },
    ],
  });
}

function clientConfig(cluster: SimulatedCluster, url: string): Record<string, unknown> {
  return { clientConfig: { url, caBundle: Buffer.from(cluster.caPem).toString("base64") } };
}

test("a denial is told with the webhook's name, message and code, and nothing is stored", async (t) => {
  const { cluster } = await startCluster(t);
  const hook = await startWebhook(t, cluster, () => ({ allowed: false, status: { code: 403, message: "not you" } }));
  await configure(cluster, "Validating", clientConfig(cluster, hook.url));

  const { status, json } = await call(connect(t, cluster), "POST", CONFIG_MAPS, { body: configMap("a") });

  assert.equal(status, 403);
  assert.equal(json["message"], 'admission webhook "check.hawser.test" denied the request: not you');
  assert.equal(cluster.engine.readOne("", "configmaps", "default", "a"), undefined);
});

test("a denial without a code is a 400, without a message one without explanation", async (t) => {
  const { cluster } = await startCluster(t);
  const hook = await startWebhook(t, cluster, () => ({ allowed: false }));
  await configure(cluster, "Validating", clientConfig(cluster, hook.url));

  const { status, json } = await call(connect(t, cluster), "POST", CONFIG_MAPS, { body: configMap("a") });

  assert.equal(status, 400);
  assert.equal(json["message"], 'admission webhook "check.hawser.test" denied the request without explanation');
});

test("a webhook is asked with both objects, the user and what is done", async (t) => {
  const { cluster } = await startCluster(t);
  const hook = await startWebhook(t, cluster, () => ({ allowed: true, warnings: ["mind the gap"] }));
  await configure(cluster, "Validating", clientConfig(cluster, hook.url));
  const client = connect(t, cluster);

  await call(client, "POST", CONFIG_MAPS, { body: configMap("a", { k: "1" }) });
  const patched = await call(client, "PATCH", `${CONFIG_MAPS}/a`, {
    body: { data: { k: "2" } },
    headers: { "content-type": "application/merge-patch+json" },
  });

  const [create, update] = hook.asked;
  assert.equal(patched.headers["warning"], '299 - "mind the gap"');
  assert.deepEqual([create?.operation, create?.object !== null, create?.oldObject], ["CREATE", true, null]);
  assert.deepEqual(update?.["kind"], { group: "", version: "v1", kind: "ConfigMap" });
  assert.deepEqual(update?.["resource"], { group: "", version: "v1", resource: "configmaps" });
  assert.deepEqual([update?.operation, update?.name, update?.namespace], ["UPDATE", "a", "default"]);
  assert.equal(update?.userInfo.username, "admin");
  assert.equal(update?.object?.data?.["k"], "2");
  assert.equal(update?.oldObject?.data?.["k"], "1");
});

test("a mutating webhook's patch is what is stored and what the validating one sees", async (t) => {
  const { cluster } = await startCluster(t);
  const patch = Buffer.from(JSON.stringify([{ op: "add", path: "/data/added", value: "yes" }])).toString("base64");
  const mutating = await startWebhook(t, cluster, () => ({ allowed: true, patchType: "JSONPatch", patch }));
  const validating = await startWebhook(t, cluster, () => ({ allowed: true }));
  await configure(cluster, "Mutating", clientConfig(cluster, mutating.url));
  await configure(cluster, "Validating", clientConfig(cluster, validating.url));

  const { json } = await call(connect(t, cluster), "POST", CONFIG_MAPS, { body: configMap("a", { k: "v" }) });

  assert.deepEqual(json["data"], { k: "v", added: "yes" });
  assert.deepEqual(validating.asked[0]?.object?.data, { k: "v", added: "yes" });
});

test("a webhook that is down fails the request, or is passed over where it may be ignored", async (t) => {
  const { cluster } = await startCluster(t);
  const hook = await startWebhook(t, cluster, () => ({ allowed: true }));
  await hook.stop();
  await configure(cluster, "Validating", clientConfig(cluster, hook.url));
  const client = connect(t, cluster);

  const { status, json } = await call(client, "POST", CONFIG_MAPS, { body: configMap("a") });
  await configure(cluster, "Validating", { ...clientConfig(cluster, hook.url), failurePolicy: "Ignore" });
  const ignored = await call(client, "POST", CONFIG_MAPS, { body: configMap("a") });

  assert.deepEqual([status, json["reason"]], [500, "InternalError"]);
  assert.equal(
    json["message"],
    'Internal error occurred: failed calling webhook "check.hawser.test": failed to call webhook: ' +
      `Post "${hook.url}?timeout=10s": dial tcp 127.0.0.1:${hook.port}: connect: connection refused`,
  );
  assert.equal(ignored.status, 201);
});

test("a webhook with an unknown authority, a wrong answer or a broken connection fails the request", async (t) => {
  const { cluster } = await startCluster(t);
  const { cluster: other } = await startCluster(t);
  let answer: Answer = { allowed: true };
  const hook = await startWebhook(t, cluster, () => answer);
  const post = async (): Promise<unknown> =>
    (await call(connect(t, cluster), "POST", CONFIG_MAPS, { body: configMap("a") })).json["message"];

  await configure(cluster, "Validating", clientConfig(other, hook.url));
  assert.match(String(await post()), /x509: certificate signed by unknown authority$/);
  await configure(cluster, "Validating", clientConfig(cluster, hook.url));
  answer = { uid: "another", allowed: true };
  assert.match(String(await post()), /received invalid webhook response: expected response.uid=/);
  answer = 500;
  assert.match(String(await post()), /an error on the server \("broken"\) has prevented the request from succeeding$/);
  answer = "drop";
  assert.match(String(await post()), /EOF$/);
});

test("a webhook that says nothing is given up after its timeout", async (t) => {
  const { cluster, clock } = await startCluster(t);
  const asked = Promise.withResolvers<void>();
  const hook = await startWebhook(t, cluster, () => {
    asked.resolve();
    return "hang";
  });
  await configure(cluster, "Validating", { ...clientConfig(cluster, hook.url), timeoutSeconds: 3 });

  const answer = call(connect(t, cluster), "POST", CONFIG_MAPS, { body: configMap("a") });
  await asked.promise;
  await clock.advance(3000);

  assert.match(String((await answer).json["message"]), /\?timeout=3s": context deadline exceeded$/);
});

test("selectors, rules and scope decide which requests a webhook sees", async (t) => {
  const { cluster } = await startCluster(t);
  const hook = await startWebhook(t, cluster, () => ({ allowed: false, status: { message: "no" } }));
  const client = connect(t, cluster);
  let count = 0;
  const denied = async (rule: Record<string, unknown>): Promise<boolean> => {
    await configure(cluster, "Validating", { ...clientConfig(cluster, hook.url), ...rule });
    const body = { ...configMap(`c${(count += 1)}`), metadata: { name: `c${count}`, labels: { app: "x" } } };
    return (await call(client, "POST", CONFIG_MAPS, { body })).status !== 201;
  };
  const rules = (change: Record<string, unknown>): Record<string, unknown> => ({
    rules: [{ operations: ["*"], apiGroups: ["*"], apiVersions: ["*"], resources: ["*"], ...change }],
  });

  assert.equal(await denied(rules({})), true);
  assert.equal(await denied(rules({ operations: ["DELETE"] })), false);
  assert.equal(await denied(rules({ apiGroups: ["apps"] })), false);
  assert.equal(await denied(rules({ resources: ["configmaps/status"] })), false);
  assert.equal(await denied(rules({ scope: "Cluster" })), false);
  assert.equal(await denied(rules({ scope: "Namespaced" })), true);
  assert.equal(
    await denied({ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "default" } } }),
    true,
  );
  assert.equal(await denied({ namespaceSelector: { matchLabels: { team: "a" } } }), false);
  assert.equal(
    await denied({ objectSelector: { matchExpressions: [{ key: "app", operator: "In", values: ["x"] }] } }),
    true,
  );
  assert.equal(
    await denied({ objectSelector: { matchExpressions: [{ key: "app", operator: "DoesNotExist" }] } }),
    false,
  );
});

test("a dry run is told to the webhook, and nothing is stored", async (t) => {
  const { cluster } = await startCluster(t);
  const hook = await startWebhook(t, cluster, () => ({ allowed: true }));
  await configure(cluster, "Validating", clientConfig(cluster, hook.url));

  const { status } = await call(connect(t, cluster), "POST", `${CONFIG_MAPS}?dryRun=All`, { body: configMap("a") });

  assert.equal(status, 201);
  assert.equal(hook.asked[0]?.["dryRun"], true);
  assert.equal(cluster.engine.readOne("", "configmaps", "default", "a"), undefined);
});

test("a webhook behind a Service is called where the Service listens, and checked under the Service's name", async (t) => {
  const listening = new Map<string, string>();
  const { cluster } = await startCluster(t, {
    resolveService: ({ namespace, name, port }) => listening.get(`${namespace}/${name}:${port}`),
  });
  const hook = await startWebhook(t, cluster, () => ({ allowed: false, status: { message: "seen" } }), [
    "hook.kube-system.svc",
  ]);
  const caBundle = Buffer.from(cluster.caPem).toString("base64");
  const service = { name: "hook", namespace: "kube-system", path: "/validate" };
  await configure(cluster, "Validating", { clientConfig: { service, caBundle } });
  const post = async (): Promise<string> =>
    String((await call(connect(t, cluster), "POST", CONFIG_MAPS, { body: configMap("a") })).json["message"]);

  assert.match(
    await post(),
    /Post "https:\/\/hook\.kube-system\.svc:443\/validate\?timeout=10s": service "hook" not found$/,
  );
  listening.set("kube-system/hook:443", `https://127.0.0.1:${hook.port}`);

  assert.equal(await post(), 'admission webhook "check.hawser.test" denied the request: seen');
});
