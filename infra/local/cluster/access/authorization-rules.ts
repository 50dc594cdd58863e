import { arrayIn, type JsonObject } from "../engine/json.ts";

/** What is asked of authorisation. */
export type AccessAttributes =
  | {
      readonly kind: "resource";
      readonly verb: string;
      readonly group: string;
      readonly resource: string;
      readonly subresource?: string | undefined;
      readonly namespace?: string | undefined;
      readonly name?: string | undefined;
    }
  | { readonly kind: "nonResource"; readonly verb: string; readonly path: string };

/** A PolicyRule (rbac.authorization.k8s.io/v1), made ready for look-ups. */
export interface PolicyRule {
  readonly verbs: ReadonlySet<string>;
  readonly apiGroups: ReadonlySet<string>;
  readonly resources: ReadonlySet<string>;
  readonly resourceNames: ReadonlySet<string>;
  readonly nonResourceURLs: readonly string[];
}

/** Reads a rule as it stands in a Role. */
export function readRule(rule: JsonObject): PolicyRule {
  return {
    verbs: texts(rule, "verbs"),
    apiGroups: texts(rule, "apiGroups"),
    resources: texts(rule, "resources"),
    resourceNames: texts(rule, "resourceNames"),
    nonResourceURLs: [...texts(rule, "nonResourceURLs")],
  };
}

/** Whether a rule allows what is asked, by the rules of RBAC: a rule without names is for all, one with names never for requests without a name. */
export function ruleAllows(rule: PolicyRule, asked: AccessAttributes): boolean {
  if (!rule.verbs.has("*") && !rule.verbs.has(asked.verb)) return false;
  if (asked.kind === "nonResource") return rule.nonResourceURLs.some((url) => urlMatches(url, asked.path));
  if (!rule.apiGroups.has("*") && !rule.apiGroups.has(asked.group)) return false;
  if (!resourceMatches(rule.resources, asked.resource, asked.subresource)) return false;
  return rule.resourceNames.size === 0 || rule.resourceNames.has(asked.name ?? "");
}

/** `*`, `pods`, `pods/log` or, for the subresource of any resource, `*` + `/scale`. */
function resourceMatches(resources: ReadonlySet<string>, resource: string, subresource: string | undefined): boolean {
  if (resources.has("*")) return true;
  if (subresource === undefined) return resources.has(resource);
  return resources.has(`${resource}/${subresource}`) || resources.has(`*/${subresource}`);
}

function urlMatches(url: string, path: string): boolean {
  return url === "*" || url === path || (url.endsWith("*") && path.startsWith(url.slice(0, -1)));
}

function texts(rule: JsonObject, field: string): ReadonlySet<string> {
  return new Set(arrayIn(rule, field).filter((v) => typeof v === "string"));
}
