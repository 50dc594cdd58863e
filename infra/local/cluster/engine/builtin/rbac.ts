import { type FieldError, notSupported, required } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { arrayIn, equalJson, isJsonObject, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import { pathSegmentProblems } from "../names.ts";
import type { ResourceType, Strategy } from "../resource-type.ts";
import { define } from "./define.ts";
import { labelSelector, listOf, struct, text, texts } from "./description.ts";

const GROUP = "rbac.authorization.k8s.io";

const rules = listOf(
  struct({ verbs: texts, apiGroups: texts, resources: texts, resourceNames: texts, nonResourceURLs: texts }),
);
const bindingSchema = struct({
  subjects: listOf(struct({ kind: text, apiGroup: text, name: text, namespace: text })),
  roleRef: struct({ apiGroup: text, kind: text, name: text }),
});

/** rbac.authorization.k8s.io/v1: roles and their bindings. */
export const rbacTypes: readonly ResourceType[] = [
  define({
    group: GROUP,
    kind: "Role",
    resource: "roles",
    namespaced: true,
    schema: struct({ rules }),
    strategy: roleStrategy(true),
  }),
  define({
    group: GROUP,
    kind: "ClusterRole",
    resource: "clusterroles",
    namespaced: false,
    schema: struct({ rules, aggregationRule: struct({ clusterRoleSelectors: listOf(labelSelector) }) }),
    strategy: roleStrategy(false),
  }),
  define({
    group: GROUP,
    kind: "RoleBinding",
    resource: "rolebindings",
    namespaced: true,
    schema: bindingSchema,
    strategy: bindingStrategy(["Role", "ClusterRole"], true),
  }),
  define({
    group: GROUP,
    kind: "ClusterRoleBinding",
    resource: "clusterrolebindings",
    namespaced: false,
    schema: bindingSchema,
    strategy: bindingStrategy(["ClusterRole"], false),
  }),
];

function roleStrategy(namespaced: boolean): Partial<Strategy> {
  return {
    createOnUpdate: true,
    nameProblems: pathSegmentProblems,
    applyDefaults: (object) => {
      // `rules` has no omitempty: a role without rules shows null.
      object["rules"] ??= null;
    },
    validate: (object) => [
      ...objectsIn(object, "rules").flatMap((rule, i) => validateRule(rule, `rules[${i}]`, namespaced)),
      ...validateAggregation(object),
    ],
  };
}

function validateAggregation(object: ApiObject): readonly FieldError[] {
  const rule = object["aggregationRule"];
  if (!isJsonObject(rule) || arrayIn(rule, "clusterRoleSelectors").length > 0) return [];
  const why = "at least one clusterRoleSelector required if aggregationRule is non-nil";
  return [required("aggregationRule.clusterRoleSelectors", why)];
}

function validateRule(rule: JsonObject, path: string, namespaced: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (arrayIn(rule, "verbs").length === 0)
    errors.push(required(`${path}.verbs`, "verbs must contain at least one value"));
  if (arrayIn(rule, "nonResourceURLs").length > 0) {
    if (namespaced) {
      const words = "namespaced rules cannot apply to non-resource URLs";
      const list = arrayIn(rule, "nonResourceURLs").map((url) => JSON.stringify(url));
      const body = `Invalid value: [${list.join(",")}]: ${words}`;
      errors.push({ type: "FieldValueInvalid", field: `${path}.nonResourceURLs`, body });
    }
    return errors;
  }
  if (arrayIn(rule, "apiGroups").length === 0) {
    errors.push(required(`${path}.apiGroups`, "resource rules must supply at least one api group"));
  }
  if (arrayIn(rule, "resources").length === 0) {
    errors.push(required(`${path}.resources`, "resource rules must supply at least one resource"));
  }
  return errors;
}

function bindingStrategy(kinds: readonly string[], namespaced: boolean): Partial<Strategy> {
  return {
    createOnUpdate: true,
    nameProblems: pathSegmentProblems,
    applyDefaults: applyBindingDefaults,
    validate: (object) => validateBinding(object, kinds, namespaced),
    validateUpdate: (object, old) =>
      equalJson(object["roleRef"], old["roleRef"]) ? [] : [changedReference(objectIn(object, "roleRef"))],
  };
}

function changedReference(reference: JsonObject): FieldError {
  const [group, kind, name] = ["apiGroup", "kind", "name"].map((field) => JSON.stringify(textIn(reference, field)));
  const body = `Invalid value: rbac.RoleRef{APIGroup:${group}, Kind:${kind}, Name:${name}}: cannot change roleRef`;
  return { type: "FieldValueInvalid", field: "roleRef", body };
}

function applyBindingDefaults(object: ApiObject): void {
  const reference = object["roleRef"];
  if (isJsonObject(reference)) reference["apiGroup"] ??= GROUP;
  for (const subject of objectsIn(object, "subjects")) {
    if (textIn(subject, "kind") !== "ServiceAccount") subject["apiGroup"] ??= GROUP;
  }
}

function validateBinding(object: ApiObject, kinds: readonly string[], namespaced: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  const reference = objectIn(object, "roleRef");
  if (textIn(reference, "apiGroup") !== GROUP) {
    errors.push(notSupported("roleRef.apiGroup", textIn(reference, "apiGroup"), [GROUP]));
  }
  if (!kinds.includes(textIn(reference, "kind")))
    errors.push(notSupported("roleRef.kind", textIn(reference, "kind"), kinds));
  if (textIn(reference, "name") === "") errors.push(required("roleRef.name"));
  objectsIn(object, "subjects").forEach((subject, i) =>
    errors.push(...validateSubject(subject, `subjects[${i}]`, namespaced)),
  );
  return errors;
}

function validateSubject(subject: JsonObject, path: string, namespaced: boolean): readonly FieldError[] {
  const errors: FieldError[] = [];
  const kind = textIn(subject, "kind");
  const group = textIn(subject, "apiGroup");
  const groupOfKind = kind === "ServiceAccount" ? "" : GROUP;
  if (textIn(subject, "name") === "") errors.push(required(`${path}.name`));
  if (!["ServiceAccount", "User", "Group"].includes(kind)) {
    errors.push(notSupported(`${path}.kind`, kind, ["ServiceAccount", "User", "Group"]));
  } else if (group !== groupOfKind) errors.push(notSupported(`${path}.apiGroup`, group, [groupOfKind]));
  if (kind === "ServiceAccount" && !namespaced && textIn(subject, "namespace") === "")
    errors.push(required(`${path}.namespace`));
  return errors;
}
