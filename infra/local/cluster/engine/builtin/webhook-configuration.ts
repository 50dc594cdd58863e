import { isJsonObject, type JsonObject, objectIn, objectsIn } from "../json.ts";
import type { ResourceType } from "../resource-type.ts";
import { define } from "./define.ts";
import { bytes, int32, labelSelector, listOf, struct, text, textPointer, texts } from "./description.ts";
import { validateWebhooks } from "./webhook-validation.ts";

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
      validate: validateWebhooks,
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
