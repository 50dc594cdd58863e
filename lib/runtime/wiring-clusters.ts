import type { ClusterConnector, LeaderCluster, MemberCluster } from "../antrea/ports.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import { connectionFromFile } from "../kube/access/file.ts";
import { connectionFromKubeconfig } from "../kube/access/kubeconfig.ts";
import type { Connection } from "../kube/connection.ts";
import { createKubeClient } from "../kube/http-kube-client.ts";
import type { Connections } from "../kube/pool.ts";
import type { KubeconfigReference } from "../state/membership.ts";

/** Reads a text that is kept secret; a reference that leads nowhere is the user's mistake. */
export type ReadSecretText = (name: string, signal: AbortSignal) => Promise<Result<string, UserError>>;

interface ClusterAccessOptions {
  readonly connections: Connections;
  readonly readParameter: ReadSecretText;
  /** Kubeconfig files may be named. */
  readonly fileAccess: boolean;
}

/** Makes clients of members and leaders over the shared connections. */
export function createClusterConnector(options: ClusterAccessOptions): ClusterConnector {
  const { connections } = options;
  return {
    connectMember: async ({ cluster, access }, signal): Promise<Result<MemberCluster, UserError>> => {
      const connection = await resolve(access.kubeconfig, options, signal);
      if (!connection.ok) return connection;
      return ok(createKubeClient({ cluster, connection: connection.value, purpose: "member", connections }));
    },
    connectLeader: (cluster, connection): LeaderCluster =>
      createKubeClient({ cluster, connection, purpose: "beat", connections }),
  };
}

async function resolve(
  reference: KubeconfigReference,
  { fileAccess, readParameter }: ClusterAccessOptions,
  signal: AbortSignal,
): Promise<Result<Connection, UserError>> {
  const path = "access.kubeconfig";
  const options = reference.context === undefined ? {} : { context: reference.context };
  if ("ssm" in reference) {
    const text = await readParameter(reference.ssm, signal);
    return text.ok ? within(path, await connectionFromKubeconfig(text.value, options)) : within(path, text);
  }
  if (fileAccess) return within(path, await connectionFromFile(reference.file, reference.context));
  return failed({
    path: `${path}.file`,
    problem: "a deployed function has no files of yours",
    remedy: "Put the kubeconfig into an SSM parameter (SecureString) and name it as access.kubeconfig.ssm",
  });
}

/** Errors are told in the words of the membership document. */
function within<T>(path: string, result: Result<T, UserError>): Result<T, UserError> {
  return result.ok ? result : failed({ ...result.error, path: `${path}: ${result.error.path}` });
}
