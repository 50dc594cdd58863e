import { stringify } from "yaml";
import type { KeyPair } from "./certificates.ts";

/** How a kubeconfig's user proves who they are. */
export type KubeconfigCredential = { readonly token: string } | { readonly certificate: KeyPair } | undefined;

/** What a kubeconfig is made from. */
export interface KubeconfigInput {
  readonly cluster: string;
  readonly server: string;
  readonly caPem: string;
  readonly user: string;
  readonly credential: KubeconfigCredential;
  readonly namespace?: string;
}

/** A kubeconfig with one context, certificates and keys embedded, as YAML. */
export function kubeconfigYaml(input: KubeconfigInput): string {
  const base64 = (text: string): string => Buffer.from(text).toString("base64");
  const { cluster, credential, user } = input;
  const name = `${user}@${cluster}`;
  const proof =
    credential === undefined
      ? {}
      : "token" in credential
        ? { token: credential.token }
        : {
            "client-certificate-data": base64(credential.certificate.cert),
            "client-key-data": base64(credential.certificate.key),
          };
  return stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: cluster, cluster: { server: input.server, "certificate-authority-data": base64(input.caPem) } }],
    users: [{ name: user, user: proof }],
    contexts: [
      {
        name,
        context: { cluster, user, ...(input.namespace === undefined ? {} : { namespace: input.namespace }) },
      },
    ],
    "current-context": name,
  });
}
