import { randomUUID } from "node:crypto";
import type { Clock } from "../../../../lib/base/clock.ts";
import { type JsonObject, objectIn, objectsIn } from "../engine/json.ts";
import { internalError } from "../status.ts";
import type { Admission, AdmissionAttributes, AdmissionResult, ApiObject } from "../types.ts";
import { type ServiceResolver, WebhookCaller } from "./admission-call.ts";
import { readResponse, type Verdict } from "./admission-response.ts";
import {
  type AdmissionReader,
  matchedVersion,
  readWebhooks,
  type Webhook,
  type WebhookService,
} from "./admission-rules.ts";

type Phase = Parameters<Admission>[0];
type Decision = Exclude<Verdict, { kind: "unusable" }>;

/**
 * Asks the webhooks of the cluster's Validating- and MutatingWebhookConfigurations, dry runs included: webhooks of v1
 * must be free of side effects then. `matchConditions` and `reinvocationPolicy` are not looked at.
 */
export class WebhookAdmission {
  readonly #engine: () => AdmissionReader;
  readonly #caller: WebhookCaller;
  readonly #kept = new Map<Phase, { readonly version: string; readonly hooks: readonly Webhook[] }>();

  /** @param engine looked up late, since the engine is built with this */
  constructor(clock: Clock, engine: () => AdmissionReader, resolve: ServiceResolver) {
    this.#engine = engine;
    this.#caller = new WebhookCaller(clock, resolve, (service) => complaint(engine(), service));
  }

  /** Mutating webhooks are asked one after the other, each with the object as the one before left it; validating ones at once. */
  readonly admit: Admission = async (phase, attributes) => {
    const hooks = this.#hooks(phase);
    if (hooks.length === 0) return { allowed: true, object: attributes.object, warnings: [] };
    return phase === "mutating" ? this.#mutate(hooks, attributes) : this.#validate(hooks, attributes);
  };

  /** Ends the connections to webhooks. */
  async close(): Promise<void> {
    await this.#caller.close();
  }

  async #mutate(hooks: readonly Webhook[], attributes: AdmissionAttributes): Promise<AdmissionResult> {
    let object = attributes.object;
    const warnings: string[] = [];
    for (const hook of hooks) {
      const asked = object === undefined ? attributes : { ...attributes, object };
      const verdict = await this.#ask(hook, asked, true);
      warnings.push(...verdict.warnings);
      if (verdict.kind === "denied") return { allowed: false, status: verdict.status, warnings };
      object = verdict.object;
    }
    return { allowed: true, object, warnings };
  }

  async #validate(hooks: readonly Webhook[], attributes: AdmissionAttributes): Promise<AdmissionResult> {
    const verdicts = await Promise.all(hooks.map((hook) => this.#ask(hook, attributes, false)));
    const warnings = verdicts.flatMap((verdict) => verdict.warnings);
    const denied = verdicts.find((verdict) => verdict.kind === "denied");
    if (denied !== undefined) return { allowed: false, status: denied.status, warnings };
    return { allowed: true, object: attributes.object, warnings };
  }

  async #ask(hook: Webhook, attributes: AdmissionAttributes, mutating: boolean): Promise<Decision> {
    const { object } = attributes;
    const unchanged: Decision = { kind: "allowed", object, warnings: [] };
    const version = matchedVersion(hook, attributes, this.#engine());
    if (version === undefined) return unchanged;
    const quoted = JSON.stringify(hook.name);
    const uid = randomUUID();
    const answer = await this.#caller.call(hook, review(uid, attributes, version));
    const verdict: Verdict = answer.ok
      ? readResponse(answer.value, { quoted, uid, mutating, object })
      : { kind: "unusable", why: answer.error };
    if (verdict.kind !== "unusable") return verdict;
    if (hook.ignoreFailure) return unchanged;
    const status = internalError(`failed calling webhook ${quoted}: ${verdict.why}`);
    return { kind: "denied", status, warnings: [] };
  }

  #hooks(phase: Phase): readonly Webhook[] {
    const resource = phase === "mutating" ? "mutatingwebhookconfigurations" : "validatingwebhookconfigurations";
    const engine = this.#engine();
    const version = engine.collectionVersion("admissionregistration.k8s.io", resource);
    const kept = this.#kept.get(phase);
    if (kept?.version === version) return kept.hooks;
    const byName = (a: ApiObject, b: ApiObject): number => ((a.metadata.name ?? "") < (b.metadata.name ?? "") ? -1 : 1);
    const hooks = engine.readAll("admissionregistration.k8s.io", resource).toSorted(byName).flatMap(readWebhooks);
    this.#kept.set(phase, { version, hooks });
    return hooks;
  }
}

function review(uid: string, asked: AdmissionAttributes, version: string): JsonObject {
  const kind = (v: string): JsonObject => ({ group: asked.group, version: v, kind: asked.kind });
  const resource = (v: string): JsonObject => ({ group: asked.group, version: v, resource: asked.resource });
  const apiVersion = asked.group === "" ? version : `${asked.group}/${version}`;
  const inVersion = (object: ApiObject | undefined): ApiObject | null => {
    if (object === undefined) return null;
    return version === asked.version ? object : { ...object, apiVersion };
  };
  const options = { CREATE: "CreateOptions", UPDATE: "UpdateOptions", DELETE: "DeleteOptions" }[asked.operation];
  // A Namespace lies in itself.
  const namespace = asked.group === "" && asked.resource === "namespaces" ? asked.name : asked.namespace;
  return {
    apiVersion: "admission.k8s.io/v1",
    kind: "AdmissionReview",
    request: {
      uid,
      kind: kind(version),
      resource: resource(version),
      ...(asked.subresource === undefined
        ? {}
        : { subResource: asked.subresource, requestSubResource: asked.subresource }),
      requestKind: kind(asked.version),
      requestResource: resource(asked.version),
      ...(asked.name === "" ? {} : { name: asked.name }),
      ...(namespace === undefined ? {} : { namespace }),
      operation: asked.operation,
      userInfo: asked.user,
      object: inVersion(asked.object),
      oldObject: inVersion(asked.oldObject),
      dryRun: asked.dryRun,
      options: { ...asked.options, apiVersion: "meta.k8s.io/v1", kind: options },
    },
  };
}

function complaint(engine: AdmissionReader, { namespace, name, port }: WebhookService): string {
  const found = engine.readOne("", "services", namespace, name);
  if (found === undefined) return `service ${JSON.stringify(name)} not found`;
  const offered = objectsIn(objectIn(found, "spec"), "ports").some((offer) => offer["port"] === port);
  return offered
    ? `no endpoints available for service ${JSON.stringify(name)}`
    : `no service port ${port} found for service ${JSON.stringify(name)}`;
}
