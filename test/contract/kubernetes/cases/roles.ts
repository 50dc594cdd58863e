import assert from "node:assert/strict";
import { type TestContext, test } from "node:test";
import { eventually } from "../../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { assertStatus } from "../assertions.ts";
import type { Answer, ContractClient } from "../contract-client.ts";
import type { Area } from "../contract-cluster.ts";
import { accountOf, grant, untilAllowed } from "../identity.ts";

const GROUP = "rbac.authorization.k8s.io";
const RBAC = `/apis/${GROUP}/v1`;
const MERGE = "application/merge-patch+json";

interface Body {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly [field: string]: unknown;
}

/** The finer rules of RBAC: patterns, aggregation, and who may give what away. */
export function roleCases(area: () => Area): void {
  const core = (resource: string, namespace = area().namespace): string =>
    `/api/v1/namespaces/${namespace}/${resource}`;
  const local = (resource: string): string => `${RBAC}/namespaces/${area().namespace}/${resource}`;
  const rule = (resources: readonly string[], verbs: readonly string[], more: object = {}): object => ({
    apiGroups: [""],
    resources,
    verbs,
    ...more,
  });
  const codeOf = async (client: ContractClient, path: string, method = "GET"): Promise<number> =>
    (await client.request(method, path)).code;
  const binding = (name: string, kind: "Role" | "ClusterRole", role: string, account: string): object => ({
    metadata: { name },
    roleRef: { kind, name: role, apiGroup: GROUP },
    subjects: [{ kind: "ServiceAccount", name: account, namespace: area().namespace }],
  });
  /** A cluster-wide object of RBAC that goes with the test. */
  const global = async (t: TestContext, resource: string, body: Body) => {
    t.after(() => area().admin.request("DELETE", `${RBAC}/${resource}/${body.metadata.name}`));
    await area().admin.must("POST", `${RBAC}/${resource}`, body);
  };
  const granter = async (t: TestContext, name: string, rules: readonly object[]): Promise<ContractClient> => {
    const { client } = await accountOf(t, area(), name);
    const own = { apiGroups: [GROUP], resources: ["roles", "rolebindings"], verbs: ["create", "get", "list", "patch"] };
    await grant(area(), name, { account: name }, [own, ...rules]);
    await untilAllowed(client, local("roles"));
    return client;
  };
  const writeRole = async (client: ContractClient, name: string, rules: readonly object[]): Promise<Answer> =>
    await client.request("POST", local("roles"), { body: { metadata: { name }, rules } });

  test("stars: every group, every resource, every subresource of one name, every verb", async (t) => {
    const { client, name } = await accountOf(t, area(), "stars");
    await grant(area(), "stars", { account: name }, [
      { apiGroups: ["*"], resources: ["*"], verbs: ["list"] },
      rule(["*/status"], ["get"]),
      rule(["secrets"], ["*"], { resourceNames: ["one"] }),
    ]);
    await untilAllowed(client, core("configmaps"));

    assert.equal(await codeOf(client, `/apis/coordination.k8s.io/v1/namespaces/${area().namespace}/leases`), 200);
    assert.equal(await codeOf(client, `${core("configmaps")}/absent`), 403);
    assert.equal(await codeOf(client, `${core("services")}/absent/status`), 404);
    assert.equal(await codeOf(client, `${core("services")}/absent`), 403);
    assert.equal(await codeOf(client, `${core("secrets")}/one`, "DELETE"), 404);
    assert.equal(await codeOf(client, `${core("secrets")}/two`, "DELETE"), 403);
  });

  test("names allow neither a collection's deletion nor a list of all but one", async (t) => {
    const { client, name } = await accountOf(t, area(), "by-name");
    await grant(area(), "by-name", { account: name }, [rule(["secrets"], ["*"], { resourceNames: ["one"] })]);
    await untilAllowed(client, `${core("secrets")}/one`);
    const one = "fieldSelector=metadata.name%3Done";

    assert.equal(await codeOf(client, `${core("secrets")}?watch=true&timeoutSeconds=1&${one}`), 200);
    assert.equal(await codeOf(client, `${core("secrets")}?fieldSelector=metadata.name%21%3Done`), 403);
    assert.equal(await codeOf(client, core("secrets"), "DELETE"), 403);
    assert.equal(await codeOf(client, `${core("secrets")}?${one}`, "DELETE"), 403);
  });

  test("a right on a subresource is none on the object, and the other way round", async (t) => {
    const { client, name } = await accountOf(t, area(), "sub");
    await grant(area(), "sub", { account: name }, [rule(["services/status"], ["get"]), rule(["configmaps"], ["get"])]);
    await untilAllowed(client, `${core("configmaps")}/absent`);

    assert.equal(await codeOf(client, `${core("services")}/absent/status`), 404);
    assert.equal(await codeOf(client, `${core("services")}/absent`), 403);
    assert.equal(await codeOf(client, `${core("serviceaccounts")}/default/token`, "POST"), 403);
  });

  test("paths are allowed by ClusterRoles: exactly, or by a star at the end", async (t) => {
    const { token } = area();
    const { client, name } = await accountOf(t, area(), "paths");
    const role = `contract-${token}-paths`;
    const rules = [{ nonResourceURLs: ["/contract", "/contract-tree/*"], verbs: ["get"] }];
    await global(t, "clusterroles", { metadata: { name: role }, rules });
    await global(t, "clusterrolebindings", {
      ...binding(role, "ClusterRole", role, name),
      metadata: { name: role },
    });
    await untilAllowed(client, "/contract");

    // Nothing is served there: allowed is 404.
    assert.equal(await codeOf(client, "/contract-tree/a/b"), 404);
    for (const path of ["/contract/a", "/contract-tree", "/contracts"]) assert.equal(await codeOf(client, path), 403);
  });

  test("a ClusterRole gathers the rules of those that it selects, also of later ones", async (t) => {
    const { admin, token } = area();
    const { client, name } = await accountOf(t, area(), "gathers");
    const whole = `contract-${token}-whole`;
    const labels = { contract: token };
    const part = async (suffix: string, resource: string) =>
      await global(t, "clusterroles", {
        metadata: { name: `contract-${token}-${suffix}`, labels },
        rules: [rule([resource], ["list"])],
      });
    await part("part-1", "configmaps");
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: labels }] };
    await global(t, "clusterroles", { metadata: { name: whole }, aggregationRule, rules: [] });
    await admin.must("POST", local("rolebindings"), binding("gathers", "ClusterRole", whole, name));

    await untilAllowed(client, core("configmaps"));
    assert.equal(await codeOf(client, core("secrets")), 403);
    await part("part-2", "secrets");
    await untilAllowed(client, core("secrets"));

    const { rules } = (await admin.must("GET", `${RBAC}/clusterroles/${whole}`)) as { rules?: unknown };
    assert.deepEqual(rules, [rule(["configmaps"], ["list"]), rule(["secrets"], ["list"])]);
  });

  test("a role that changes counts at once for all who are bound to it", async (t) => {
    const { admin } = area();
    const { client, name } = await accountOf(t, area(), "changes");
    await grant(area(), "changes", { account: name }, [rule(["configmaps"], ["list"])]);
    await untilAllowed(client, core("configmaps"));

    await admin.must("PATCH", `${local("roles")}/changes`, { rules: [rule(["secrets"], ["list"])] }, MERGE);

    await untilAllowed(client, core("secrets"));
    await eventually(systemClock, "the old right to be gone", async () =>
      (await codeOf(client, core("configmaps"))) === 403 ? true : undefined,
    );
  });

  test("a binding to a role that is not there: nothing is allowed, and the refusal names it, in its Namespace alone", async (t) => {
    const { admin } = area();
    const { client, name } = await accountOf(t, area(), "lost");
    await admin.must("POST", local("rolebindings"), binding("lost", "Role", "no-such-role", name));

    const refusal = await eventually(systemClock, "the refusal to name the role", async () => {
      const answer = await client.request("GET", core("configmaps"));
      return answer.text.includes("no-such-role") ? answer : undefined;
    });
    const elsewhere = await client.request("GET", core("configmaps", "default"));

    const message = /RBAC: role\.rbac\.authorization\.k8s\.io "no-such-role" not found$/;
    assertStatus(refusal, { code: 403, reason: "Forbidden", message });
    assertStatus(elsewhere, { code: 403, reason: "Forbidden", message: /in the namespace "default"$/ });
  });

  test("who gives rights away names those that he lacks, taken apart", async (t) => {
    const client = await granter(t, "gives", [
      rule(["configmaps"], ["get"]),
      rule(["secrets"], ["get"], { resourceNames: ["one"] }),
    ]);

    const held = await writeRole(client, "held", [rule(["configmaps"], ["get"])]);
    const more = await writeRole(client, "more", [
      rule(["configmaps"], ["get", "watch"]),
      rule(["secrets"], ["get"], { resourceNames: ["one", "two"] }),
    ]);

    assert.equal(held.code, 201, held.text);
    const lacks =
      '{APIGroups:[""], Resources:["configmaps"], Verbs:["watch"]}\n' +
      '{APIGroups:[""], Resources:["secrets"], ResourceNames:["two"], Verbs:["get"]}';
    assertStatus(more, { code: 403, reason: "Forbidden" });
    assert.ok(String(more.json["message"]).endsWith(`not currently held:\n${lacks}`), more.text);
  });

  test("a role that he could not write may not be changed by him, be it a label", async (t) => {
    const { admin } = area();
    await admin.must("POST", local("roles"), { metadata: { name: "above" }, rules: [rule(["secrets"], ["list"])] });
    const client = await granter(t, "below", []);

    const answer = await client.request("PATCH", `${local("roles")}/above`, {
      body: { metadata: { labels: { a: "b" } } },
      contentType: MERGE,
    });

    assertStatus(answer, { code: 403, reason: "Forbidden", message: /not currently held/ });
  });

  test("bind: a role is bound by who holds its rules, or may bind it by name", async (t) => {
    const { admin } = area();
    await admin.must("POST", local("roles"), { metadata: { name: "strong" }, rules: [rule(["secrets"], ["*"])] });
    const weak = await granter(t, "weak", []);
    const binder = await granter(t, "binder", [
      { apiGroups: [GROUP], resources: ["roles"], verbs: ["bind"], resourceNames: ["strong"] },
    ]);
    const bind = async (client: ContractClient, name: string, kind: "Role" | "ClusterRole", role: string) =>
      await client.request("POST", local("rolebindings"), { body: binding(name, kind, role, "weak") });

    assertStatus(await bind(weak, "weak-strong", "Role", "strong"), {
      code: 403,
      reason: "Forbidden",
      message: /not currently held/,
    });
    assert.equal((await bind(binder, "binder-strong", "Role", "strong")).code, 201);
    assert.equal((await bind(binder, "binder-admin", "ClusterRole", "cluster-admin")).code, 403);
    // What is not there cannot be looked at.
    assertStatus(await bind(weak, "weak-absent", "Role", "absent"), { code: 404, reason: "NotFound" });
  });

  test("escalate: a role may be given more than its writer has; a name does not count while it is made", async (t) => {
    const free = await granter(t, "free", [{ apiGroups: [GROUP], resources: ["roles"], verbs: ["escalate"] }]);
    const named = await granter(t, "named-escalation", [
      { apiGroups: [GROUP], resources: ["roles"], verbs: ["escalate"], resourceNames: ["raised"] },
    ]);
    const rules = [rule(["secrets"], ["get"])];

    assertStatus(await writeRole(named, "raised", rules), { code: 403, reason: "Forbidden" });
    assert.equal((await writeRole(free, "raised", rules)).code, 201);
    const patch = { body: { rules: [rule(["secrets"], ["list"])] }, contentType: MERGE };
    assert.equal((await named.request("PATCH", `${local("roles")}/raised`, patch)).code, 200);
  });

  test("roles and bindings that say nothing, or too much: 422", async () => {
    const { admin, token } = area();
    const invalid = async (path: string, body: object, field: string) => {
      const answer = await admin.request("POST", path, {
        body: { metadata: { name: `contract-${token}-invalid` }, ...body },
      });
      assertStatus(answer, { code: 422, reason: "Invalid", details: { causes: [{ field }] } });
    };
    const roleRef = { kind: "Role", name: "a", apiGroup: GROUP };

    await invalid(
      local("roles"),
      { rules: [{ apiGroups: [""], resources: ["secrets"], verbs: [] }] },
      "rules[0].verbs",
    );
    await invalid(local("roles"), { rules: [{ resources: ["secrets"], verbs: ["get"] }] }, "rules[0].apiGroups");
    await invalid(local("roles"), { rules: [{ nonResourceURLs: ["/x"], verbs: ["get"] }] }, "rules[0].nonResourceURLs");
    await invalid(`${RBAC}/clusterroles`, { aggregationRule: {} }, "aggregationRule.clusterRoleSelectors");
    await invalid(local("rolebindings"), { roleRef: { ...roleRef, kind: "Other" } }, "roleRef.kind");
    await invalid(local("rolebindings"), { roleRef: { ...roleRef, name: "" } }, "roleRef.name");
    const user = { kind: "User", name: "jane", apiGroup: "other" };
    await invalid(local("rolebindings"), { roleRef, subjects: [user] }, "subjects[0].apiGroup");
    await invalid(local("rolebindings"), { roleRef, subjects: [{ kind: "Robot", name: "r" }] }, "subjects[0].kind");
    const nowhere = { kind: "ServiceAccount", name: "a" };
    const cluster = { ...roleRef, kind: "ClusterRole" };
    await invalid(`${RBAC}/clusterrolebindings`, { roleRef: cluster, subjects: [nowhere] }, "subjects[0].namespace");
  });
}
