import assert from "node:assert/strict";
import { test } from "node:test";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertHas, assertStatus } from "../assertions.ts";
import { approve, requestFor, SIGNING_REQUESTS, signingRequest } from "../certificate-request.ts";
import type { Area } from "../contract-cluster.ts";
import { definitionOf, serve } from "../custom-definition.ts";
import { accountOf, grant, untilAllowed, userOf } from "../identity.ts";

const RBAC = "/apis/rbac.authorization.k8s.io/v1";
const MERGE = "application/merge-patch+json";

/** Who may do what: RBAC, and how it says no. */
export function authorizationCases(area: () => Area): void {
  const configMaps = (): string => `/api/v1/namespaces/${area().namespace}/configmaps`;

  test("a refusal says who cannot do what to which resource, and where", async (t) => {
    const { namespace } = area();
    const { client, username } = await accountOf(t, area(), "refused");
    const refusal = async (method: string, path: string, body?: unknown, contentType = "application/json") => {
      const answer = await client.request(method, path, { body, contentType });
      assertStatus(answer, { code: 403, reason: "Forbidden" });
      return answer.json;
    };
    const here = `in API group "" in the namespace "${namespace}"`;

    const read = await refusal("GET", `${configMaps()}/a`);
    assert.equal(
      read["message"],
      `configmaps "a" is forbidden: User "${username}" cannot get resource "configmaps" ${here}`,
    );
    assert.deepEqual(read["details"], { name: "a", kind: "configmaps" });
    const list = await refusal("GET", "/api/v1/configmaps");
    const everywhere = `User "${username}" cannot list resource "configmaps" in API group "" at the cluster scope`;
    assert.equal(list["message"], `configmaps is forbidden: ${everywhere}`);
    const create = await refusal("POST", configMaps(), { metadata: { name: "a" } });
    assert.equal(
      create["message"],
      `configmaps is forbidden: User "${username}" cannot create resource "configmaps" ${here}`,
    );
    const patch = await refusal("PATCH", `/api/v1/namespaces/${namespace}/status`, {}, MERGE);
    assert.match(
      String(patch["message"]),
      /cannot patch resource "namespaces\/status" in API group "" in the namespace/,
    );
    const watch = await refusal("GET", `${configMaps()}?watch=true`);
    assert.match(String(watch["message"]), /cannot watch resource "configmaps"/);
    const path = await refusal("GET", "/metrics");
    assert.equal(path["message"], `forbidden: User "${username}" cannot get path "/metrics"`);
  });

  test("a Role allows its verbs on its resources in its Namespace, and nothing else", async (t) => {
    const { client, name } = await accountOf(t, area(), "reader");
    await grant(area(), "reader", { account: name }, [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] },
    ]);
    await untilAllowed(client, configMaps());

    assert.equal((await client.request("GET", `${configMaps()}/absent`)).code, 404);
    assert.equal((await client.request("POST", configMaps(), { body: {} })).code, 403);
    assert.equal((await client.request("GET", `${configMaps()}?watch=true`)).code, 403);
    assert.equal((await client.request("GET", "/api/v1/namespaces/default/configmaps")).code, 403);
    assert.equal((await client.request("GET", "/api/v1/configmaps")).code, 403);
    assert.equal((await client.request("GET", configMaps().replace("configmaps", "secrets"))).code, 403);
  });

  test("resourceNames allow what is named, also a list or watch that is limited to the name", async (t) => {
    const { admin } = area();
    const { client, name } = await accountOf(t, area(), "named");
    await admin.must("POST", configMaps(), { metadata: { name: "mine" } });
    const rule = {
      apiGroups: [""],
      resources: ["configmaps"],
      resourceNames: ["mine"],
      verbs: ["get", "list", "create"],
    };
    await grant(area(), "named", { account: name }, [rule]);
    await untilAllowed(client, `${configMaps()}/mine`);

    assert.equal((await client.request("GET", `${configMaps()}/other`)).code, 403);
    assert.equal((await client.request("GET", configMaps())).code, 403);
    assert.equal((await client.request("GET", `${configMaps()}?fieldSelector=metadata.name%3Dmine`)).code, 200);
    // A create has no name yet to be compared.
    assert.equal((await client.request("POST", configMaps(), { body: { metadata: { name: "mine" } } })).code, 403);
  });

  test("subresources are resources of their own", async (t) => {
    const { admin } = area();
    const any = { type: "object", "x-kubernetes-preserve-unknown-fields": true };
    const wanted = { kind: "Guarded", properties: { status: any }, status: true };
    const { path, object, group, plural } = await serve(t, area(), definitionOf(area(), wanted));
    await admin.must("POST", path(), object("g"));
    const { client, name } = await accountOf(t, area(), "status-writer");
    await grant(area(), "status-writer", { account: name }, [
      { apiGroups: [group], resources: [`${plural}/status`], verbs: ["get", "patch"] },
    ]);
    await untilAllowed(client, `${path()}/g/status`);

    const status = await client.request("PATCH", `${path()}/g/status`, {
      body: { status: { a: 1 } },
      contentType: MERGE,
    });
    const main = await client.request("PATCH", `${path()}/g`, { body: {}, contentType: MERGE });

    assert.equal(status.code, 200, status.text);
    assertStatus(main, { code: 403, reason: "Forbidden" });
  });

  test("a ClusterRole by a RoleBinding holds in that Namespace, by a ClusterRoleBinding everywhere", async (t) => {
    const { admin, namespace, token } = area();
    const role = `contract-${token}-reader`;
    const roleRef = { kind: "ClusterRole", name: role, apiGroup: "rbac.authorization.k8s.io" };
    t.after(async () => {
      await admin.request("DELETE", `${RBAC}/clusterroles/${role}`);
      await admin.request("DELETE", `${RBAC}/clusterrolebindings/${role}`);
    });
    const rules = [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }];
    await admin.must("POST", `${RBAC}/clusterroles`, { metadata: { name: role }, rules });
    const [local, global] = [await accountOf(t, area(), "local"), await accountOf(t, area(), "global")];
    const subject = (name: string) => ({ subjects: [{ kind: "ServiceAccount", name, namespace }] });
    const bindings = `${RBAC}/namespaces/${namespace}/rolebindings`;
    await admin.must("POST", bindings, { metadata: { name: role }, roleRef, ...subject("local") });
    await admin.must("POST", `${RBAC}/clusterrolebindings`, {
      metadata: { name: role },
      roleRef,
      ...subject("global"),
    });
    await untilAllowed(local.client, configMaps());
    await untilAllowed(global.client, "/api/v1/configmaps");

    assert.equal((await local.client.request("GET", "/api/v1/namespaces/default/configmaps")).code, 403);
    assert.equal((await global.client.request("GET", "/api/v1/namespaces/default/configmaps")).code, 200);
  });

  test("a right that is taken away is gone a moment later", async (t) => {
    const { admin, namespace } = area();
    const { client, name } = await accountOf(t, area(), "loses");
    await grant(area(), "loses", { account: name }, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }]);
    await untilAllowed(client, configMaps());

    await admin.must("DELETE", `${RBAC}/namespaces/${namespace}/rolebindings/loses`);

    await eventually(systemClock, "the right to be gone", async () => {
      const { code } = await client.request("GET", configMaps());
      return code === 403 ? true : undefined;
    });
  });

  test("users and groups of certificates are bound by name", async (t) => {
    const { token } = area();
    const group = `contract-${token}-team`;
    const { client, username } = await userOf(t, area(), "member", [group]);
    await grant(area(), "by-user", { user: username }, [{ apiGroups: [""], resources: ["secrets"], verbs: ["list"] }]);
    await grant(area(), "by-group", { group }, [{ apiGroups: [""], resources: ["configmaps"], verbs: ["list"] }]);

    await untilAllowed(client, configMaps());
    await untilAllowed(client, configMaps().replace("configmaps", "secrets"));
  });

  test("nobody gives away rights that he has not, and names them", async (t) => {
    const { admin, namespace } = area();
    const { client, name } = await accountOf(t, area(), "climber");
    const roles = `${RBAC}/namespaces/${namespace}/roles`;
    await grant(area(), "climber", { account: name }, [
      {
        apiGroups: ["rbac.authorization.k8s.io"],
        resources: ["roles", "rolebindings"],
        verbs: ["create", "get", "list"],
      },
    ]);
    await untilAllowed(client, roles);

    const rules = [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }];
    const role = await client.request("POST", roles, { body: { metadata: { name: "more" }, rules } });

    assertStatus(role, {
      code: 403,
      reason: "Forbidden",
      message:
        /is attempting to grant RBAC permissions not currently held:\n\{APIGroups:\[""\], Resources:\["secrets"\], Verbs:\["get"\]\}/,
    });
    assert.equal((await admin.request("GET", `${roles}/more`)).code, 404);
  });

  test("a binding's roleRef is for ever", async () => {
    const { admin, namespace } = area();
    const path = `${RBAC}/namespaces/${namespace}/rolebindings`;
    const apiGroup = "rbac.authorization.k8s.io";
    const roleRef = { kind: "Role", name: "first", apiGroup };
    const binding = await admin.must("POST", path, { metadata: { name: "for-ever" }, roleRef });

    const answer = await admin.request("PUT", `${path}/for-ever`, {
      body: { ...binding, roleRef: { ...roleRef, name: "second" } },
    });

    assertStatus(answer, { code: 422, reason: "Invalid", message: /roleRef/ });
  });

  test("SelfSubjectAccessReview: asked by anybody, for resources and paths", async (t) => {
    const { namespace } = area();
    const { client, name } = await accountOf(t, area(), "curious");
    await grant(area(), "curious", { account: name }, [
      { apiGroups: [""], resources: ["configmaps"], verbs: ["get", "list"] },
    ]);
    await untilAllowed(client, configMaps());
    const ask = async (spec: object) => {
      const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectAccessReview", spec };
      const answer = await client.request("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", { body });
      assert.equal(answer.code, 201, answer.text);
      return (answer.json["status"] as { allowed: boolean }).allowed;
    };
    const on = (verb: string, more: object = {}) => ({
      resourceAttributes: { namespace, verb, resource: "configmaps", ...more },
    });

    assert.equal(await ask(on("get")), true);
    assert.equal(await ask(on("delete")), false);
    assert.equal(await ask(on("get", { namespace: "default" })), false);
    assert.equal(await ask(on("get", { subresource: "status" })), false);
    assert.equal(await ask({ nonResourceAttributes: { path: "/version", verb: "get" } }), true);
    assert.equal(await ask({ nonResourceAttributes: { path: "/metrics", verb: "get" } }), false);
  });

  test("SelfSubjectRulesReview lists the rules in a Namespace", async (t) => {
    const { namespace } = area();
    const { client, name } = await accountOf(t, area(), "lists");
    const rule = { apiGroups: [""], resources: ["configmaps"], verbs: ["get"] };
    await grant(area(), "lists", { account: name }, [rule]);
    await untilAllowed(client, `${configMaps()}/a`);

    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SelfSubjectRulesReview", spec: { namespace } };
    const { status } = await client.must("POST", "/apis/authorization.k8s.io/v1/selfsubjectrulesreviews", body);

    const { resourceRules } = status as { resourceRules: { resources: string[]; verbs: string[] }[] };
    const found = resourceRules.find(({ resources }) => resources.includes("configmaps"));
    assert.deepEqual(found?.verbs, ["get"]);
  });

  test("SubjectAccessReview asks for somebody else, and needs the right to", async (t) => {
    const { admin, namespace } = area();
    const { client, username } = await accountOf(t, area(), "asked-for");
    const spec = { user: username, resourceAttributes: { namespace, verb: "get", resource: "secrets" } };
    const body = { apiVersion: "authorization.k8s.io/v1", kind: "SubjectAccessReview", spec };

    const byAdmin = await admin.must("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", body);
    const byAccount = await client.request("POST", "/apis/authorization.k8s.io/v1/subjectaccessreviews", { body });

    assertHas(byAdmin["status"], { allowed: false });
    assertStatus(byAccount, { code: 403, reason: "Forbidden" });
  });

  test("who approves certificates needs the right for their signer", async (t) => {
    const { admin, token } = area();
    const { client } = await accountOf(t, area(), "approver");
    const role = `contract-${token}-approver`;
    const csr = `contract-${token}-approved-by`;
    t.after(async () => {
      for (const path of ["clusterroles", "clusterrolebindings"])
        await admin.request("DELETE", `${RBAC}/${path}/${role}`);
      await admin.request("DELETE", `${SIGNING_REQUESTS}/${csr}`);
    });
    const requests = { apiGroups: ["certificates.k8s.io"], verbs: ["get", "update"] };
    const resources = ["certificatesigningrequests", "certificatesigningrequests/approval"];
    await admin.must("POST", `${RBAC}/clusterroles`, { metadata: { name: role }, rules: [{ ...requests, resources }] });
    await admin.must("POST", `${RBAC}/clusterrolebindings`, {
      metadata: { name: role },
      roleRef: { kind: "ClusterRole", name: role, apiGroup: "rbac.authorization.k8s.io" },
      subjects: [{ kind: "ServiceAccount", name: "approver", namespace: area().namespace }],
    });
    const { request } = await requestFor("contract:somebody");
    await admin.must("POST", SIGNING_REQUESTS, signingRequest(csr, request));
    await untilAllowed(client, `${SIGNING_REQUESTS}/${csr}`);

    const answer = await approve(client, csr);

    const message = /user not permitted to approve requests with signerName "kubernetes.io\/kube-apiserver-client"/;
    assertStatus(answer, { code: 403, reason: "Forbidden", message });
  });
}
