import { duplicate, type FieldError, invalid, notSupported, required } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { arrayIn, isJsonObject, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import { dns1035Problems, subdomainProblems } from "../names.ts";

const OPERATIONS = ["*", "CONNECT", "CREATE", "DELETE", "UPDATE"];
const SCOPES = ["*", "Cluster", "Namespaced"];
const OPERATORS = ["In", "NotIn", "Exists", "DoesNotExist"];

/** Complaints about a Validating- or MutatingWebhookConfiguration. */
export function validateWebhooks(object: ApiObject): readonly FieldError[] {
  const names = new Set<string>();
  return objectsIn(object, "webhooks").flatMap((webhook, i) => {
    const path = `webhooks[${i}]`;
    const name = textIn(webhook, "name");
    const twice = names.has(name) ? [duplicate(`${path}.name`, name)] : [];
    names.add(name);
    return [...validateWebhook(webhook, path), ...twice];
  });
}

function validateWebhook(webhook: JsonObject, path: string): readonly FieldError[] {
  const name = textIn(webhook, "name");
  const errors: FieldError[] = subdomainProblems(name).map((p) => invalid(`${path}.name`, name, p));
  if (name.split(".").length < 3) {
    const words = "should be a domain with at least three segments separated by dots";
    errors.push(invalid(`${path}.name`, name, words));
  }
  for (const field of ["failurePolicy", "matchPolicy"] as const) {
    const allowed = field === "failurePolicy" ? ["Fail", "Ignore"] : ["Equivalent", "Exact"];
    const value = textIn(webhook, field);
    if (!allowed.includes(value)) errors.push(notSupported(`${path}.${field}`, value, allowed));
  }
  const effects = textIn(webhook, "sideEffects");
  if (!["None", "NoneOnDryRun"].includes(effects)) {
    const allowed = ["None", "NoneOnDryRun"];
    const missing = required(`${path}.sideEffects`, "must specify one of None, NoneOnDryRun");
    errors.push(effects === "" ? missing : notSupported(`${path}.sideEffects`, effects, allowed));
  }
  const seconds = webhook["timeoutSeconds"];
  if (typeof seconds === "number" && (seconds < 1 || seconds > 30)) {
    errors.push(invalid(`${path}.timeoutSeconds`, seconds, "the timeout value must be between 1 and 30 seconds"));
  }
  return [
    ...errors,
    ...objectsIn(webhook, "rules").flatMap((rule, i) => validateRule(rule, `${path}.rules[${i}]`)),
    ...validateSelector(objectIn(webhook, "namespaceSelector"), `${path}.namespaceSelector`),
    ...validateSelector(objectIn(webhook, "objectSelector"), `${path}.objectSelector`),
    ...validateClient(objectIn(webhook, "clientConfig"), `${path}.clientConfig`),
    ...validateReviewVersions(webhook, `${path}.admissionReviewVersions`),
  ];
}

function validateReviewVersions(webhook: JsonObject, path: string): readonly FieldError[] {
  const versions = arrayIn(webhook, "admissionReviewVersions");
  if (versions.length === 0) return [required(path, "must specify one of v1, v1beta1")];
  if (versions.some((v) => v === "v1" || v === "v1beta1")) return [];
  return [invalid(path, versions, "must include at least one of v1, v1beta1")];
}

function validateClient(client: JsonObject, path: string): readonly FieldError[] {
  const { url, service } = client;
  if ((url === undefined) === (service === undefined)) {
    return [required(path, "exactly one of url or service is required")];
  }
  if (typeof url === "string") return validateUrl(url, `${path}.url`);
  if (!isJsonObject(service)) return [];
  const errors: FieldError[] = [];
  for (const field of ["namespace", "name"]) {
    if (textIn(service, field) === "")
      errors.push(required(`${path}.service.${field}`, `service ${field} is required`));
  }
  const name = textIn(service, "name");
  if (name !== "") errors.push(...dns1035Problems(name).map((p) => invalid(`${path}.service.name`, name, p)));
  const at = textIn(service, "path");
  if (at !== "" && !at.startsWith("/")) errors.push(invalid(`${path}.service.path`, at, "must start with a '/'"));
  return errors;
}

function validateUrl(url: string, path: string): readonly FieldError[] {
  const form = "; desired format: https://host[/path]";
  if (!URL.canParse(url)) return [required(path, `url must be a valid URL${form}`)];
  const { protocol, username, password, hash, search } = new URL(url);
  const errors: FieldError[] = [];
  if (protocol !== "https:") {
    errors.push(invalid(path, protocol.replace(":", ""), `'https' is the only allowed URL scheme${form}`));
  }
  const user = password === "" ? username : `${username}:${password}`;
  if (user !== "") errors.push(invalid(path, user, "user information is not permitted in the URL"));
  if (hash !== "") errors.push(invalid(path, hash.slice(1), "fragments are not permitted in the URL"));
  if (search !== "") errors.push(invalid(path, search.slice(1), "query parameters are not permitted in the URL"));
  return errors;
}

function validateRule(rule: JsonObject, path: string): readonly FieldError[] {
  const errors: FieldError[] = [];
  for (const field of ["operations", "apiGroups", "apiVersions", "resources"]) {
    const values = arrayIn(rule, field);
    if (values.length === 0) errors.push(required(`${path}.${field}`));
    if (field === "resources" || values.length < 2 || !values.includes("*")) continue;
    const what = { operations: "operations", apiGroups: "API groups", apiVersions: "API versions" }[field];
    errors.push(invalid(`${path}.${field}`, values, `if '*' is present, must not specify other ${what}`));
  }
  arrayIn(rule, "operations").forEach((operation, i) => {
    if (OPERATIONS.includes(String(operation))) return;
    errors.push(notSupported(`${path}.operations[${i}]`, operation, OPERATIONS));
  });
  const scope = textIn(rule, "scope");
  if (!SCOPES.includes(scope)) errors.push(notSupported(`${path}.scope`, scope, SCOPES));
  return errors;
}

function validateSelector(selector: JsonObject, path: string): readonly FieldError[] {
  return objectsIn(selector, "matchExpressions").flatMap((expression, i) => {
    const operator = textIn(expression, "operator");
    return OPERATORS.includes(operator)
      ? []
      : [invalid(`${path}.matchExpressions[${i}].operator`, operator, "not a valid selector operator")];
  });
}
