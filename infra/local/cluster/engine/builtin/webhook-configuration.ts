import { type FieldError, invalid, notSupported, required } from "../../field-error.ts";
import type { ApiObject } from "../../types.ts";
import { arrayIn, isJsonObject, type JsonObject, objectIn, objectsIn, textIn } from "../json.ts";
import { dns1035Problems, subdomainProblems } from "../names.ts";
import type { ResourceType } from "../resource-type.ts";
import { define } from "./define.ts";
import { bytes, int32, labelSelector, listOf, struct, text, textPointer, texts } from "./description.ts";

const GROUP = "admissionregistration.k8s.io";

const webhookFields = {
  name: text,
  clientConfig: struct({
    url: textPointer,
    service: struct({ namespace: text, name: text, path: textPointer, port: int32 }),
    caBundle: bytes,
  }),
  rules: listOf(struct({ operations: texts, apiGroups: texts, apiVersions: texts, resources: texts, scope: text })),
  failurePolicy: text,
  matchPolicy: text,
  namespaceSelector: labelSelector,
  objectSelector: labelSelector,
  sideEffects: text,
  timeoutSeconds: int32,
  admissionReviewVersions: texts,
  matchConditions: listOf(struct({ name: text, expression: text })),
};

/** admissionregistration.k8s.io/v1: which webhooks are asked about writes. */
export const webhookConfigurations: readonly ResourceType[] = [
  configuration("ValidatingWebhookConfiguration", "validatingwebhookconfigurations", {}),
  configuration("MutatingWebhookConfiguration", "mutatingwebhookconfigurations", { reinvocationPolicy: text }),
];

function configuration(kind: string, resource: string, more: Record<string, typeof text>): ResourceType {
  return define({
    group: GROUP,
    kind,
    resource,
    categories: ["api-extensions"],
    namespaced: false,
    schema: struct({ webhooks: listOf(struct({ ...webhookFields, ...more })) }),
    strategy: {
      unconditionalUpdate: false,
      generation: "content",
      applyDefaults: (object) => {
        for (const webhook of objectsIn(object, "webhooks"))
          applyWebhookDefaults(webhook, "reinvocationPolicy" in more);
      },
      validate,
    },
  });
}

function applyWebhookDefaults(webhook: JsonObject, mutating: boolean): void {
  webhook["failurePolicy"] ??= "Fail";
  webhook["matchPolicy"] ??= "Equivalent";
  webhook["namespaceSelector"] ??= {};
  webhook["objectSelector"] ??= {};
  webhook["timeoutSeconds"] ??= 10;
  if (mutating) webhook["reinvocationPolicy"] ??= "Never";
  for (const rule of objectsIn(webhook, "rules")) rule["scope"] ??= "*";
  const service = objectIn(webhook, "clientConfig")["service"];
  if (isJsonObject(service)) service["port"] ??= 443;
}

function validate(object: ApiObject): readonly FieldError[] {
  return objectsIn(object, "webhooks").flatMap((webhook, i) => validateWebhook(webhook, `webhooks[${i}]`));
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
  if (typeof url === "string") {
    const good = URL.canParse(url) && new URL(url).protocol === "https:";
    return good
      ? []
      : [invalid(`${path}.url`, url, `'https' is the only allowed URL scheme; desired format: https://host[/path]`)];
  }
  if (!isJsonObject(service)) return [];
  const errors: FieldError[] = [];
  for (const field of ["namespace", "name"]) {
    if (textIn(service, field) === "")
      errors.push(required(`${path}.service.${field}`, `service ${field} is required`));
  }
  const name = textIn(service, "name");
  return name === ""
    ? errors
    : [...errors, ...dns1035Problems(name).map((p) => invalid(`${path}.service.name`, name, p))];
}
