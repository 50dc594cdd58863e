import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { assertHas, assertStatus } from "../assertions.ts";
import type { Answer, ContractClient } from "../contract-client.ts";
import type { Area } from "../contract-cluster.ts";
import { accountOf, grant, untilAllowed } from "../identity.ts";

/** Questions to the server: who somebody is, what he may do, and on whose behalf a request is made. */
export function reviewCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;
  const ask = async (kind: string, spec: object, client: ContractClient = area().admin): Promise<Answer> => {
    const group = kind.includes("Access") || kind.includes("Rules") ? "authorization.k8s.io" : "authentication.k8s.io";
    const place = kind.startsWith("Local") ? `namespaces/${area().namespace}/` : "";
    const body = { apiVersion: `${group}/v1`, kind, spec };
    return await client.request("POST", `/apis/${group}/v1/${place}${kind.toLowerCase()}s`, { body });
  };
  const attributes = (more: object = {}): object => ({
    namespace: area().namespace,
    verb: "get",
    resource: "configmaps",
    ...more,
  });
  const whoIs = async (client: ContractClient, headers: Record<string, string>): Promise<Answer> =>
    await client.request("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews", {
      body: { apiVersion: "authentication.k8s.io/v1", kind: "SelfSubjectReview" },
      headers,
    });
  const reader = async (t: TestContext, name: string) => {
    const account = await accountOf(t, area(), name);
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];
    await grant(area(), name, { account: name }, rules);
    await untilAllowed(account.client, configMaps());
    return account;
  };

  test("an access review asks about a resource or a path, one of the two: 422", async () => {
    const wrong = {
      code: 422,
      reason: "Invalid",
      message: /exactly one of nonResourceAttributes or resourceAttributes must be specified/,
    };
    const both = { resourceAttributes: attributes(), nonResourceAttributes: { path: "/", verb: "get" } };

    assertStatus(await ask("SelfSubjectAccessReview", {}), wrong);
    assertStatus(await ask("SelfSubjectAccessReview", both), wrong);
    assertStatus(await ask("SubjectAccessReview", { user: "jane" }), wrong);
  });

  test("a SubjectAccessReview is about a user or groups: 422 without", async () => {
    const nobody = await ask("SubjectAccessReview", { resourceAttributes: attributes() });
    const masters = await ask("SubjectAccessReview", {
      groups: ["system:masters"],
      resourceAttributes: attributes(),
    });

    assertStatus(nobody, { code: 422, reason: "Invalid", message: /at least one of user or group must be specified/ });
    assertHas(masters.json["status"], { allowed: true });
  });

  test("a SubjectAccessReview knows a ServiceAccount by its name, and by the groups that are said to be its", async (t) => {
    const { username } = await reader(t, "asked");
    const allowed = async (more: object, of: object = {}) => {
      const answer = await ask("SubjectAccessReview", { user: username, resourceAttributes: attributes(more), ...of });
      return (answer.json["status"] as { allowed: boolean }).allowed;
    };

    assert.equal(await allowed({ verb: "list" }), true);
    assert.equal(await allowed({ verb: "list", name: "any" }), true);
    assert.equal(await allowed({ verb: "watch" }), false);
    assert.equal(await allowed({ verb: "list", namespace: "" }), false);
    assert.equal(await allowed({ verb: "list", group: "apps" }), false);
    assert.equal(await allowed({ verb: "delete" }, { groups: ["system:masters"] }), true);
  });

  test("a LocalSubjectAccessReview stays in its Namespace", async (t) => {
    const { username } = await reader(t, "local");
    const local = async (namespace: string) =>
      await ask("LocalSubjectAccessReview", {
        user: username,
        resourceAttributes: attributes({ verb: "list", namespace }),
      });

    assertHas((await local(area().namespace)).json["status"], { allowed: true });
    assertStatus(await local("default"), { code: 422, reason: "Invalid", message: /must match metadata\.namespace/ });
  });

  test("a SelfSubjectRulesReview needs a Namespace; it has the rules of paths, too", async (t) => {
    const { client } = await reader(t, "ruled");

    const without = await ask("SelfSubjectRulesReview", {}, client);
    const { status } = (await ask("SelfSubjectRulesReview", { namespace: area().namespace }, client)).json as {
      status?: { nonResourceRules: { verbs: string[]; nonResourceURLs: string[] }[]; incomplete: boolean };
    };

    assertStatus(without, { code: 400, reason: "BadRequest", message: "no namespace on request" });
    assert.equal(status?.incomplete, false);
    const paths = status?.nonResourceRules.flatMap(({ nonResourceURLs }) => nonResourceURLs) ?? [];
    for (const path of ["/version", "/livez", "/apis/*"]) assert.ok(paths.includes(path), path);
  });

  test("a TokenReview says whom a token stands for, or that it stands for nobody", async (t) => {
    const { token, username } = await accountOf(t, area(), "token-of");

    const good = (await ask("TokenReview", { token })).json["status"] as Record<string, unknown>;
    const bad = await ask("TokenReview", { token: "nonsense" });

    assertHas(good, { authenticated: true, user: { username } });
    assert.ok(Array.isArray(good["audiences"]));
    assert.equal(bad.code, 201);
    const status = bad.json["status"] as Record<string, unknown>;
    assert.deepEqual([status["authenticated"], status["user"]], [undefined, {}]);
    assert.match(String(status["error"]), /invalid bearer token/);
    assertStatus(await ask("TokenReview", {}), { code: 400, reason: "BadRequest", message: /token is required/ });
  });

  test("a review of another kind, or with no body: 400", async () => {
    const { admin } = area();
    const path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

    const kind = await admin.request("POST", path, { body: { apiVersion: "authorization.k8s.io/v1", kind: "Other" } });
    const type = await ask("SelfSubjectAccessReview", { resourceAttributes: "configmaps" });
    const empty = await admin.request("POST", path, { body: "" });

    for (const answer of [kind, type, empty]) assertStatus(answer, { code: 400, reason: "BadRequest" });
  });

  test("reviews are asked, not read: 405", async () => {
    const { admin } = area();
    const word = "the server does not allow this method on the requested resource";

    for (const path of ["authentication.k8s.io/v1/tokenreviews", "authorization.k8s.io/v1/selfsubjectaccessreviews"]) {
      const answer = await admin.request("GET", `/apis/${path}`);
      assertStatus(answer, { code: 405, reason: "MethodNotAllowed", message: word });
    }
  });

  test("impersonation: a user, with the groups that are said, and the one that all known users have", async () => {
    const { admin } = area();

    const user = await whoIs(admin, { "impersonate-user": "jane" });
    const more = await whoIs(admin, {
      "impersonate-user": "jane",
      "impersonate-group": "devs",
      "impersonate-uid": "u-1",
      "impersonate-extra-scopes": "view",
    });

    assert.deepEqual(user.json["status"], { userInfo: { username: "jane", groups: ["system:authenticated"] } });
    const userInfo = {
      username: "jane",
      uid: "u-1",
      groups: ["devs", "system:authenticated"],
      extra: { scopes: ["view"] },
    };
    assert.deepEqual(more.json["status"], { userInfo });
  });

  test("impersonation: a ServiceAccount has its groups, and its rights", async (t) => {
    const { admin, namespace } = area();
    const { username } = await reader(t, "taken");
    const headers = { "impersonate-user": username };

    const who = await whoIs(admin, headers);
    const list = await admin.request("GET", configMaps(), { headers });
    const secrets = await admin.request("GET", configMaps().replace("configmaps", "secrets"), { headers });

    const groups = ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"];
    assert.deepEqual(who.json["status"], { userInfo: { username, groups } });
    assert.equal(list.code, 200);
    assertStatus(secrets, { code: 403, reason: "Forbidden", message: new RegExp(`User "${username}" cannot list`) });
  });

  test("impersonation takes the right to it: 403", async (t) => {
    const { namespace } = area();
    const { client, name } = await accountOf(t, area(), "poser");
    const other = { "impersonate-user": `system:serviceaccount:${namespace}:other` };
    const forbidden = { code: 403, reason: "Forbidden", message: /cannot impersonate/ };

    assertStatus(await whoIs(client, other), forbidden);
    const rules = [
      { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"], resourceNames: ["other"] },
      { apiGroups: [""], resources: ["configmaps"], verbs: ["list"] },
    ];
    await grant(area(), "poser", { account: name }, rules);
    await untilAllowed(client, configMaps());

    assert.equal((await whoIs(client, other)).code, 201);
    assertStatus(await whoIs(client, { "impersonate-user": "system:serviceaccount:default:other" }), forbidden);
    assertStatus(await whoIs(client, { "impersonate-user": "jane" }), forbidden);
  });

  test("impersonation of groups without a user makes no sense", async () => {
    const { code } = await whoIs(area().admin, { "impersonate-group": "devs" });

    // 500 in older versions.
    assert.ok(code === 400 || code === 500, String(code));
  });
}
