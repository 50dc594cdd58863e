import { createHash, generateKeyPairSync, type KeyObject, randomUUID, sign, verify } from "node:crypto";
import type { Clock } from "../../../../lib/base/clock.ts";
import { arrayIn, type JsonObject, objectIn, textIn } from "../engine/json.ts";
import type { ApiObject, Engine, UserInfo } from "../types.ts";

/** The audience of tokens that are meant for the API server itself. */
export const API_AUDIENCE = "https://kubernetes.default.svc.cluster.local";
const LEGACY_ISSUER = "kubernetes/serviceaccount";
const MAX_CACHED = 20_000;

/** What a token says; both forms that Kubernetes issues. */
interface Claims {
  readonly namespace: string;
  readonly serviceAccount: string;
  readonly uid: string;
  readonly secret: { readonly name: string; readonly uid: string | undefined } | undefined;
  /** True for a token that lives in a Secret: it is good only while that Secret holds it. */
  readonly legacy: boolean;
  readonly audiences: readonly string[];
  readonly notBeforeS: number;
  readonly expiresS: number;
  readonly user: UserInfo;
}

/** What a bound token is issued for. */
export interface BoundTokenRequest {
  readonly audiences?: readonly string[];
  readonly expiresInS: number;
  /** Secret that the token's life is bound to. */
  readonly secret?: { readonly name: string; readonly uid: string };
}

type Reader = Pick<Engine, "readOne">;

/** Issues and checks the ServiceAccount tokens of one cluster: JWTs (ES256), revoked with their account or Secret. */
export class ServiceAccountTokens {
  readonly #clock: Clock;
  readonly #engine: () => Reader;
  readonly #keys = generateKeyPairSync("ec", { namedCurve: "P-256" });
  readonly #keyId: string;
  /** Claims of tokens whose signature was good; undefined for those it was not. */
  readonly #checked = new Map<string, Claims | undefined>();

  /** @param engine looked up late, since the engine is built with parts that need this */
  constructor(clock: Clock, engine: () => Reader) {
    this.#clock = clock;
    this.#engine = engine;
    this.#keyId = keyId(this.#keys.publicKey);
  }

