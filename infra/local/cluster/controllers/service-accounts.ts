import type { Clock } from "../../../../lib/base/clock.ts";
import type { ServiceAccountTokens } from "../access/authentication-tokens.ts";
import type { ApiObject, Engine, WatchEvent } from "../types.ts";
import { type Followed, follow } from "./follow.ts";
import { TokenSecrets } from "./token-secrets.ts";

const ROOT_CA = "kube-root-ca.crt";
const ROOT_CA_WORDS =
  "Contains a CA bundle that can be used to verify the kube-apiserver when using internal endpoints such as the internal " +
  "service IP or kubernetes.default.svc. No other usage is guaranteed across distributions of Kubernetes clusters.";

/** What the controller works with. */
export interface ServiceAccountControllerOptions {
  readonly engine: Engine;
  readonly tokens: ServiceAccountTokens;
  readonly caPem: string;
  readonly clock: Clock;
}

/**
 * What kube-controller-manager does for ServiceAccounts: a `default` account and the CA in every Namespace, made again when
 * somebody deletes them, a token in every Secret that asks for one, and no such Secret without its account.
 */
export class ServiceAccountController {
  readonly #options: ServiceAccountControllerOptions;
  readonly #ended = new AbortController();
  readonly #secrets: TokenSecrets;
  readonly #work: Promise<unknown>;

  /** Starts at once. */
  constructor(options: ServiceAccountControllerOptions) {
    this.#options = options;
    this.#secrets = new TokenSecrets(options, this.#ended.signal);
    this.#work = Promise.all([
      this.#follow("namespaces", (event) => this.#namespace(event)),
      this.#follow("serviceaccounts", (event) => this.#account(event)),
      this.#follow("configmaps", (event) => this.#configMap(event)),
      this.#follow("secrets", (event) => this.#secret(event)),
    ]);
  }

  /** Does now what is to do for all Namespaces and Secrets, instead of when the watches tell. */
  async settle(): Promise<void> {
    const { engine } = this.#options;
    for (const namespace of engine.readAll("", "namespaces")) await this.#furnish(namespace);
    for (const secret of engine.readAll("", "secrets")) await this.#secrets.sync(secret);
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
    const { namespace = "", name } = (object as ApiObject).metadata;
    for (const secret of this.#options.engine.readAll("", "secrets", namespace)) {
      if (this.#secrets.accountOf(secret) === name) await this.#secrets.sync(secret);
    }
    if (type === "DELETED" && name === "default") await this.#furnishAgain(namespace);
  }

  async #configMap({ type, object }: WatchEvent): Promise<void> {
    const { namespace = "", name } = (object as ApiObject).metadata;
    if (type === "DELETED" && name === ROOT_CA) await this.#furnishAgain(namespace);
  }

  async #secret({ type, object }: WatchEvent): Promise<void> {
    if (type === "ADDED" || type === "MODIFIED") await this.#secrets.sync(object as ApiObject);
  }

  async #furnishAgain(name: string): Promise<void> {
    const namespace = this.#options.engine.readOne("", "namespaces", undefined, name);
    if (namespace !== undefined) await this.#furnish(namespace);
  }

  async #furnish(namespace: ApiObject): Promise<void> {
    const { engine, caPem } = this.#options;
    const name = namespace.metadata.name ?? "";
    if (namespace.metadata.deletionTimestamp !== undefined) return;
    if (engine.readOne("", "serviceaccounts", name, "default") === undefined) {
      await engine.apply({ apiVersion: "v1", kind: "ServiceAccount", metadata: { name: "default", namespace: name } });
    }
    if (engine.readOne("", "configmaps", name, ROOT_CA) === undefined) {
      const annotations = { "kubernetes.io/description": ROOT_CA_WORDS };
      const metadata = { name: ROOT_CA, namespace: name, annotations };
      await engine.apply({ apiVersion: "v1", kind: "ConfigMap", metadata, data: { "ca.crt": caPem } });
    }
  }
}

function core(resource: string): Followed {
  return { group: "", version: "v1", resource };
}
