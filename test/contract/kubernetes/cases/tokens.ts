import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Answer } from "../contract-client.ts";
import type { Area } from "../contract-cluster.ts";

const NAME = "kubernetes.io/service-account.name";
const UID = "kubernetes.io/service-account.uid";
const TOKEN_TYPE = "kubernetes.io/service-account-token";
const MERGE = "application/merge-patch+json";

type Data = Record<string, string>;

/** ServiceAccounts, their tokens, and what the cluster keeps for them. */
export function tokenCases(area: () => Area): void {
  const core = (resource: string): string => `/api/v1/namespaces/${area().namespace}/${resource}`;
  const account = async (name: string) =>
    await area().admin.must("POST", core("serviceaccounts"), { metadata: { name } });
  const tokenSecret = async (name: string, annotations: Data, data: Data = {}): Promise<Answer> => {
    const body = { metadata: { name, annotations }, type: TOKEN_TYPE, data };
    return await area().admin.request("POST", core("secrets"), { body });
  };
  const dataOf = async (name: string): Promise<Data> => {
    const secret = await area().admin.must("GET", `${core("secrets")}/${name}`);
    return (secret["data"] ?? {}) as Data;
  };
  const until = async (name: string, holds: (data: Data) => boolean): Promise<Data> =>
    await eventually(systemClock, `the data of ${name}`, async () => {
      const data = await dataOf(name);
      return holds(data) ? data : undefined;
    });
  const untilGone = async (name: string): Promise<void> => {
    await eventually(systemClock, `${name} to go`, async () => {
      const { code } = await area().admin.request("GET", `${core("secrets")}/${name}`);
      return code === 404 ? true : undefined;
    });
  };
  const isFull = (data: Data): boolean => ["token", "ca.crt", "namespace"].every((key) => (data[key] ?? "") !== "");
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const request = async (name: string, body: object | string, query = ""): Promise<Answer> =>
    await area().admin.request("POST", `${core("serviceaccounts")}/${name}/token${query}`, { body });
  const spec = (content: object): object => ({
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec: content,
  });

  test("a Namespace has a ServiceAccount default and the cluster's CA, and gets them back", async () => {
    const { admin } = area();
    const found = async (path: string) =>
      await eventually(systemClock, path, async () => {
        const answer = await admin.request("GET", path);
        return answer.code === 200 ? answer.json : undefined;
      });

    for (const path of [`${core("configmaps")}/kube-root-ca.crt`, `${core("serviceaccounts")}/default`]) {
      const first = await found(path);
      await admin.must("DELETE", path);
      const second = await found(path);
      assert.notEqual(second.metadata.uid, first.metadata.uid, path);
    }
    const { data } = (await found(`${core("configmaps")}/kube-root-ca.crt`)) as { data?: Data };
    assert.equal(data?.["ca.crt"]?.trim(), admin.ca.trim());
  });

  test("a token Secret must name its account: 422", async () => {
    const without = await tokenSecret("unnamed", {});
    const empty = await tokenSecret("empty-name", { [NAME]: "" });

    for (const answer of [without, empty]) {
      const causes = [{ field: `metadata.annotations[${NAME}]` }];
      assertStatus(answer, { code: 422, reason: "Invalid", details: { causes } });
    }
  });

  test("a token Secret keeps what is in it, and gets what it lacks", async () => {
    await account("keeps");
    await tokenSecret("keeps-token", { [NAME]: "keeps" }, { extra: base64("mine"), namespace: base64("elsewhere") });

    const data = await until("keeps-token", isFull);

    assert.deepEqual([data["extra"], data["namespace"]], [base64("mine"), base64("elsewhere")]);
  });

  test("what is taken out of a token Secret comes back; another CA in it is put right", async () => {
    const { admin } = area();
    await account("mended");
    await tokenSecret("mended-token", { [NAME]: "mended" });
    const before = await until("mended-token", isFull);
    const patch = async (data: object) => await admin.must("PATCH", `${core("secrets")}/mended-token`, { data }, MERGE);

    await patch({ token: null, namespace: null });
    await until("mended-token", isFull);
    await patch({ "ca.crt": base64("another") });

    await until("mended-token", (data) => data["ca.crt"] === before["ca.crt"]);
  });

  test("a token Secret made before its account is taken away", async () => {
    await tokenSecret("too-early", { [NAME]: "not-yet" });

    await untilGone("too-early");
  });

  test("a token Secret for the UID of another account is taken away", async () => {
    await account("one-uid");
    await tokenSecret("other-uid", { [NAME]: "one-uid", [UID]: "11111111-1111-4111-8111-111111111111" });

    await untilGone("other-uid");
  });

  test("a token Secret does not outlive its account, even where that is made again at once", async () => {
    const { admin } = area();
    await account("reborn");
    await tokenSecret("reborn-token", { [NAME]: "reborn" });
    await until("reborn-token", isFull);

    await admin.must("DELETE", `${core("serviceaccounts")}/reborn`);
    await account("reborn");

    await untilGone("reborn-token");
  });

  test("TokenRequest: an hour for the server itself, unless something else is asked for", async () => {
    const { metadata } = await account("defaults");

    const { json } = await request("defaults", spec({}));

    assertHas(json, {
      kind: "TokenRequest",
      apiVersion: "authentication.k8s.io/v1",
      metadata: { name: "defaults", namespace: area().namespace, uid: metadata.uid },
      spec: { expirationSeconds: 3600, boundObjectRef: null },
    });
    assert.ok((json["spec"] as { audiences: string[] }).audiences.length > 0);
  });

  test("TokenRequest: bound to what is not there 404, to another UID 409, to what nothing is bound to 400", async () => {
    const { admin } = area();
    await account("binds");
    await admin.must("POST", core("secrets"), { metadata: { name: "bound-to" } });
    const bound = async (reference: object) => await request("binds", spec({ boundObjectRef: reference }));
    const secret = { apiVersion: "v1", kind: "Secret" };

    assertStatus(await bound({ ...secret, name: "absent" }), {
      code: 404,
      reason: "NotFound",
      message: 'secrets "absent" not found',
    });
    const uid = "11111111-1111-4111-8111-111111111111";
    assertStatus(await bound({ ...secret, name: "bound-to", uid }), {
      code: 409,
      reason: "Conflict",
      message: /the UID in the bound object reference \(11111111-.*\) does not match the UID in record/,
    });
    assertStatus(await bound({ apiVersion: "v1", kind: "ConfigMap", name: "a" }), {
      code: 400,
      reason: "BadRequest",
      message: "cannot bind token to object of type /v1, Kind=ConfigMap",
    });
    assert.equal((await bound({ ...secret, name: "bound-to" })).code, 201);
  });

  test("TokenRequest: what is no request is refused", async () => {
    await account("refuses");
    const bad = { code: 400, reason: "BadRequest" };

    assertStatus(await request("refuses", ""), bad);
    assertStatus(await request("refuses", { apiVersion: "v1", kind: "ConfigMap" }), bad);
    assertStatus(await request("refuses", spec({ expirationSeconds: "600" })), bad);
    const named = await request("refuses", { ...spec({}), metadata: { name: "other" } });
    assertStatus(named, { code: 422, reason: "Invalid", message: /must match the service account name if specified/ });
  });

  test("TokenRequest: asked, not read: 405", async () => {
    await account("unread");

    const answer = await area().admin.request("GET", `${core("serviceaccounts")}/unread/token`);

    assertStatus(answer, { code: 405, reason: "MethodNotAllowed" });
  });

  test("a token in an Authorization header that is not as it should be", async (t) => {
    await account("header");
    const { token } = (await request("header", spec({}))).json["status"] as { token: string };
    const nobody = area().admin.as("nobody");
    t.after(() => nobody.close());
    const code = async (authorization: string) =>
      (await nobody.request("GET", "/api", { headers: { authorization } })).code;

    assert.equal(await code(`bearer ${token}`), 200);
    assert.equal(await code(`Bearer ${token}x`), 401);
    // What is no bearer token counts for nothing: nobody asks.
    for (const header of [`Token ${token}`, token, `Bearer  ${token}`]) {
      assert.ok([401, 403].includes(await code(header)), header.slice(0, 8));
    }
  });
}