  /** A token that expires, as TokenRequest issues it. */
  issueBound(account: ApiObject, request: BoundTokenRequest): { readonly token: string; readonly expires: Date } {
    const { namespace = "", name = "", uid = "" } = account.metadata;
    const nowS = Math.floor(this.#clock.now().getTime() / 1000);
    const exp = nowS + request.expiresInS;
    const audiences = request.audiences ?? [];
    const token = this.#sign({
      aud: audiences.length === 0 ? [API_AUDIENCE] : audiences,
      exp,
      iat: nowS,
      iss: API_AUDIENCE,
      jti: randomUUID(),
      "kubernetes.io": {
        namespace,
        ...(request.secret === undefined ? {} : { secret: request.secret }),
        serviceaccount: { name, uid },
      },
      nbf: nowS,
      sub: `system:serviceaccount:${namespace}:${name}`,
    });
    return { token, expires: new Date(exp * 1000) };
  }

  /** A token without end for a Secret of type `kubernetes.io/service-account-token`. */
  issueForSecret(account: ApiObject, secretName: string): string {
    const { namespace = "", name = "", uid = "" } = account.metadata;
    return this.#sign({
      iss: LEGACY_ISSUER,
      "kubernetes.io/serviceaccount/namespace": namespace,
      "kubernetes.io/serviceaccount/secret.name": secretName,
      "kubernetes.io/serviceaccount/service-account.name": name,
      "kubernetes.io/serviceaccount/service-account.uid": uid,
      sub: `system:serviceaccount:${namespace}:${name}`,
    });
  }

  /** Whom the token stands for now; undefined when it is not ours, over, for others, or its account or Secret is gone. */
  verify(token: string, audiences: readonly string[] = [API_AUDIENCE]): UserInfo | undefined {
    const claims = this.#claims(token);
    if (claims === undefined) return undefined;
    const nowS = this.#clock.now().getTime() / 1000;
    if (nowS < claims.notBeforeS || nowS >= claims.expiresS) return undefined;
    if (!claims.audiences.some((a) => audiences.includes(a))) return undefined;
    const account = this.#engine().readOne("", "serviceaccounts", claims.namespace, claims.serviceAccount);
    if (account?.metadata.uid !== claims.uid) return undefined;
    return this.#secretHolds(claims, token) ? claims.user : undefined;
  }

  #secretHolds(claims: Claims, token: string): boolean {
    if (claims.secret === undefined) return true;
    const secret = this.#engine().readOne("", "secrets", claims.namespace, claims.secret.name);
    if (secret === undefined) return false;
    if (!claims.legacy) return secret.metadata.uid === claims.secret.uid;
    return Buffer.from(textIn(objectIn(secret, "data"), "token"), "base64").toString() === token;
  }

  #claims(token: string): Claims | undefined {
    if (this.#checked.has(token)) return this.#checked.get(token);
    if (this.#checked.size >= MAX_CACHED) this.#checked.clear();
    const claims = this.#signatureIsGood(token) ? readClaims(token) : undefined;
    this.#checked.set(token, claims);
    return claims;
  }

  #sign(payload: object): string {
    const head = encode({ alg: "ES256", kid: this.#keyId });
    const body = `${head}.${encode(payload)}`;
    const key = { key: this.#keys.privateKey, dsaEncoding: "ieee-p1363" } as const;
    return `${body}.${sign("sha256", Buffer.from(body), key).toString("base64url")}`;
  }

  #signatureIsGood(token: string): boolean {
    const parts = token.split(".");
    if (parts.length !== 3) return false;
    const [head = "", body = "", signature = ""] = parts;
    const key = { key: this.#keys.publicKey, dsaEncoding: "ieee-p1363" } as const;
    return verify("sha256", Buffer.from(`${head}.${body}`), key, Buffer.from(signature, "base64url"));
  }
}

function readClaims(token: string): Claims {
  // The signature is ours, so the form is as issued above.
  const payload = JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()) as JsonObject;
  const bound = objectIn(payload, "kubernetes.io");
  const account = objectIn(bound, "serviceaccount");
  const secret = objectIn(bound, "secret");
  const legacy = payload["iss"] === LEGACY_ISSUER;
  const old = (key: string): string => textIn(payload, `kubernetes.io/serviceaccount/${key}`);
  const namespace = legacy ? old("namespace") : textIn(bound, "namespace");
  const serviceAccount = legacy ? old("service-account.name") : textIn(account, "name");
  const uid = legacy ? old("service-account.uid") : textIn(account, "uid");
  const boundSecret =
    secret["name"] === undefined ? undefined : { name: textIn(secret, "name"), uid: textIn(secret, "uid") };
  return {
    namespace,
    serviceAccount,
    uid,
    secret: legacy ? { name: old("secret.name"), uid: undefined } : boundSecret,
    legacy,
    audiences: legacy ? [API_AUDIENCE] : strings(arrayIn(payload, "aud")),
    notBeforeS: typeof payload["nbf"] === "number" ? payload["nbf"] : Number.NEGATIVE_INFINITY,
    expiresS: typeof payload["exp"] === "number" ? payload["exp"] : Number.POSITIVE_INFINITY,
    user: {
      username: `system:serviceaccount:${namespace}:${serviceAccount}`,
      uid,
      groups: ["system:serviceaccounts", `system:serviceaccounts:${namespace}`, "system:authenticated"],
      ...(typeof payload["jti"] === "string"
        ? { extra: { "authentication.kubernetes.io/credential-id": [`JTI=${payload["jti"]}`] } }
        : {}),
    },
  };
}

function keyId(key: KeyObject): string {
  return createHash("sha256")
    .update(key.export({ type: "spki", format: "der" }))
    .digest("base64url");
}

function encode(value: object): string {
  return Buffer.from(JSON.stringify(value)).toString("base64url");
}

function strings(values: readonly unknown[]): readonly string[] {
  return values.filter((v) => typeof v === "string");
}
