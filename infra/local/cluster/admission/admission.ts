import { randomUUID } from "node:crypto";
import jsonPatch, { type Operation } from "fast-json-patch";
import type { Clock } from "../../../../lib/base/clock.ts";
import { failed, ok, type Result } from "../../../../lib/base/result.ts";
import { arrayIn, type JsonObject, objectIn, textIn } from "../engine/json.ts";
import { failure, internalError } from "../status.ts";
import type { Admission, AdmissionAttributes, AdmissionResult, ApiObject, ApiStatus } from "../types.ts";
import { type ServiceResolver, WebhookCaller } from "./admission-call.ts";
import { type AdmissionReader, matchedVersion, readWebhooks, type Webhook } from "./admission-rules.ts";

type Phase = Parameters<Admission>[0];
type Verdict = Result<{ readonly object: ApiObject | undefined; readonly warnings: readonly string[] }, ApiStatus>;

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
    this.#caller = new WebhookCaller(clock, resolve);
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
      const verdict = await this.#ask(hook, object === undefined ? attributes : { ...attributes, object });
      if (!verdict.ok) return { allowed: false, status: verdict.error };
      object = verdict.value.object;
      warnings.push(...verdict.value.warnings);
    }
    return { allowed: true, object, warnings };
  }

  async #validate(hooks: readonly Webhook[], attributes: AdmissionAttributes): Promise<AdmissionResult> {
    const verdicts = await Promise.all(hooks.map((hook) => this.#ask(hook, attributes)));
    const warnings: string[] = [];
    for (const verdict of verdicts) {
      if (!verdict.ok) return { allowed: false, status: verdict.error };
      warnings.push(...verdict.value.warnings);
    }
    return { allowed: true, object: attributes.object, warnings };
  }

  async #ask(hook: Webhook, attributes: AdmissionAttributes): Promise<Verdict> {
    const unchanged = ok({ object: attributes.object, warnings: [] });
    const version = matchedVersion(hook, attributes, this.#engine());
    if (version === undefined) return unchanged;
    const quoted = JSON.stringify(hook.name);
    const uid = randomUUID();
    const answer = await this.#caller.call(hook, review(uid, attributes, version));
    const checked = answer.ok ? checkUid(answer.value, uid) : answer;
    if (!checked.ok) {
      return hook.ignoreFailure
        ? unchanged
        : failed(internalError(`failed calling webhook ${quoted}: ${checked.error}`));
    }
    const response = checked.value;
    if (response["allowed"] !== true) return failed(denial(quoted, objectIn(response, "status")));
    return patched(quoted, attributes.object, response);
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
      ...(asked.namespace === undefined ? {} : { namespace: asked.namespace }),
      operation: asked.operation,
      userInfo: asked.user,
      object: inVersion(asked.object),
      oldObject: inVersion(asked.oldObject),
      dryRun: asked.dryRun,
      options: { apiVersion: "meta.k8s.io/v1", kind: options },
    },
  };
}

function checkUid(response: JsonObject, uid: string): Result<JsonObject, string> {
  const got = textIn(response, "uid");
  if (got === uid) return ok(response);
  return failed(`received invalid webhook response: expected response.uid="${uid}", got "${got}"`);
}

/** A webhook's "no" in the words of Kubernetes; codes below 400 make no sense with a denial and become 400. */
function denial(quoted: string, status: JsonObject): ApiStatus {
  const code = typeof status["code"] === "number" && status["code"] >= 400 ? status["code"] : 400;
  const message = textIn(status, "message");
  const reason = textIn(status, "reason");
  const why = message || reason;
  const said = `admission webhook ${quoted} denied the request${why === "" ? " without explanation" : `: ${why}`}`;
  const details = status["details"];
  return {
    ...failure(code, reason, said),
    ...(typeof details === "object" && details !== null ? { details: objectIn(status, "details") } : {}),
  };
}

function patched(quoted: string, object: ApiObject | undefined, response: JsonObject): Verdict {
  const warnings = arrayIn(response, "warnings").filter((w) => typeof w === "string");
  const patch = textIn(response, "patch");
  if (patch === "" || object === undefined) return ok({ object, warnings });
  try {
    const operations = JSON.parse(Buffer.from(patch, "base64").toString()) as Operation[];
    const result = jsonPatch.applyPatch(object, operations, true, false);
    return ok({ object: result.newDocument, warnings });
  } catch (error) {
    const why = error instanceof Error ? (error.message.split("\n")[0] ?? "") : String(error);
    return failed(internalError(`failed calling webhook ${quoted}: received invalid webhook response: ${why}`));
  }
}
