import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Authorizer, forbiddenStatus } from "../../../../../infra/local/cluster/access/authorization.ts";
import {
  type AccessAttributes,
  readRule,
  ruleAllows,
} from "../../../../../infra/local/cluster/access/authorization-rules.ts";
import type { ApiObject, UserInfo } from "../../../../../infra/local/cluster/types.ts";

/** RBAC objects by plural, with a version that the test raises. */
class Objects {
  version = 1;
  readonly #objects: Record<string, ApiObject[]> = {};

  add(resource: string, object: { metadata: ApiObject["metadata"] } & Record<string, unknown>): void {
    const list = (this.#objects[resource] ??= []);
    list.push({ apiVersion: "rbac.authorization.k8s.io/v1", kind: resource, ...object });
    this.version += 1;
  }

  readAll(_group: string, resource: string): readonly ApiObject[] {
    return this.#objects[resource] ?? [];
  }

  collectionVersion(): string {
    return String(this.version);
  }
}

const east: UserInfo = {
  username: "system:serviceaccount:common:east",
  groups: ["system:serviceaccounts", "system:serviceaccounts:common", "system:authenticated"],
};

function get(resource: string, namespace?: string, name?: string, subresource?: string): AccessAttributes {
  return { kind: "resource", verb: "get", group: "", resource, namespace, name, subresource };
}

function bind(objects: Objects, rules: object[], namespace = "common"): void {
  objects.add("roles", { metadata: { name: "r", namespace }, rules });
  objects.add("rolebindings", {
    metadata: { name: "r", namespace },
    roleRef: { kind: "Role", name: "r" },
    subjects: [{ kind: "ServiceAccount", name: "east", namespace: "common" }],
  });
}

test("a RoleBinding gives a ServiceAccount its rules in its namespace and nowhere else", () => {
  const objects = new Objects();
  bind(objects, [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]);
  const authorizer = new Authorizer(() => objects);

  assert.equal(authorizer.decide(east, get("secrets", "common", "x")).allowed, true);
  assert.equal(authorizer.decide(east, get("secrets", "other", "x")).allowed, false);
  assert.equal(authorizer.decide(east, get("secrets")).allowed, false);
  assert.equal(authorizer.decide(east, get("secrets", "common", "x", "status")).allowed, false);
});

test("a ClusterRole bound in a namespace gives no rights on the cluster", () => {
  const objects = new Objects();
  objects.add("clusterroles", {
    metadata: { name: "reader" },
    rules: [{ apiGroups: ["*"], resources: ["*"], verbs: ["get"] }],
  });
  objects.add("rolebindings", {
    metadata: { name: "b", namespace: "common" },
    roleRef: { kind: "ClusterRole", name: "reader" },
    subjects: [{ kind: "Group", name: "system:serviceaccounts:common" }],
  });
  const authorizer = new Authorizer(() => objects);

  assert.equal(authorizer.decide(east, get("pods", "common", "p", "log")).allowed, true);
  assert.equal(authorizer.decide(east, get("nodes", undefined, "n")).allowed, false);
});

test("rules with resourceNames never allow a request without a name", () => {
  const rule = readRule({ apiGroups: [""], resources: ["secrets"], resourceNames: ["a"], verbs: ["*"] });

  assert.equal(ruleAllows(rule, get("secrets", "n", "a")), true);
  assert.equal(ruleAllows(rule, get("secrets", "n", "b")), false);
  assert.equal(ruleAllows(rule, { ...get("secrets", "n"), verb: "create" }), false);
});

test("subresources are named, or matched for every resource", () => {
  assert.equal(
    ruleAllows(readRule({ apiGroups: [""], resources: ["pods/log"], verbs: ["get"] }), get("pods", "n", "p", "log")),
    true,
  );
  assert.equal(
    ruleAllows(readRule({ apiGroups: [""], resources: ["*/log"], verbs: ["get"] }), get("pods", "n", "p", "log")),
    true,
  );
  assert.equal(
    ruleAllows(readRule({ apiGroups: [""], resources: ["*/log"], verbs: ["get"] }), get("pods", "n", "p")),
    false,
  );
});

test("paths match whole, or by a star at the end", () => {
  const rule = readRule({ nonResourceURLs: ["/healthz", "/apis/*"], verbs: ["get"] });
  const asks = (path: string): boolean => ruleAllows(rule, { kind: "nonResource", verb: "get", path });

  assert.deepEqual(["/healthz", "/healthz/ping", "/apis/apps", "/apis"].map(asks), [true, false, true, false]);
});

test("a change of a binding is seen with the next request", () => {
  const objects = new Objects();
  const authorizer = new Authorizer(() => objects);
  assert.equal(authorizer.decide(east, get("secrets", "common", "x")).allowed, false);

  bind(objects, [{ apiGroups: [""], resources: ["secrets"], verbs: ["get"] }]);

  assert.equal(authorizer.decide(east, get("secrets", "common", "x")).allowed, true);
});

test("a binding to a role that does not exist is told in the reason", () => {
  const objects = new Objects();
  objects.add("clusterrolebindings", {
    metadata: { name: "b" },
    roleRef: { kind: "ClusterRole", name: "lost" },
    subjects: [{ kind: "User", name: east.username }],
  });

  const { reason } = new Authorizer(() => objects).decide(east, get("pods"));

  assert.equal(reason, 'RBAC: clusterrole.rbac.authorization.k8s.io "lost" not found');
});

test("a refusal is worded as Kubernetes words it", () => {
  const user = { username: "u", groups: [] };
  const message = (asked: AccessAttributes): string => forbiddenStatus(user, asked, "").message;

  assert.equal(
    message(get("secrets", "n", "x")),
    'secrets "x" is forbidden: User "u" cannot get resource "secrets" in API group "" in the namespace "n"',
  );
  assert.equal(
    message({
      kind: "resource",
      verb: "update",
      group: "apps",
      resource: "deployments",
      subresource: "status",
      name: "d",
    }),
    'deployments.apps "d" is forbidden: User "u" cannot update resource "deployments/status" in API group "apps" at the cluster scope',
  );
  assert.equal(
    message({ kind: "nonResource", verb: "get", path: "/metrics" }),
    'forbidden: User "u" cannot get path "/metrics"',
  );
});

test("more rules never take a right away", () => {
  const word = fc.constantFrom("a", "b", "*");
  const rule = fc.record({
    verbs: fc.array(word, { maxLength: 2 }),
    apiGroups: fc.array(word, { maxLength: 2 }),
    resources: fc.array(word, { maxLength: 2 }),
    resourceNames: fc.array(fc.constantFrom("a", "b"), { maxLength: 1 }),
  });
  const asked = fc.record({ verb: word, group: word, resource: word, name: fc.option(word, { nil: undefined }) });
  fc.assert(
    fc.property(fc.array(rule, { maxLength: 3 }), rule, asked, (rules, more, ask) => {
      const decide = (all: object[]): boolean => {
        const objects = new Objects();
        bind(objects, all);
        return new Authorizer(() => objects).decide(east, { kind: "resource", namespace: "common", ...ask }).allowed;
      };
      assert.ok(!decide(rules) || decide([...rules, more]));
    }),
  );
});
