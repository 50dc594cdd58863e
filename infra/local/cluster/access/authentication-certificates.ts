import { X509Certificate } from "node:crypto";
import type { UserInfo } from "../types.ts";

/** Whom a certificate stands for at a moment; undefined when it is refused. */
export type CertificateReader = (now: Date) => UserInfo | undefined;

/** Reads a client certificate once; its time of validity is looked at with each request, as connections outlive it. */
export function readClientCertificate(der: Buffer, caPem: string): CertificateReader {
  const certificate = new X509Certificate(der);
  const authority = new X509Certificate(caPem);
  const subject = certificate.toLegacyObject().subject;
  const username = first(subject["CN"]);
  const ours = certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
  if (!ours || username === undefined) return () => undefined;
  const digest = certificate.fingerprint256.replaceAll(":", "").toLowerCase();
  const user: UserInfo = {
    username,
    groups: [...new Set([...all(subject["O"]), "system:authenticated"])],
    extra: { "authentication.kubernetes.io/credential-id": [`X509SHA256=${digest}`] },
  };
  const from = certificate.validFromDate.getTime();
  const to = certificate.validToDate.getTime();
  return (now) => (now.getTime() >= from && now.getTime() <= to ? user : undefined);
}

function all(value: unknown): readonly string[] {
  const values: readonly unknown[] = Array.isArray(value) ? value : [value];
  return values.filter((v) => typeof v === "string");
}

function first(value: unknown): string | undefined {
  return all(value)[0];
}
