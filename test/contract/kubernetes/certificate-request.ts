import "reflect-metadata";
import * as x509 from "@peculiar/x509";
import { eventually } from "../../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import type { ContractClient } from "./contract-client.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

export const SIGNING_REQUESTS = "/apis/certificates.k8s.io/v1/certificatesigningrequests";
export const CLIENT_SIGNER = "kubernetes.io/kube-apiserver-client";

/** A key and the request for a certificate of it, both PEM. */
export interface KeyAndRequest {
  readonly key: string;
  readonly request: string;
}

/** Makes a key and a PKCS #10 request for a user (CN) and its groups (O). */
export async function requestFor(user: string, groups: readonly string[] = []): Promise<KeyAndRequest> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const name = new x509.Name([...groups.map((o) => ({ O: [o] })), { CN: [user] }]).toString();
  const request = await x509.Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: ALGORITHM });
  const key = x509.PemConverter.encode(await crypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { key, request: request.toString("pem") };
}

/** A CertificateSigningRequest (certificates.k8s.io/v1) as it is sent. */
export function signingRequest(name: string, request: string, spec: object = {}): object {
  return {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name },
    spec: {
      request: Buffer.from(request).toString("base64"),
      signerName: CLIENT_SIGNER,
      usages: ["client auth"],
      ...spec,
    },
  };
}

/** Approves it as `kubectl certificate approve` does. */
export async function approve(admin: ContractClient, name: string, type: "Approved" | "Denied" = "Approved") {
  const csr = await admin.must("GET", `${SIGNING_REQUESTS}/${name}`);
  const condition = { type, status: "True", reason: "Contract", message: `${type} by the contract` };
  const status = { conditions: [condition] };
  return await admin.request("PUT", `${SIGNING_REQUESTS}/${name}/approval`, { body: { ...csr, status } });
}

/** The certificate, PEM, when the signer has made it. */
export async function issued(admin: ContractClient, name: string): Promise<string> {
  return await eventually(systemClock, `the certificate of ${name}`, async () => {
    const csr = await admin.must("GET", `${SIGNING_REQUESTS}/${name}`);
    const { certificate } = (csr["status"] ?? {}) as { certificate?: string };
    return certificate === undefined ? undefined : Buffer.from(certificate, "base64").toString("utf8");
  });
}

/** A client of a user that the cluster itself has given a certificate. The caller closes it. */
export async function clientOf(admin: ContractClient, name: string, groups: readonly string[]) {
  const { key, request } = await requestFor(name, groups);
  await admin.must("POST", SIGNING_REQUESTS, signingRequest(name, request));
  await approve(admin, name);
  return admin.as({ cert: await issued(admin, name), key });
}
