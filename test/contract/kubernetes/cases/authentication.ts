import assert from "node:assert/strict";
import { connect } from "node:http2";
import { test } from "node:test";
import { createCertificateAuthority } from "../../../../infra/local/cluster/certificates.ts";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Area } from "../contract-cluster.ts";
import { accountOf, userOf } from "../identity.ts";

const REVIEWS = "/apis/authentication.k8s.io/v1";
const UNAUTHORIZED = { code: 401, reason: "Unauthorized", message: "Unauthorized" };

/** Who asks: tokens, certificates, nobody. */
export function authenticationCases(area: () => Area): void {
  const accounts = (): string => `/api/v1/namespaces/${area().namespace}/serviceaccounts`;
  const secrets = (): string => `/api/v1/namespaces/${area().namespace}/secrets`;
  const tokenRequest = (spec: object): object => ({
    apiVersion: "authentication.k8s.io/v1",
    kind: "TokenRequest",
    spec,
  });
  const gone = async (token: string): Promise<void> => {
    const client = area().admin.as({ token });
    await eventually(systemClock, "the token to be refused", async () => {
      const { code } = await client.request("GET", "/api");
      return code === 401 ? true : undefined;
    }).finally(() => client.close());
  };
  const whoAmI = async (client: Area["admin"]) => {
    const body = { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" };
    return (await client.must("POST", `${REVIEWS}/selfsubjectreviews`, body))["status"];
  };

  test("a token that is none: 401, a Status without details", async (t) => {
    const client = area().admin.as({ token: "nonsense" });
    t.after(() => client.close());

    const answer = await client.request("GET", "/api/v1/namespaces");

    assert.deepEqual(answer.json, {
      kind: "Status",
      apiVersion: "v1",
      metadata: {},
      status: "Failure",
      message: "Unauthorized",
      reason: "Unauthorized",
      code: 401,
    });
  });

  test("a ServiceAccount's token: who it is, and its groups", async (t) => {
    const { namespace } = area();
    const { client, username } = await accountOf(t, area(), "who");

    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
    assertHas(await whoAmI(client), { userInfo: { username, groups } });
  });

  test("a token of a ServiceAccount that is gone: 401", async (t) => {
    const { admin } = area();
    const { token } = await accountOf(t, area(), "leaves");

    await admin.must("DELETE", `${accounts()}/leaves`);

    await gone(token);
  });

  test("a token of a ServiceAccount that was made again: 401, for it is another one", async (t) => {
    const { admin } = area();
    const { token } = await accountOf(t, area(), "again");
    await admin.must("DELETE", `${accounts()}/again`);

    await admin.must("POST", accounts(), { metadata: { name: "again" } });

    await gone(token);
  });

  test("a token Secret is filled by the cluster: token, CA, Namespace", async (t) => {
    const { admin, namespace } = area();
    await admin.must("POST", accounts(), { metadata: { name: "lasting" } });
    const metadata = { name: "lasting-token", annotations: { "kubernetes.io/service-account.name": "lasting" } };
    await admin.must("POST", secrets(), { metadata, type: "kubernetes.io/service-account-token" });

    const { secret, data } = await eventually(systemClock, "the token", async () => {
      const found = await admin.must("GET", `${secrets()}/lasting-token`);
      const content = found["data"] as Record<string, string> | undefined;
      return content?.["token"] === undefined ? undefined : { secret: found, data: content };
    });

    const text = (key: string): string => Buffer.from(data[key] ?? "", "base64").toString("utf8");
    assert.equal(text("namespace"), namespace);
    assert.equal(text("ca.crt").trim(), admin.ca.trim());
    const account = await admin.must("GET", `${accounts()}/lasting`);
    assert.equal(secret.metadata.annotations?.["kubernetes.io/service-account.uid"], account.metadata.uid);
    const client = admin.as({ token: text("token") });
    t.after(() => client.close());
    assertHas(await whoAmI(client), { userInfo: { username: `system:serviceaccount:${namespace}:lasting` } });
  });

  test("a token Secret's token ends with the Secret, and the Secret with its ServiceAccount", async () => {
    const { admin } = area();
    await admin.must("POST", accounts(), { metadata: { name: "ends" } });
    const make = async (name: string): Promise<string> => {
      const metadata = { name, annotations: { "kubernetes.io/service-account.name": "ends" } };
      await admin.must("POST", secrets(), { metadata, type: "kubernetes.io/service-account-token" });
      return await eventually(systemClock, "the token", async () => {
        const data = (await admin.must("GET", `${secrets()}/${name}`))["data"] as { token?: string } | undefined;
        return data?.token === undefined ? undefined : Buffer.from(data.token, "base64").toString("utf8");
      });
    };
    const [first] = [await make("ends-1"), await make("ends-2")];

    await admin.must("DELETE", `${secrets()}/ends-1`);
    await gone(first);
    await admin.must("DELETE", `${accounts()}/ends`);
    await eventually(systemClock, "the Secret to go with its account", async () => {
      const { code } = await admin.request("GET", `${secrets()}/ends-2`);
      return code === 404 ? true : undefined;
    });
  });

  test("a token Secret of an account that is not there stays empty, or goes", async () => {
    const { admin } = area();
    const metadata = { name: "nobodys", annotations: { "kubernetes.io/service-account.name": "nobody" } };
    await admin.must("POST", secrets(), { metadata, type: "kubernetes.io/service-account-token" });

    const { code, json } = await admin.request("GET", `${secrets()}/nobodys`);

    assert.ok(code === 404 || json["data"] === undefined);
  });

  test("TokenRequest: a token for a time, and when it ends", async () => {
    const { admin } = area();
    await admin.must("POST", accounts(), { metadata: { name: "timed" } });

    const answer = await admin.request("POST", `${accounts()}/timed/token`, {
      body: tokenRequest({ expirationSeconds: 600 }),
    });

    assert.equal(answer.code, 201, answer.text);
    const { expirationTimestamp, token } = answer.json["status"] as { expirationTimestamp: string; token: string };
    const seconds = (Date.parse(expirationTimestamp) - Date.now()) / 1_000;
    assert.ok(seconds > 570 && seconds <= 601, `${seconds} s`);
    const claims = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString("utf8")) as { sub: string };
    assert.equal(claims.sub, `system:serviceaccount:${area().namespace}:timed`);
  });

  test("TokenRequest: too short or too long: 422; no such account: 404", async () => {
    const { admin } = area();
    await admin.must("POST", accounts(), { metadata: { name: "limits" } });
    const ask = async (name: string, expirationSeconds: number) =>
      await admin.request("POST", `${accounts()}/${name}/token`, { body: tokenRequest({ expirationSeconds }) });
    const invalid = { code: 422, reason: "Invalid", details: { causes: [{ field: "spec.expirationSeconds" }] } };

    assertStatus(await ask("limits", 599), { ...invalid, message: /may not specify a duration less than 10 minutes/ });
    assertStatus(await ask("limits", 2 ** 32 + 1), { ...invalid, message: /larger than 2\^32 seconds/ });
    assertStatus(await ask("absent", 600), { code: 404, reason: "NotFound" });
  });

  test("a token for another audience is refused by the API server, and known to a review that names it", async (t) => {
    const { admin } = area();
    await admin.must("POST", accounts(), { metadata: { name: "audience" } });
    const { status } = await admin.must("POST", `${accounts()}/audience/token`, tokenRequest({ audiences: ["vault"] }));
    const { token } = status as { token: string };
    const client = admin.as({ token });
    t.after(() => client.close());
    const review = async (audiences: readonly string[]) => {
      const body = { apiVersion: "authentication.k8s.io/v1", kind: "TokenReview", spec: { token, audiences } };
      return (await admin.must("POST", `${REVIEWS}/tokenreviews`, body))["status"];
    };

    assertStatus(await client.request("GET", "/api/v1/namespaces"), UNAUTHORIZED);
    assertHas(await review(["vault"]), { authenticated: true, audiences: ["vault"] });
    assert.notEqual(((await review(["other"])) as { authenticated?: boolean }).authenticated, true);
  });

  test("a token bound to a Secret ends with it", async (t) => {
    const { admin } = area();
    await admin.must("POST", accounts(), { metadata: { name: "bound" } });
    const secret = await admin.must("POST", secrets(), { metadata: { name: "binds" } });
    const boundObjectRef = { apiVersion: "v1", kind: "Secret", name: "binds", uid: secret.metadata.uid };
    const { status } = await admin.must("POST", `${accounts()}/bound/token`, tokenRequest({ boundObjectRef }));
    const { token } = status as { token: string };
    const client = admin.as({ token });
    t.after(() => client.close());
    assert.notEqual((await client.request("GET", "/api")).code, 401);

    await admin.must("DELETE", `${secrets()}/binds`);

    await gone(token);
  });

  test("a client certificate: CN is the user, O the groups; a token beside it counts for nothing", async (t) => {
    const { username, client } = await userOf(t, area(), "certified", ["contract:group"]);

    assertHas(await whoAmI(client), { userInfo: { username, groups: ["contract:group", "system:authenticated"] } });
    const headers = { authorization: "Bearer nonsense" };
    assert.notEqual((await client.request("GET", "/api", { headers })).code, 401);
  });

  test("a client certificate of another authority: 401; a good token beside it counts", async (t) => {
    const { admin } = area();
    const stranger = await createCertificateAuthority("contract-stranger", systemClock);
    const { cert, key } = await stranger.issueClient({ user: "kubernetes-admin", groups: ["system:masters"] });
    const client = admin.as({ cert, key });
    t.after(() => client.close());
    const { token, username } = await accountOf(t, area(), "beside-stranger");

    assertStatus(await client.request("GET", "/api/v1/namespaces"), UNAUTHORIZED);
    const headers = { authorization: `Bearer ${token}` };
    assertStatus(await client.request("GET", "/api/v1/namespaces", { headers }), {
      code: 403,
      reason: "Forbidden",
      message: new RegExp(`User "${username}" cannot list`),
    });
  });

  test("nobody: anonymous, or 401 where that is not allowed", async (t) => {
    const client = area().admin.as("nobody");
    t.after(() => client.close());

    const answer = await client.request("GET", "/api/v1/namespaces");

    if (answer.code === 401) assertStatus(answer, UNAUTHORIZED);
    else
      assertStatus(answer, {
        code: 403,
        reason: "Forbidden",
        message: /^namespaces is forbidden: User "system:anonymous" cannot list/,
      });
  });

  test("a 401 on a shared HTTP/2 connection closes it for new requests", async (t) => {
    const { admin } = area();
    const session = connect(admin.server.origin, { ca: admin.ca });
    t.after(() => session.destroy());
    session.on("error", () => {});
    const goneAway = new Promise<void>((resolve) => {
      session.on("goaway", () => resolve());
      session.on("close", () => resolve());
    });

    const stream = session.request({ ":path": "/api/v1/namespaces", authorization: "Bearer nonsense" });
    const status = await new Promise((resolve) => stream.on("response", (headers) => resolve(headers[":status"])));
    stream.resume();
    await goneAway;

    assert.equal(status, 401);
  });

  test("a requests of somebody known leaves a shared HTTP/2 connection open", async (t) => {
    const { admin } = area();
    const { token } = await accountOf(t, area(), "shares");
    const session = connect(admin.server.origin, { ca: admin.ca });
    t.after(() => session.destroy());
    const ask = (): Promise<unknown> =>
      new Promise((resolve, reject) => {
        const stream = session.request({ ":path": "/api/v1/namespaces", authorization: `Bearer ${token}` });
        stream.on("response", (headers) => resolve(headers[":status"]));
        stream.on("error", reject);
        stream.resume();
      });

    assert.deepEqual([await ask(), await ask()], [403, 403]);
    assert.equal(session.closed, false);
  });
}
