import { join } from "node:path";
import type { Clock } from "../../../lib/base/clock.ts";
import { ApiClient } from "../api-client/api-client.ts";
import type { CertificateAuthority } from "../cluster/certificates.ts";
import type { Watchdog } from "../lambda/watchdog.ts";
import type { Child } from "./child.ts";
import { type CredentialFiles, mastersKubeconfig } from "./credentials.ts";
import { startOnFreePorts } from "./port.ts";

/** What one cluster of a control plane is started with. */
export interface ClusterPartOptions {
  readonly name: string;
  readonly assets: string;
  /** The cluster's own folder, for its files and logs. */
  readonly folder: string;
  readonly etcd: string;
  readonly authority: CertificateAuthority;
  readonly files: CredentialFiles;
  readonly clock: Clock;
  readonly watchdog: Watchdog;
  readonly signal: AbortSignal;
}

/** Starts a kube-apiserver whose objects lie under the cluster's name in the etcd that it shares with others. */
export async function startApiServer(
  options: ClusterPartOptions,
): Promise<{ readonly child: Child; readonly url: string; readonly adminKubeconfig: string }> {
  const { name, assets, folder, authority, clock, watchdog, signal } = options;
  const url = (port: number | undefined): string => `https://127.0.0.1:${port}`;
  const admin = (port: number | undefined): Promise<string> =>
    mastersKubeconfig(authority, name, url(port), "kubernetes-admin");
  const { child, ports } = await startOnFreePorts(
    1,
    ([port]) => ({
      program: join(assets, "kube-apiserver"),
      args: apiServerArguments(options, port),
      logFile: join(folder, "kube-apiserver.log"),
      watchdog,
    }),
    async (child, [port]) => {
      const client = new ApiClient(await admin(port));
      const isReady = async (): Promise<boolean> => (await client.request("GET", "/readyz")).code === 200;
      try {
        await child.untilReady(isReady, clock, signal);
      } finally {
        await client.close();
      }
    },
  );
  return { child, url: url(ports[0]), adminKubeconfig: await admin(ports[0]) };
}

function apiServerArguments({ name, folder, etcd, files }: ClusterPartOptions, port: number | undefined): string[] {
  return [
    `--etcd-servers=${etcd}`,
    `--etcd-prefix=/${name}`,
    "--bind-address=127.0.0.1",
    `--secure-port=${port}`,
    // No network interface has to be found, and nothing is reached through the Service "kubernetes", which may not
    // lead to a loopback address.
    "--advertise-address=127.0.0.1",
    "--endpoint-reconciler-type=none",
    `--cert-dir=${folder}`,
    `--tls-cert-file=${files.serverCert}`,
    `--tls-private-key-file=${files.serverKey}`,
    `--client-ca-file=${files.caCert}`,
    "--authorization-mode=RBAC",
    "--service-account-issuer=https://kubernetes.default.svc",
    `--service-account-key-file=${files.serviceAccountKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    "--service-cluster-ip-range=10.96.0.0/16",
    "--profiling=false",
  ];
}
