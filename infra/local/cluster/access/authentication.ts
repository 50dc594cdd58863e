import type { Clock } from "../../../../lib/base/clock.ts";
import type { UserInfo } from "../types.ts";
import { type CertificateReader, readClientCertificate } from "./authentication-certificates.ts";
import type { ServiceAccountTokens } from "./authentication-tokens.ts";

/** What a request brings to say who asks. */
export interface Credentials {
  /** The `Authorization` header. */
  readonly authorization: string | undefined;
  /** The client certificate of the connection, DER. */
  readonly certificate: Buffer | undefined;
}

/** A bearer token that is known from a table. */
export interface StaticToken {
  readonly token: string;
  readonly username: string;
  readonly uid?: string;
  readonly groups?: readonly string[];
}

/** What an authenticator works with. */
export interface AuthenticatorOptions {
  readonly clock: Clock;
  readonly caPem: string;
  readonly serviceAccounts: ServiceAccountTokens;
  readonly tokens?: readonly StaticToken[];
  /** Whether requests without any credential are let through as `system:anonymous`; true by default. */
  readonly anonymous?: boolean;
}

/** Who may ask without a credential. */
export const ANONYMOUS: UserInfo = { username: "system:anonymous", groups: ["system:unauthenticated"] };

/**
 * Finds out who asks: client certificate first, then bearer token, then nobody known. A credential that is given and
 * refused makes the request unauthorized; it never falls back to the anonymous user.
 */
export class Authenticator {
  readonly #options: AuthenticatorOptions;
  readonly #static = new Map<string, UserInfo>();
  readonly #certificates = new WeakMap<Buffer, CertificateReader>();

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
    for (const token of options.tokens ?? []) this.setToken(token);
  }

  /** Adds a token to the table, or changes whom it stands for. */
  setToken(entry: StaticToken): void {
    this.#static.set(entry.token, {
      username: entry.username,
      ...(entry.uid === undefined ? {} : { uid: entry.uid }),
      groups: withAuthenticated(entry.groups ?? []),
    });
  }

  /** Takes a token out of the table: from now on it is refused. */
  removeToken(token: string): void {
    this.#static.delete(token);
  }

  /** The user, or undefined for "Unauthorized". The same credential gives the same object, so that it can be a key. */
  authenticate(credentials: Credentials): UserInfo | undefined {
    const { certificate, authorization } = credentials;
    const byCertificate = certificate === undefined ? undefined : this.#byCertificate(certificate);
    if (byCertificate !== undefined) return byCertificate;
    const token = bearer(authorization);
    if (token !== undefined) return this.byToken(token);
    if (certificate !== undefined || this.#options.anonymous === false) return undefined;
    return ANONYMOUS;
  }

  /** Whom a bearer token stands for now; for TokenReview with the audiences asked for. */
  byToken(token: string, audiences?: readonly string[]): UserInfo | undefined {
    return this.#static.get(token) ?? this.#options.serviceAccounts.verify(token, audiences);
  }

  #byCertificate(der: Buffer): UserInfo | undefined {
    let reader = this.#certificates.get(der);
    if (reader === undefined) {
      reader = readClientCertificate(der, this.#options.caPem);
      this.#certificates.set(der, reader);
    }
    return reader(this.#options.clock.now());
  }
}

/** Adds the group that everybody known belongs to. */
function withAuthenticated(groups: readonly string[]): readonly string[] {
  return [...new Set([...groups, "system:authenticated"])];
}

/** A second space before the token makes an empty one, which counts for nothing. */
function bearer(header: string | undefined): string | undefined {
  const [scheme = "", token = ""] = (header ?? "").trim().split(" ");
  return scheme.toLowerCase() === "bearer" && token !== "" ? token : undefined;
}
