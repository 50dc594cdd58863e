import { X509Certificate } from "node:crypto";
import { requestedGroups } from "../../certificate-requests.ts";
import { duplicate, type FieldError, invalid, notSupported, required } from "../../field-error.ts";
import { pemTypes } from "../../pem.ts";
import { labelProblems, subdomainProblems } from "../names.ts";

const USAGES = [
  "any",
  "cert sign",
  "client auth",
  "code signing",
  "content commitment",
  "crl sign",
  "data encipherment",
  "decipher only",
  "digital signature",
  "email protection",
  "encipher only",
  "ipsec end system",
  "ipsec tunnel",
  "ipsec user",
  "key agreement",
  "key encipherment",
  "microsoft sgc",
  "netscape sgc",
  "ocsp signing",
  "s/mime",
  "server auth",
  "signing",
  "timestamping",
];

/** Longest path of a signer's name: what is left of a resource's name beside the domain. */
const PATH_LIMIT = 571;

/** `spec.request`: a PKCS #10 request, PEM in base64. */
export function validateRequest(base64: string): readonly FieldError[] {
  const text = Buffer.from(base64, "base64").toString("utf8");
  const wrong = (why: string): readonly FieldError[] => [invalid("spec.request", base64, why)];
  if (pemTypes(text)[0] !== "CERTIFICATE REQUEST") return wrong("PEM block type must be CERTIFICATE REQUEST");
  try {
    requestedGroups(text);
    return [];
  } catch {
    return wrong("asn1: structure error: the block is no certificate request");
  }
}

/** `spec.usages`. */
export function validateUsages(usages: readonly unknown[]): readonly FieldError[] {
  if (usages.length === 0) return [required("spec.usages")];
  return usages.flatMap((usage, i) => {
    const path = `spec.usages[${i}]`;
    if (!USAGES.includes(String(usage))) return [notSupported(path, usage, USAGES)];
    return usages.indexOf(usage) < i ? [duplicate(path, usage)] : [];
  });
}

/** `spec.signerName`: a domain and a path. */
export function validateSigner(signer: string): readonly FieldError[] {
  const field = "spec.signerName";
  if (signer === "") return [required(field)];
  const [domain = "", path, ...more] = signer.split("/");
  if (path === undefined || more.length > 0) {
    return [invalid(field, signer, "must be a fully qualified domain and path of the form 'example.com/signer-name'")];
  }
  const errors = domain
    .split(".")
    .flatMap((label) => labelProblems(label).map((why) => labelError(field, domain, label, why)));
  if (!domain.includes(".")) {
    errors.push(invalid(field, domain, "should be a domain with at least two segments separated by dots"));
  }
  errors.push(...subdomainProblems(path).map((why) => labelError(field, path, path, why)));
  if (path.length > PATH_LIMIT) errors.push(invalid(field, path, `must be no more than ${PATH_LIMIT} bytes`));
  if (signer === "kubernetes.io/legacy-unknown") {
    errors.push(invalid(field, signer, "the legacy signerName is not allowed via this API version"));
  }
  return errors;
}

function labelError(field: string, value: string, label: string, why: string): FieldError {
  return invalid(field, value, `validating label ${JSON.stringify(label)}: ${why}`);
}

/** `status.certificate`: certificates, PEM in base64. */
export function validateCertificate(base64: string): readonly FieldError[] {
  if (base64 === "") return [];
  const text = Buffer.from(base64, "base64").toString("utf8");
  const wrong = (why: string): readonly FieldError[] => [invalid("status.certificate", "<certificate data>", why)];
  const types = pemTypes(text);
  const other = types.find((type) => type !== "CERTIFICATE");
  if (other !== undefined) {
    return wrong(`only CERTIFICATE PEM blocks are allowed, found ${JSON.stringify(other)}`);
  }
  if (types.length === 0) return wrong("must contain at least one CERTIFICATE PEM block");
  return isCertificate(text) ? [] : wrong("x509: malformed certificate");
}

function isCertificate(text: string): boolean {
  try {
    return new X509Certificate(text).raw.length > 0;
  } catch {
    return false;
  }
}
