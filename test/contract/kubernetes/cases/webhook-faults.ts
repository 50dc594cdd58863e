import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { ALLOW, type Answering, failing, listen, patching, register, webhookTests } from "../webhook.ts";

const MERGE = "application/merge-patch+json";
const REVIEW = { apiVersion: "admission.k8s.io/v1", kind: "AdmissionReview" };

/** What an API server says of a webhook that cannot be asked: clients tell it from a refusal by these words. */
export function webhookFaultCases(area: () => Area): void {
  const webhookTest = webhookTests(area);
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const post = async (name: string) =>
    await area().admin.request("POST", configMaps(), { body: { metadata: { name } } });
  /** A case with a webhook that is never in force but by its failure. */
  const failureTest = (
    title: string,
    {
      answer = ALLOW,
      client,
      more = {},
    }: { answer?: Answering; client?: (url: string, ca: string) => object; more?: object },
    words: (hook: string, url: string) => RegExp,
  ): void => {
    test(title, async (t) => {
      if (!area().cluster.reachesUs) return t.skip("needs a server that reaches this machine's 127.0.0.1");
      const webhook = await listen(t, answer);
      const { url, caBundle } = webhook;
      const clientConfig = client?.(url, caBundle) ?? { url, caBundle };
      const hook = await register(t, area(), webhook, { more: { clientConfig, ...more } });

      const { code, message } = await failing(area());

      assert.equal(code, 500, message);
      assert.match(message, words(hook, url));
      return undefined;
    });
  };
  const calling = (hook: string, rest: string): RegExp =>
    new RegExp(`^Internal error occurred: failed calling webhook "${hook}": failed to call webhook: ${rest}`);

  webhookTest(
    "a webhook that is gone: 500, and the message says that it could not be called",
    async (_t, webhook, hook) => {
      webhook.close();

      // A connection that was kept may break first.
      const answer = await eventually(systemClock, "the connection to be refused", async () => {
        const tried = await post("unreachable");
        assertStatus(tried, { code: 500, reason: "InternalError", message: calling(hook, 'Post "') });
        return tried.text.includes("connection refused") ? tried : undefined;
      });

      const words = `Post "${webhook.url}\\?timeout=10s": dial tcp 127\\.0\\.0\\.1:\\d+: connect: connection refused$`;
      assertStatus(answer, { code: 500, reason: "InternalError", message: calling(hook, words) });
    },
  );

  webhookTest("while a webhook is gone nothing is written, and all can be read", async (_t, webhook) => {
    const { admin } = area();
    await admin.must("POST", configMaps(), { metadata: { name: "kept" }, data: { k: "v" } });
    webhook.close();

    const patched = await admin.request("PATCH", `${configMaps()}/kept`, {
      body: { data: { k: "w" } },
      contentType: MERGE,
    });
    const deleted = await admin.request("DELETE", `${configMaps()}/kept`);
    const dry = await admin.request("POST", `${configMaps()}?dryRun=All`, { body: { metadata: { name: "dry" } } });
    const read = await admin.request("GET", `${configMaps()}/kept`);

    assert.deepEqual([patched.code, deleted.code, dry.code, read.code], [500, 500, 500, 200]);
    assert.deepEqual(read.json["data"], { k: "v" });
  });

  webhookTest("a webhook that is back is asked with the next write", async (_t, webhook) => {
    webhook.close();
    assert.equal((await post("down")).code, 500);

    await webhook.reopen();

    assert.equal((await post("up")).code, 201);
    assert.equal(webhook.asked.at(-1)?.name, "up");
  });

  webhookTest("a webhook that answers with an error: 500, by the code in words", async (_t, webhook, hook) => {
    const said: Readonly<Record<number, string>> = {
      400: "the server rejected our request for an unknown reason",
      401: "the server has asked for the client to provide credentials",
      404: "the server could not find the requested resource",
      429: "the server has received too many requests and has asked us to try again later",
      500: 'an error on the server \\("out of order"\\) has prevented the request from succeeding',
      502: 'an error on the server \\("out of order"\\) has prevented the request from succeeding',
      503: "the server is currently unable to handle the request",
    };
    for (const [code, words] of Object.entries(said)) {
      webhook.answer = () => ({ raw: "out of order", code: Number(code) });
      assertStatus(await post(`code-${code}`), {
        code: 500,
        reason: "InternalError",
        message: calling(hook, `${words}$`),
      });
    }
  });

  webhookTest("a webhook whose answer is no review: 500", async (_t, webhook, hook) => {
    const prefix = `Internal error occurred: failed calling webhook "${hook}": `;
    const refused = async (raw: string, words: RegExp) => {
      webhook.answer = () => ({ raw });
      const answer = await post("unreadable");
      assertStatus(answer, { code: 500, reason: "InternalError", message: words });
      assert.ok(String(answer.json["message"]).startsWith(prefix), answer.text);
    };

    await refused("<html>hello</html>", /failed to call webhook: couldn't get version\/kind; json parse error: /);
    await refused('{"apiVersion":', /failed to call webhook: couldn't get version\/kind; json parse error: /);
    await refused("", /failed to call webhook: 0-length response with status code: 200/);
    await refused("{}", /received invalid webhook response: webhook response was absent$/);
    await refused(JSON.stringify(REVIEW), /received invalid webhook response: webhook response was absent$/);
    const status = { apiVersion: "v1", kind: "Status", response: {} };
    await refused(JSON.stringify(status), /converting \(v1\.Status\) to \(v1\.AdmissionReview\): unknown conversion$/);
  });

  webhookTest("an answer to another review: 500", async (_t, webhook) => {
    webhook.answer = () => ({ allowed: true, uid: "another" });

    const words = /received invalid webhook response: expected response\.uid="[-0-9a-f]{36}", got "another"$/;
    assertStatus(await post("mixed-up"), { code: 500, reason: "InternalError", message: words });
  });

  webhookTest("a validating webhook that sends a patch: 500", async (_t, webhook) => {
    webhook.answer = () => patching([]);

    const words = /received invalid webhook response: validating webhook may not return response\.patch$/;
    assertStatus(await post("patched"), { code: 500, reason: "InternalError", message: words });
  });

  webhookTest("a webhook that breaks the connection off: 500", async (_t, webhook, hook) => {
    webhook.answer = () => "reset";

    const message = calling(hook, 'Post ".*\\?timeout=10s": (EOF|.*connection reset by peer.*)$');
    assertStatus(await post("broken-off"), { code: 500, reason: "InternalError", message });
  });

  webhookTest(
    "a mutating webhook whose patch cannot be read or does not fit: 500",
    async (_t, webhook, hook) => {
      const ask = async (answer: object) => {
        webhook.answer = () => answer;
        return await post("misfit");
      };
      const unread = await ask({ ...patching([]), patch: Buffer.from("nope").toString("base64") });
      const untyped = await ask({ ...patching([]), patchType: undefined });
      const unfit = await ask(patching([{ op: "test", path: "/metadata/name", value: "other" }]));

      const internal = { code: 500, reason: "InternalError" };
      const failed = `failed calling webhook "${hook}": received `;
      assertStatus(unread, { ...internal, message: new RegExp(`${failed}undecodable patch in webhook response: `) });
      const words = `${failed}invalid webhook response: webhook returned response.patch but not response.patchType$`;
      assertStatus(untyped, { ...internal, message: new RegExp(words) });
      // It could be called: no policy excuses that.
      assertStatus(unfit, internal);
      assert.ok(!unfit.text.includes("failed calling webhook"), unfit.text);
    },
    { type: "mutating" },
  );

  failureTest(
    "a webhook that says nothing: 500 after its own timeout",
    { answer: () => "silence", more: { timeoutSeconds: 1 } },
    (hook) => calling(hook, 'Post ".*timeout=1s": (context deadline exceeded|.*timeout.*)'),
  );

  test("a webhook whose certificate is another's: 500, x509", async (t) => {
    if (!area().cluster.reachesUs) return t.skip("needs a server that reaches this machine's 127.0.0.1");
    const [webhook, other] = [await listen(t, ALLOW), await listen(t, ALLOW)];
    const hook = await register(t, area(), { url: webhook.url, caBundle: other.caBundle });

    const { code, message } = await failing(area());

    const words = 'Post ".*": tls: failed to verify certificate: x509: certificate signed by unknown authority';
    assert.equal(code, 500);
    assert.match(message, calling(hook, words));
    return undefined;
  });

  failureTest("a webhook whose authority is not given: 500, x509", { client: (url) => ({ url }) }, (hook) =>
    calling(hook, 'Post ".*": tls: failed to verify certificate: x509: certificate signed by unknown authority'),
  );

  failureTest(
    "a webhook whose certificate has another name: 500, x509",
    { client: (url, caBundle) => ({ url: url.replace("127.0.0.1", "localhost"), caBundle }) },
    (hook) =>
      calling(
        hook,
        'Post ".*": tls: failed to verify certificate: x509: certificate is not valid for any names, but wanted to match localhost',
      ),
  );

  failureTest(
    "a webhook behind a Service that is not there: 500",
    {
      client: (_url, caBundle) => ({ service: { name: "nobody", namespace: area().namespace, path: "/x" }, caBundle }),
    },
    (hook) =>
      calling(hook, 'Post "https://nobody\\.[-a-z0-9]+\\.svc:443/x\\?timeout=10s": service "nobody" not found$'),
  );

  webhookTest(
    "failurePolicy Ignore lets through what could not be asked, and nothing that was denied",
    async (_t, webhook) => {
      webhook.answer = () => ({ raw: "out of order", code: 500 });
      assert.equal((await post("ignored-1")).code, 201);
      webhook.answer = () => ({ allowed: false, status: { code: 403, message: "no" } });
      assert.equal((await post("ignored-2")).code, 403);
      webhook.close();
      assert.equal((await post("ignored-3")).code, 201);
    },
    { more: { failurePolicy: "Ignore" } },
  );
}
