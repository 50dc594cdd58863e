import { arrayIn, type JsonObject, objectIn, objectsIn, textIn } from "../engine/json.ts";
import { selectorMatches } from "../engine/label-selector.ts";
import type { AdmissionAttributes, ApiObject, Engine } from "../types.ts";

/** One webhook of a Validating- or MutatingWebhookConfiguration, with Kubernetes' defaults filled in. */
export interface Webhook {
  readonly name: string;
  readonly rules: readonly WebhookRule[];
  readonly namespaceSelector: unknown;
  readonly objectSelector: unknown;
  readonly exactMatch: boolean;
  readonly ignoreFailure: boolean;
  readonly timeoutSeconds: number;
  readonly client: WebhookClientConfig;
}

/** Where a webhook listens. */
export interface WebhookClientConfig {
  readonly url: string | undefined;
  readonly service: WebhookService | undefined;
  /** PEM of the authorities that its certificate is checked against; undefined for those of the machine. */
  readonly caPem: string | undefined;
}

/** A webhook inside the cluster. */
export interface WebhookService {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly path: string;
}

interface WebhookRule {
  readonly operations: ReadonlySet<unknown>;
  readonly groups: ReadonlySet<unknown>;
  readonly versions: ReadonlySet<unknown>;
  readonly resources: ReadonlySet<unknown>;
  readonly scope: string;
}

/** What the rules look up. */
export type AdmissionReader = Pick<Engine, "readAll" | "readOne" | "collectionVersion" | "serves">;

const CONFIGURATIONS = "admissionregistration.k8s.io";

/** The webhooks of a configuration object. */
export function readWebhooks(configuration: ApiObject): readonly Webhook[] {
  return objectsIn(configuration, "webhooks").map((hook) => ({
    name: textIn(hook, "name"),
    rules: objectsIn(hook, "rules").map(readRule),
    namespaceSelector: hook["namespaceSelector"],
    objectSelector: hook["objectSelector"],
    exactMatch: hook["matchPolicy"] === "Exact",
    ignoreFailure: hook["failurePolicy"] === "Ignore",
    timeoutSeconds: typeof hook["timeoutSeconds"] === "number" ? hook["timeoutSeconds"] : 10,
    client: readClientConfig(objectIn(hook, "clientConfig")),
  }));
}

/**
 * The version that the webhook wants to see the object in, or undefined when the webhook is not for this request.
 * `matchPolicy: Equivalent` also matches rules for other served versions of the same resource.
 */
export function matchedVersion(hook: Webhook, asked: AdmissionAttributes, engine: AdmissionReader): string | undefined {
  if (asked.group === CONFIGURATIONS && asked.resource.endsWith("webhookconfigurations")) return undefined;
  const version = versionByRules(hook, asked, engine);
  if (version === undefined) return undefined;
  return namespaceMatches(hook, asked, engine) && objectMatches(hook, asked) ? version : undefined;
}

function versionByRules(hook: Webhook, asked: AdmissionAttributes, engine: AdmissionReader): string | undefined {
  const fitting = hook.rules.filter((rule) => ruleMatches(rule, asked));
  if (fitting.some((rule) => has(rule.versions, asked.version))) return asked.version;
  if (hook.exactMatch) return undefined;
  for (const version of fitting.flatMap((rule) => [...rule.versions])) {
    if (typeof version === "string" && engine.serves(asked.group, version, asked.resource)) return version;
  }
  return undefined;
}

function ruleMatches(rule: WebhookRule, asked: AdmissionAttributes): boolean {
  if (!has(rule.operations, asked.operation) || !has(rule.groups, asked.group)) return false;
  const { resource, subresource } = asked;
  const names = ["*/*", `${resource}/*`];
  if (subresource === undefined) names.push("*", resource);
  else names.push(`*/${subresource}`, `${resource}/${subresource}`);
  if (!names.some((name) => rule.resources.has(name))) return false;
  const clustered = asked.namespace === undefined || isNamespace(asked);
  return rule.scope === "*" || (rule.scope === "Cluster") === clustered;
}

function namespaceMatches(hook: Webhook, asked: AdmissionAttributes, engine: AdmissionReader): boolean {
  if (isNamespace(asked)) return selectorMatches(hook.namespaceSelector, labelsOf(asked.object ?? asked.oldObject));
  if (asked.namespace === undefined) return true;
  const namespace = engine.readOne("", "namespaces", undefined, asked.namespace);
  const labels = { "kubernetes.io/metadata.name": asked.namespace, ...labelsOf(namespace) };
  return selectorMatches(hook.namespaceSelector, labels);
}

function objectMatches(hook: Webhook, asked: AdmissionAttributes): boolean {
  return [asked.object, asked.oldObject].some(
    (o) => o !== undefined && selectorMatches(hook.objectSelector, labelsOf(o)),
  );
}

function isNamespace(asked: AdmissionAttributes): boolean {
  return asked.group === "" && asked.resource === "namespaces";
}

function labelsOf(object: ApiObject | undefined): Readonly<Record<string, string>> {
  return object?.metadata.labels ?? {};
}

function has(set: ReadonlySet<unknown>, value: string): boolean {
  return set.has("*") || set.has(value);
}

function readRule(rule: JsonObject): WebhookRule {
  return {
    operations: new Set(arrayIn(rule, "operations")),
    groups: new Set(arrayIn(rule, "apiGroups")),
    versions: new Set(arrayIn(rule, "apiVersions")),
    resources: new Set(arrayIn(rule, "resources")),
    scope: textIn(rule, "scope") || "*",
  };
}

function readClientConfig(config: JsonObject): WebhookClientConfig {
  const service = objectIn(config, "service");
  const bundle = textIn(config, "caBundle");
  return {
    url: typeof config["url"] === "string" ? config["url"] : undefined,
    service:
      service["name"] === undefined
        ? undefined
        : {
            namespace: textIn(service, "namespace"),
            name: textIn(service, "name"),
            port: typeof service["port"] === "number" ? service["port"] : 443,
            path: textIn(service, "path"),
          },
    caPem: bundle === "" ? undefined : Buffer.from(bundle, "base64").toString(),
  };
}
