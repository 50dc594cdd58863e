import { existsSync } from "node:fs";
import type { RequestOptions } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";

/** Why a kubeconfig cannot be used, for its owner. */
export class UnusableKubeconfig extends Error {}

/**
 * The chosen context of a kubeconfig file as one without references: files are read, a credential plugin is asked once.
 * @throws UnusableKubeconfig
 */
export async function plainKubeconfig(
  file: string,
  context: string | undefined,
): Promise<{ readonly kubeconfig: string; readonly server: URL }> {
  const config = load(file);
  if (context !== undefined) {
    if (config.getContextObject(context) === null) throw new UnusableKubeconfig(`${file} has no context ${context}`);
    config.setCurrentContext(context);
  }
  const cluster = config.getCurrentCluster();
  if (cluster === null) {
    throw new UnusableKubeconfig(`${file} has no current context that names a cluster: choose one by --context NAME`);
  }
  if (cluster.skipTLSVerify) {
    throw new UnusableKubeconfig(`${file} does not verify the server: give it certificate-authority-data`);
  }
  const options: RequestOptions = {};
  await config.applyToHTTPSOptions(options);
  const headers = options.headers as Record<string, string> | undefined;
  const token = /^Bearer (.*)$/.exec(headers?.["Authorization"] ?? "")?.[1];
  const certificate = { "client-certificate-data": base64(options.cert), "client-key-data": base64(options.key) };
  const plain = {
    apiVersion: "v1",
    kind: "Config",
    "current-context": "contract",
    contexts: [{ name: "contract", context: { cluster: "contract", user: "contract" } }],
    clusters: [
      {
        name: "contract",
        cluster: { server: cluster.server, "certificate-authority-data": base64(options.ca) },
      },
    ],
    users: [{ name: "contract", user: token === undefined ? certificate : { token } }],
  };
  return { kubeconfig: JSON.stringify(plain), server: new URL(cluster.server) };
}

function load(file: string): KubeConfig {
  const config = new KubeConfig();
  if (!existsSync(file)) throw new UnusableKubeconfig(`${file} does not exist`);
  try {
    config.loadFromFile(file);
  } catch {
    // The parser's message quotes the text, which holds secrets.
    throw new UnusableKubeconfig(`${file} cannot be read as a kubeconfig`);
  }
  return config;
}

function base64(pem: RequestOptions["key"]): string | undefined {
  if (pem === undefined) return undefined;
  if (typeof pem !== "string" && !Buffer.isBuffer(pem))
    throw new UnusableKubeconfig("a kubeconfig holds one key at a time");
  return Buffer.from(pem).toString("base64");
}
