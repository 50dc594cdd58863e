import { generateKeyPairSync } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { CertificateAuthority } from "../cluster/certificates.ts";
import { kubeconfigYaml } from "../cluster/kubeconfig.ts";

const SERVER_NAMES = ["127.0.0.1", "::1", "localhost", "kubernetes", "kubernetes.default.svc", "10.96.0.1"];

/** Files with the keys and certificates of one cluster. */
export interface CredentialFiles {
  readonly caCert: string;
  readonly caKey: string;
  readonly serverCert: string;
  readonly serverKey: string;
  readonly serviceAccountKey: string;
}

/** Writes a cluster's keys and certificates into its folder, for its owner alone. */
export async function writeCredentials(folder: string, authority: CertificateAuthority): Promise<CredentialFiles> {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    writeFileSync(file, text, { mode: 0o600 });
    return file;
  };
  const server = await authority.issueServer(SERVER_NAMES);
  const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
  return {
    caCert: write("ca.crt", authority.caPem),
    caKey: write("ca.key", authority.caKeyPem),
    serverCert: write("server.crt", server.cert),
    serverKey: write("server.key", server.key),
    serviceAccountKey: write("service-accounts.key", privateKey.export({ type: "sec1", format: "pem" }).toString()),
  };
}

/** A kubeconfig that may do everything: a client certificate of the group `system:masters`. */
export async function mastersKubeconfig(
  authority: CertificateAuthority,
  cluster: string,
  server: string,
  user: string,
): Promise<string> {
  const certificate = await authority.issueClient({ user, groups: ["system:masters"] });
  return kubeconfigYaml({ cluster, server, caPem: authority.caPem, user, credential: { certificate } });
}
