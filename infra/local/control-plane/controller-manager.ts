import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { ApiClient } from "../api-client/api-client.ts";
import type { ClusterPartOptions } from "./api-server.ts";
import { Child } from "./child.ts";
import { mastersKubeconfig } from "./credentials.ts";

/** Those that need no node. A signing request is approved by whoever has the right, never by a controller. */
const CONTROLLERS = [
  "csrsigning",
  "csrcleaner",
  "namespace",
  "garbagecollector",
  "serviceaccount",
  "serviceaccount-token",
  "clusterrole-aggregation",
  "endpoint",
  "endpointslice",
  "endpointslicemirroring",
  "root-ca-cert-publisher",
];

/** What the controllers make in the Namespace "default" of a new cluster, each by another one. */
const FIRST_WORKS = [
  "/api/v1/namespaces/default/serviceaccounts/default",
  "/api/v1/namespaces/default/configmaps/kube-root-ca.crt",
];

/** Starts the cluster's kube-controller-manager; it is ready when its first works are there. */
export async function startControllerManager(options: ClusterPartOptions, server: string): Promise<Child> {
  const { name, assets, folder, files, authority, clock, watchdog, signal } = options;
  const kubeconfig = await mastersKubeconfig(authority, name, server, "system:kube-controller-manager");
  const kubeconfigFile = join(folder, "kube-controller-manager.kubeconfig");
  writeFileSync(kubeconfigFile, kubeconfig, { mode: 0o600 });
  const child = new Child({
    program: join(assets, "kube-controller-manager"),
    args: [
      `--kubeconfig=${kubeconfigFile}`,
      `--controllers=${CONTROLLERS.join(",")}`,
      "--leader-elect=false",
      // Nobody asks it anything: no port.
      "--secure-port=0",
      `--root-ca-file=${files.caCert}`,
      `--service-account-private-key-file=${files.serviceAccountKey}`,
      `--cluster-signing-cert-file=${files.caCert}`,
      `--cluster-signing-key-file=${files.caKey}`,
      "--kube-api-qps=200",
      "--kube-api-burst=400",
      "--profiling=false",
    ],
    logFile: join(folder, "kube-controller-manager.log"),
    watchdog,
  });
  const client = new ApiClient(kubeconfig);
  const worksAreDone = async (): Promise<boolean> => {
    const answers = await Promise.all(FIRST_WORKS.map((path) => client.request("GET", path)));
    return answers.every((answer) => answer.code === 200);
  };
  try {
    await child.untilReady(worksAreDone, clock, signal);
    return child;
  } catch (error) {
    await child.stop();
    throw error;
  } finally {
    await client.close();
  }
}
