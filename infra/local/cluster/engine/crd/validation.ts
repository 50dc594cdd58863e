import { type FieldError, invalid, notSupported, required } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { type JsonObject, objectIn, objectsIn, textIn, textsIn } from "../json.ts";
import { dns1035Problems, subdomainProblems } from "../names.ts";

const APPROVED = "api-approved.kubernetes.io";
const UNAPPROVED_WORDS =
  'protected groups must have approval annotation "api-approved.kubernetes.io", see https://github.com/kubernetes/enhancements/pull/1111';

/** Complaints about a CustomResourceDefinition, as far as definitions that people write can get them. */
export function validateDefinition(object: ApiObject): readonly FieldError[] {
  const spec = objectIn(object, "spec");
  const names = objectIn(spec, "names");
  const group = textIn(spec, "group");
  const plural = textIn(names, "plural");
  const errors: FieldError[] = [];
  if (object.metadata.name !== `${plural}.${group}`) {
    errors.push(invalid("metadata.name", object.metadata.name, 'must be spec.names.plural+"."+spec.group'));
  }
  const isProtected = /(^|\.)(k8s|kubernetes)\.io$/.test(group);
  if (isProtected && textsIn(object.metadata, "annotations")[APPROVED] === undefined) {
    errors.push(required(`metadata.annotations[${APPROVED}]`, UNAPPROVED_WORDS));
  }
  errors.push(...validateGroup(group), ...validateScope(textIn(spec, "scope")));
  return [...errors, ...validateVersions(objectsIn(spec, "versions")), ...validateNames(names)];
}

/** Group, names and scope are for ever. */
export function validateDefinitionUpdate(object: ApiObject, old: ApiObject): readonly FieldError[] {
  const now = objectIn(object, "spec");
  const before = objectIn(old, "spec");
  const pairs = [
    ["spec.group", textIn(now, "group"), textIn(before, "group")],
    ["spec.scope", textIn(now, "scope"), textIn(before, "scope")],
    ["spec.names.kind", textIn(objectIn(now, "names"), "kind"), textIn(objectIn(before, "names"), "kind")],
    ["spec.names.plural", textIn(objectIn(now, "names"), "plural"), textIn(objectIn(before, "names"), "plural")],
  ] as const;
  return pairs.filter(([, a, b]) => a !== b).map(([path, a]) => invalid(path, a, "field is immutable"));
}

function validateGroup(group: string): readonly FieldError[] {
  if (group === "") return [required("spec.group")];
  const problems = subdomainProblems(group);
  if (problems.length > 0) return [invalid("spec.group", group, problems.join(","))];
  return group.includes(".") ? [] : [invalid("spec.group", group, "should be a domain with at least one dot")];
}

function validateScope(scope: string): readonly FieldError[] {
  if (scope === "") return [required("spec.scope")];
  const allowed = ["Cluster", "Namespaced"];
  return allowed.includes(scope) ? [] : [notSupported("spec.scope", scope, allowed)];
}

function validateNames(names: JsonObject): readonly FieldError[] {
  const missing = ["plural", "singular", "kind", "listKind"].filter((field) => textIn(names, field) === "");
  const errors = missing.map((field) => required(`spec.names.${field}`));
  for (const field of ["plural", "singular"]) {
    const name = textIn(names, field);
    const problems = name === "" ? [] : dns1035Problems(name);
    if (problems.length > 0) errors.push(invalid(`spec.names.${field}`, name, problems.join(",")));
  }
  const kind = textIn(names, "kind");
  if (kind !== "" && kind === textIn(names, "listKind")) {
    errors.push(invalid("spec.names.listKind", kind, "kind and listKind may not be the same"));
  }
  return errors;
}

function validateVersions(versions: readonly JsonObject[]): readonly FieldError[] {
  const errors: FieldError[] = [];
  if (versions.length === 0)
    return [required("spec.versions", "must have exactly one version marked as storage version")];
  versions.forEach((version, i) => {
    const path = `spec.versions[${i}]`;
    const schema = objectIn(objectIn(version, "schema"), "openAPIV3Schema");
    if (Object.keys(schema).length === 0)
      errors.push(required(`${path}.schema.openAPIV3Schema`, "schemas are required"));
    else {
      // The schema of an only version counts as that of all versions, whose old place in the spec the server names.
      const place = versions.length === 1 ? "spec.validation" : `${path}.schema`;
      errors.push(...validateStructure(schema, `${place}.openAPIV3Schema`));
    }
  });
  if (new Set(versions.map((v) => textIn(v, "name"))).size < versions.length) {
    errors.push(invalid("spec.versions", versions, "must contain unique version names"));
  }
  if (versions.filter((v) => v["storage"] === true).length !== 1) {
    errors.push(invalid("spec.versions", versions, "must have exactly one version marked as storage version"));
  }
  return errors;
}

/** Structural: every node says its type, unless it is int-or-string or keeps what it does not know. */
function validateStructure(schema: JsonObject, path: string): readonly FieldError[] {
  const untyped =
    schema["x-kubernetes-int-or-string"] === true || schema["x-kubernetes-preserve-unknown-fields"] === true;
  const root = path.endsWith(".openAPIV3Schema");
  const errors: FieldError[] = [];
  const type = textIn(schema, "type");
  if (type === "" && !untyped) {
    errors.push(
      required(
        `${path}.type`,
        root ? "must not be empty at the root" : "must not be empty for specified object fields",
      ),
    );
  }
  if (root && type !== "" && type !== "object")
    errors.push(invalid(`${path}.type`, type, "must be object at the root"));
  if (type === "array" && schema["items"] === undefined) errors.push(required(`${path}.items`, "must be specified"));
  for (const [key, child] of Object.entries(objectIn(schema, "properties"))) {
    if (typeof child === "object" && child !== null) {
      errors.push(...validateStructure({ ...child }, `${path}.properties[${key}]`));
    }
  }
  for (const field of ["items", "additionalProperties"]) {
    const child = schema[field];
    if (typeof child === "object" && child !== null)
      errors.push(...validateStructure({ ...child }, `${path}.${field}`));
  }
  return errors;
}
