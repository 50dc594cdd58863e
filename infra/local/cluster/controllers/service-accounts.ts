import type { Clock } from "../../../../lib/base/clock.ts";
import type { ServiceAccountTokens } from "../access/authentication-tokens.ts";
import { objectIn, textIn } from "../engine/json.ts";
import type { ApiObject, Engine, WatchEvent } from "../types.ts";
import { controllerRequest, type Followed, follow } from "./follow.ts";

const TOKEN_TYPE = "kubernetes.io/service-account-token";
const ACCOUNT_NAME = "kubernetes.io/service-account.name";
const ACCOUNT_UID = "kubernetes.io/service-account.uid";

/** What the controller works with. */
export interface ServiceAccountControllerOptions {
  readonly engine: Engine;
  readonly tokens: ServiceAccountTokens;
  readonly caPem: string;
  readonly clock: Clock;
}

/**
 * What kube-controller-manager does for ServiceAccounts: a `default` account and the CA in every Namespace, a token in
 * every Secret that asks for one, and no such Secret without its account.
 */
export class ServiceAccountController {
  readonly #options: ServiceAccountControllerOptions;
  readonly #ended = new AbortController();
  readonly #work: Promise<unknown>;
  #lastFill: Promise<void> = Promise.resolve();

  /** Starts at once. */
  constructor(options: ServiceAccountControllerOptions) {
    this.#options = options;
    this.#work = Promise.all([
      this.#follow("namespaces", (event) => this.#namespace(event)),
      this.#follow("serviceaccounts", (event) => this.#account(event)),
      this.#follow("secrets", (event) => this.#secret(event)),
    ]);
  }

  /** Does now what is to do for all Namespaces and Secrets, instead of when the watches tell. */
  async settle(): Promise<void> {
    const { engine } = this.#options;
    for (const namespace of engine.readAll("", "namespaces")) await this.#furnish(namespace);
    for (const secret of engine.readAll("", "secrets")) await this.#fill(secret);
  }

  async stop(): Promise<void> {
    this.#ended.abort();
    await this.#work;
  }

  async #follow(resource: string, handle: (event: WatchEvent) => Promise<void>): Promise<void> {
    const { engine, clock } = this.#options;
    await follow({ engine, clock, signal: this.#ended.signal }, core(resource), handle);
  }

  async #namespace({ type, object }: WatchEvent): Promise<void> {
    if (type === "ADDED") await this.#furnish(object as ApiObject);
  }

  async #account({ type, object }: WatchEvent): Promise<void> {
    if (type !== "ADDED" && type !== "DELETED") return;
    const { namespace, name, uid } = (object as ApiObject).metadata;
    for (const secret of this.#options.engine.readAll("", "secrets", namespace)) {
      const annotations = secret.metadata.annotations ?? {};
      if (secret["type"] !== TOKEN_TYPE || annotations[ACCOUNT_NAME] !== name) continue;
      if (type === "ADDED") await this.#fill(secret);
      else if (annotations[ACCOUNT_UID] === uid) await this.#delete("secrets", secret);
    }
  }

  async #secret({ type, object }: WatchEvent): Promise<void> {
    if (type === "ADDED" || type === "MODIFIED") await this.#fill(object as ApiObject);
  }

  async #furnish(namespace: ApiObject): Promise<void> {
    const { engine, caPem } = this.#options;
    const name = namespace.metadata.name ?? "";
    if (namespace.metadata.deletionTimestamp !== undefined) return;
    if (engine.readOne("", "serviceaccounts", name, "default") === undefined) {
      await engine.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: name } });
    }
    if (engine.readOne("", "configmaps", name, "kube-root-ca.crt") === undefined) {
      const metadata = { name: "kube-root-ca.crt", namespace: name };
      await engine.apply({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { "ca.crt": caPem } });
    }
  }

  /** One after the other: two that run at once would give a Secret one token and then another. */
  async #fill(seen: ApiObject): Promise<void> {
    if (seen["type"] !== TOKEN_TYPE) return;
    const fill = this.#lastFill.then(() => this.#fillNow(seen));
    this.#lastFill = fill.catch(() => undefined);
    await fill;
  }

  async #fillNow(seen: ApiObject): Promise<void> {
    const { engine, tokens, caPem } = this.#options;
    const { namespace = "", name = "" } = seen.metadata;
    // The event may be older than what is stored by now.
    const secret = engine.readOne("", "secrets", namespace, name);
    const account = engine.readOne(
      "",
      "serviceaccounts",
      namespace,
      secret?.metadata.annotations?.[ACCOUNT_NAME] ?? "",
    );
    if (secret === undefined || account === undefined || secret.metadata.deletionTimestamp !== undefined) return;
    const data = objectIn(secret, "data");
    if (textIn(data, "token") !== "") return;
    const base64 = (text: string): string => Buffer.from(text).toString("base64");
    await engine.apply({
      ...secret,
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        ...secret.metadata,
        annotations: { ...secret.metadata.annotations, [ACCOUNT_UID]: account.metadata.uid ?? "" },
      },
      data: {
        ...data,
        "ca.crt": base64(caPem),
        namespace: base64(namespace),
        token: base64(tokens.issueForSecret(account, name)),
      },
    });
  }

  async #delete(resource: string, object: ApiObject): Promise<void> {
    const { namespace, name } = object.metadata;
    const target = { ...(namespace === undefined ? {} : { namespace }), ...(name === undefined ? {} : { name }) };
    await this.#options.engine.execute({
      ...controllerRequest("delete", core(resource), this.#ended.signal),
      ...target,
    });
  }
}

function core(resource: string): Followed {
  return { group: "", version: "v1", resource };
}
