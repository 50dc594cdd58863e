import type { ServiceAccountTokens } from "../access/authentication-tokens.ts";
import { objectIn, textIn } from "../engine/json.ts";
import type { ApiObject, Engine } from "../types.ts";
import { controllerRequest } from "./follow.ts";

const TOKEN_TYPE = "kubernetes.io/service-account-token";
const ACCOUNT_NAME = "kubernetes.io/service-account.name";
const ACCOUNT_UID = "kubernetes.io/service-account.uid";

/** What the Secrets are filled from. */
export interface TokenSecretsOptions {
  readonly engine: Engine;
  readonly tokens: ServiceAccountTokens;
  readonly caPem: string;
}

/** Secrets of the type `kubernetes.io/service-account-token`, as kube-controller-manager keeps them. */
export class TokenSecrets {
  readonly #options: TokenSecretsOptions;
  readonly #signal: AbortSignal;
  #last: Promise<void> = Promise.resolve();

  /** @param signal ends what this asks of the engine */
  constructor(options: TokenSecretsOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
  }

  /** The ServiceAccount that a token Secret names; undefined for any other Secret. */
  accountOf(secret: ApiObject): string | undefined {
    return secret["type"] === TOKEN_TYPE ? secret.metadata.annotations?.[ACCOUNT_NAME] : undefined;
  }

  /**
   * Fills a Secret with what it lacks, or deletes it where its account is gone or another one.
   * One after the other: two that ran at once would give a Secret one token and then another.
   */
  async sync(seen: ApiObject): Promise<void> {
    if (seen["type"] !== TOKEN_TYPE) return;
    const turn = this.#last.then(() => this.#syncNow(seen));
    this.#last = turn.catch(() => undefined);
    await turn;
  }

  async #syncNow(seen: ApiObject): Promise<void> {
    const { engine } = this.#options;
    const { namespace = "", name = "" } = seen.metadata;
    // The event may be older than what is stored by now.
    const secret = engine.readOne("", "secrets", namespace, name);
    if (secret === undefined || secret.metadata.deletionTimestamp !== undefined) return;
    const account = engine.readOne("", "serviceaccounts", namespace, this.accountOf(secret) ?? "");
    const uid = secret.metadata.annotations?.[ACCOUNT_UID];
    const isOther = uid !== undefined && uid !== account?.metadata.uid;
    if (account === undefined || isOther) await this.#delete(secret);
    else await this.#fill(secret, account);
  }

  async #fill(secret: ApiObject, account: ApiObject): Promise<void> {
    const { engine, tokens, caPem } = this.#options;
    const { namespace = "", name = "", annotations } = secret.metadata;
    const data = objectIn(secret, "data");
    const wanted = {
      "ca.crt": base64(caPem),
      namespace: textIn(data, "namespace") || base64(namespace),
      token: textIn(data, "token") || base64(tokens.issueForSecret(account, name)),
    };
    const isFull = Object.entries(wanted).every(([key, value]) => data[key] === value);
    if (isFull && annotations?.[ACCOUNT_UID] === account.metadata.uid) return;
    await engine.apply({
      ...secret,
      apiVersion: "v1",
      kind: "Secret",
      metadata: { ...secret.metadata, annotations: { ...annotations, [ACCOUNT_UID]: account.metadata.uid ?? "" } },
      data: { ...data, ...wanted },
    });
  }

  async #delete({ metadata: { namespace = "", name = "" } }: ApiObject): Promise<void> {
    const of = { group: "", version: "v1", resource: "secrets" };
    await this.#options.engine.execute({ ...controllerRequest("delete", of, this.#signal), namespace, name });
  }
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
