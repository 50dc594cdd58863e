import type { Authorizer } from "../access/authorization.ts";
import { type PolicyRule, readRule, ruleAllows } from "../access/authorization-rules.ts";
import { objectIn, objectsIn, textIn } from "../engine/json.ts";
import { forbidden } from "../status.ts";
import type { Admission, AdmissionAttributes, AdmissionResult, ApiObject, Engine } from "../types.ts";

const GROUP = "rbac.authorization.k8s.io";
const ROLES = ["roles", "clusterroles"];
const BINDINGS = ["rolebindings", "clusterrolebindings"];

/** Nobody gives away rights that he does not hold, unless he has the verb `escalate` (roles) or `bind` (bindings). */
export function rbacAdmission(
  authorizer: Authorizer,
  engine: () => Pick<Engine, "readOne">,
  next: Admission,
): Admission {
  return async (phase, attributes) => {
    if (phase === "validating" && attributes.group === GROUP && attributes.operation !== "DELETE") {
      const refused = refusalOf(authorizer, engine(), attributes);
      if (refused !== undefined) return refused;
    }
    return await next(phase, attributes);
  };
}

function refusalOf(
  authorizer: Authorizer,
  engine: Pick<Engine, "readOne">,
  attributes: AdmissionAttributes,
): AdmissionResult | undefined {
  const { user, resource, namespace, name, object, group } = attributes;
  const roleRef = objectIn(object ?? {}, "roleRef");
  const role = ROLES.includes(resource)
    ? object
    : BINDINGS.includes(resource)
      ? boundRole(engine, roleRef, namespace)
      : undefined;
  if (role === undefined || user.groups.includes("system:masters")) return undefined;
  const may = (verb: string, of: string, named: string): boolean =>
    authorizer.decide(user, {
      kind: "resource",
      verb,
      group,
      resource: of,
      subresource: undefined,
      namespace,
      name: named,
    }).allowed;
  const excused = ROLES.includes(resource)
    ? may("escalate", resource, name)
    : may("bind", textIn(roleRef, "kind") === "Role" ? "roles" : "clusterroles", textIn(roleRef, "name"));
  if (excused) return undefined;
  const held = authorizer.rulesOf(user);
  const own = [...held.cluster, ...(namespace === undefined ? [] : (held.byNamespace.get(namespace) ?? []))];
  const missing = objectsIn(role, "rules").filter((rule) => !covers(own, readRule(rule)));
  if (missing.length === 0) return undefined;
  const groups = user.groups.map((g) => JSON.stringify(g)).join(" ");
  const who = `user ${JSON.stringify(user.username)} (groups=[${groups}])`;
  const words = `${who} is attempting to grant RBAC permissions not currently held:\n${missing.map(shown).join("\n")}`;
  return { allowed: false, status: forbidden({ group, resource }, name, words) };
}

function boundRole(
  engine: Pick<Engine, "readOne">,
  roleRef: Record<string, unknown>,
  namespace: string | undefined,
): ApiObject | undefined {
  const name = textIn(roleRef, "name");
  return textIn(roleRef, "kind") === "Role"
    ? engine.readOne(GROUP, "roles", namespace, name)
    : engine.readOne(GROUP, "clusterroles", undefined, name);
}

/** Each single right of the rule is held. */
function covers(own: readonly PolicyRule[], rule: PolicyRule): boolean {
  const paths = [...rule.verbs].every((verb) =>
    rule.nonResourceURLs.every((path) => own.some((held) => ruleAllows(held, { kind: "nonResource", verb, path }))),
  );
  const names = rule.resourceNames.size === 0 ? [undefined] : [...rule.resourceNames];
  return (
    paths &&
    [...rule.verbs].every((verb) =>
      [...rule.apiGroups].every((group) =>
        [...rule.resources].every((full) => {
          const [resource = "", ...rest] = full.split("/");
          const subresource = rest.length === 0 ? undefined : rest.join("/");
          return names.every((name) =>
            own.some((held) =>
              ruleAllows(held, { kind: "resource", verb, group, resource, subresource, namespace: undefined, name }),
            ),
          );
        }),
      ),
    )
  );
}

/** A rule as Kubernetes prints it in this refusal. */
function shown(rule: Record<string, unknown>): string {
  const fields = [
    ["APIGroups", "apiGroups"],
    ["Resources", "resources"],
    ["ResourceNames", "resourceNames"],
    ["NonResourceURLs", "nonResourceURLs"],
    ["Verbs", "verbs"],
  ] as const;
  const parts = fields.flatMap(([label, field]) => {
    const list = rule[field];
    if (!Array.isArray(list) || list.length === 0) return [];
    return [`${label}:[${list.map((item) => JSON.stringify(item)).join(" ")}]`];
  });
  return `{${parts.join(", ")}}`;
}
