import "reflect-metadata";
import { randomBytes, type webcrypto } from "node:crypto";
import * as x509 from "@peculiar/x509";

/** The keys of clusters and their clients. */
export const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** Who signs. */
export interface Issuer {
  readonly ca: x509.X509Certificate;
  readonly keys: webcrypto.CryptoKeyPair;
}

/**
 * A client certificate for a PKCS #10 request, both PEM: its subject and key, whatever else it asks for.
 * @throws when the request cannot be read or its signature is not its key's
 */
export async function signClientRequest(
  { ca, keys }: Issuer,
  pem: string,
  validity: { readonly notBefore: Date; readonly notAfter: Date },
): Promise<string> {
  const request = new x509.Pkcs10CertificateRequest(pem);
  if (!(await request.verify())) throw new Error("the request is not signed by its own key");
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serial(),
    subject: request.subjectName.toJSON(),
    issuer: ca.subject,
    ...validity,
    signingAlgorithm: ALGORITHM,
    publicKey: await request.publicKey.export(),
    signingKey: keys.privateKey,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.clientAuth]),
      await x509.AuthorityKeyIdentifierExtension.create(keys.publicKey),
    ],
  });
  return certificate.toString("pem");
}

/** The groups (O) that a PKCS #10 request (PEM) asks for. @throws when it cannot be read */
export function requestedGroups(request: string): readonly string[] {
  return new x509.Pkcs10CertificateRequest(request).subjectName.getField("O");
}

/** The common names and organizations that a PKCS #10 request (PEM) asks for. @throws when it cannot be read */
export function requestedSubject(request: string): {
  readonly commonNames: readonly string[];
  readonly organizations: readonly string[];
} {
  const { subjectName } = new x509.Pkcs10CertificateRequest(request);
  return { commonNames: subjectName.getField("CN"), organizations: subjectName.getField("O") };
}

/** A positive serial number of 16 bytes. */
export function serial(): string {
  const bytes = randomBytes(16);
  bytes[0] = ((bytes[0] ?? 0) & 0x7f) | 0x40;
  return bytes.toString("hex");
}
