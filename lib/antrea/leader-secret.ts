import { X509Certificate } from "node:crypto";
import { failed, ok, type Result } from "../base/result.ts";
import type { KubeObject } from "../kube/client.ts";
import type { Fault } from "./fault.ts";
import { SECRET_CA_KEY, SECRET_TOKEN_KEY } from "./names.ts";

/** What the Secret holds. Never logged, never stored in the table. */
export interface LeaderCredential {
  /** PEM. */
  readonly ca: string;
  readonly token: string;
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Takes CA and token out of the member's Secret. A token may end in a newline, as editors leave one; nothing else is
 * mended. Messages name the member, the Secret, the key and how to make a right one, and repeat no part of a value.
 */
export function parseLeaderSecret(secret: KubeObject, member: string): Result<LeaderCredential, Fault> {
  const where = `Namespace ${secret.metadata.namespace ?? "?"} of member ${member}`;
  const name = secret.metadata.name ?? "?";
  const wrong = (problem: string): Result<never, Fault> =>
    failed({ cause: "ConfigurationInvalid", message: `${problem} (${where}). ${remedy(name)}` });

  const ca = valueOf(secret, SECRET_CA_KEY);
  if (ca === undefined) return wrong(`${SECRET_CA_KEY} data not found in Secret ${name}`);
  if (ca.trim() === "") return wrong(`${SECRET_CA_KEY} is empty in Secret ${name}`);
  if (!isCertificateBundle(ca)) return wrong(`${SECRET_CA_KEY} is not a PEM certificate in Secret ${name}`);
  const token = valueOf(secret, SECRET_TOKEN_KEY)?.trim();
  if (token === undefined) return wrong(`${SECRET_TOKEN_KEY} not found in Secret ${name}`);
  if (token === "") return wrong(`${SECRET_TOKEN_KEY} is empty in Secret ${name}`);
  if (!/^[\x21-\x7e]+$/.test(token)) {
    return wrong(`${SECRET_TOKEN_KEY} holds characters that no token has, in Secret ${name}`);
  }
  return ok({ ca, token });
}

/** What to do when the Secret is not there. */
export function missingSecret(namespace: string, name: string, member: string): Fault {
  return {
    cause: "ConfigurationInvalid",
    message: `Secret ${name} not found (Namespace ${namespace} of member ${member}). ${remedy(name)}`,
  };
}

function remedy(name: string): string {
  return (
    `Copy the member token Secret from the leader: an Opaque Secret ${name} with the keys ` +
    `${SECRET_CA_KEY} (PEM) and ${SECRET_TOKEN_KEY}, as "antctl mc create membertoken" makes it`
  );
}

function valueOf(secret: KubeObject, key: string): string | undefined {
  const data = secret["data"];
  if (typeof data !== "object" || data === null) return undefined;
  const value: unknown = Reflect.get(data, key);
  return typeof value === "string" ? Buffer.from(value, "base64").toString("utf8") : undefined;
}

function isCertificateBundle(pem: string): boolean {
  const blocks = pem.match(CERTIFICATE) ?? [];
  return blocks.length > 0 && blocks.every(isCertificate);
}

function isCertificate(pem: string): boolean {
  try {
    return new X509Certificate(pem).raw.length > 0;
  } catch {
    // Node reports a certificate that cannot be parsed by throwing; that is the answer asked for.
    return false;
  }
}
