import { createPrivateKey, X509Certificate } from "node:crypto";

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]*-----END CERTIFICATE-----/g;

/** Why a text is no bundle of PEM certificates; undefined when it is one. */
export function certificateProblem(pem: string): string | undefined {
  const blocks = pem.match(CERTIFICATE);
  if (blocks === null) return "is not PEM (no BEGIN CERTIFICATE)";
  return blocks.every(isCertificate) ? undefined : "holds a certificate that cannot be read";
}

/** Why a certificate and a key, both PEM, are no pair; undefined when they are one. */
export function keyPairProblem(certificate: string, key: string): string | undefined {
  const problem = certificateProblem(certificate);
  if (problem !== undefined) return problem;
  try {
    const pair = new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key));
    return pair ? undefined : "does not belong to the private key";
  } catch {
    return "comes with a private key that cannot be read";
  }
}

function isCertificate(block: string): boolean {
  try {
    return new X509Certificate(block).raw.length > 0;
  } catch {
    return false;
  }
}
