import type { KubeconfigFor } from "../cluster/simulated-cluster.ts";

/** A cluster that the local world may furnish: a simulated one, or a real API server with an administrator's rights. */
export interface LocalCluster {
  readonly name: string;
  readonly url: string;
  readonly caPem: string;
  kubeconfigFor(whom: KubeconfigFor): Promise<string>;
  /** A token of a ServiceAccount. */
  tokenFor(namespace: string, serviceAccount: string): string | Promise<string>;
  /** Writes the objects of a YAML text. @throws when one cannot be written */
  applyManifests(yamlText: string): Promise<void>;
}
