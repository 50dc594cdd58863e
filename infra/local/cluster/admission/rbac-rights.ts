import { type PolicyRule, readRule, ruleAllows } from "../access/authorization-rules.ts";
import type { JsonObject } from "../engine/json.ts";

/** One thing that a rule gives verbs on: one resource of one group, by one name or by all, or one path. */
type Right =
  | { readonly group: string; readonly resource: string; readonly name: string | undefined }
  | { readonly path: string };

/** What of the rules is not held, taken apart as Kubernetes does: verbs on the same thing together, in order of the text. */
export function missingRights(held: readonly PolicyRule[], rules: readonly JsonObject[]): readonly string[] {
  const missing = new Map<string, Set<string>>();
  for (const rule of rules.map(readRule)) {
    for (const right of rightsOf(rule)) {
      const verbs = [...rule.verbs].filter((verb) => !isHeld(held, right, verb));
      if (verbs.length === 0) continue;
      const key = shown(right);
      missing.set(key, new Set([...(missing.get(key) ?? []), ...verbs]));
    }
  }
  return [...missing].map(([right, verbs]) => `{${right}, Verbs:${list([...verbs])}}`).toSorted();
}

function rightsOf(rule: PolicyRule): readonly Right[] {
  const names = rule.resourceNames.size === 0 ? [undefined] : [...rule.resourceNames];
  const resources = [...rule.apiGroups].flatMap((group) =>
    [...rule.resources].flatMap((resource) => names.map((name) => ({ group, resource, name }))),
  );
  return [...resources, ...rule.nonResourceURLs.map((path) => ({ path }))];
}

function isHeld(held: readonly PolicyRule[], right: Right, verb: string): boolean {
  if ("path" in right) return held.some((rule) => ruleAllows(rule, { kind: "nonResource", verb, path: right.path }));
  const { group, name } = right;
  const [resource = "", ...rest] = right.resource.split("/");
  const subresource = rest.length === 0 ? undefined : rest.join("/");
  return held.some((rule) => ruleAllows(rule, { kind: "resource", verb, group, resource, subresource, name }));
}

/** A right as Kubernetes prints it in this refusal. */
function shown(right: Right): string {
  if ("path" in right) return `NonResourceURLs:${list([right.path])}`;
  const names = right.name === undefined ? "" : `, ResourceNames:${list([right.name])}`;
  return `APIGroups:${list([right.group])}, Resources:${list([right.resource])}${names}`;
}

function list(items: readonly string[]): string {
  return `[${items.map((item) => JSON.stringify(item)).join(" ")}]`;
}
