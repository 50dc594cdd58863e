import type { SyncConnector } from "../antrea/imports/sync-ports.ts";
import type { LeaveConnector, LeavingMember } from "../antrea/leave-ports.ts";
import type { ClusterConnector } from "../antrea/ports.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { CredentialError } from "../credentials/errors.ts";
import type { KubeconfigReader } from "../credentials/kubeconfig.ts";
import { connectionFromFile } from "../kube/access/file.ts";
import { connectionFromKubeconfig } from "../kube/access/kubeconfig.ts";
import type { KubeClient } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import type { KubeError, KubeErrorKind } from "../kube/errors.ts";
import { createKubeClient } from "../kube/http-kube-client.ts";
import type { Connections } from "../kube/pool.ts";
import type { KubeconfigReference } from "../state/membership.ts";

interface ClusterAccess {
  readonly connections: Connections;
  readonly kubeconfigs: KubeconfigReader;
  /** Kubeconfig files may be named. */
  readonly fileAccess: boolean;
}

/** Clients for whoever beats, imports, joins or leaves. */
export type Clusters = ClusterConnector & LeaveConnector & SyncConnector;

/** Makes clients of members and leaders over the shared connections. */
export function createClusterConnector(access: ClusterAccess): Clusters {
  const { connections } = access;
  return {
    connectMember: async (member, signal): Promise<Result<LeavingMember, KubeError | UserError>> => {
      const { cluster } = member;
      const connection = await resolveAccess(cluster, member.access.kubeconfig, access, signal);
      if (!connection.ok) return connection;
      const client = createKubeClient({ cluster, connection: connection.value, purpose: "member", connections });
      return ok(noticing(client, () => access.kubeconfigs.forget(member.access.kubeconfig)));
    },
    connectLeader: (cluster: string, connection: Connection): KubeClient =>
      createKubeClient({ cluster, connection, purpose: "beat", connections }),
    watchLeader: (cluster: string, connection: Connection): KubeClient =>
      createKubeClient({ cluster, connection, purpose: "watch", connections }),
  };
}

/** What a kubeconfig that has been replaced since it was read is met with. */
const MAYBE_REPLACED: ReadonlySet<KubeErrorKind> = new Set([
  "unauthorized",
  "forbidden",
  "tls",
  "network",
  "timeout",
  "unexpected",
]);

/** The client, and who is told when it does not get through: the next one is made from what is read anew. */
function noticing(client: KubeClient, forget: () => void): LeavingMember {
  const notice = <T>(result: Result<T, KubeError>): Result<T, KubeError> => {
    if (!result.ok && MAYBE_REPLACED.has(result.error.kind)) forget();
    return result;
  };
  return {
    cluster: client.cluster,
    get: async (ref, options) => notice(await client.get(ref, options)),
    list: async (type, namespace, options) => notice(await client.list(type, namespace, options)),
    create: async (type, namespace, object, options) => notice(await client.create(type, namespace, object, options)),
    update: async (ref, object, options) => notice(await client.update(ref, object, options)),
    delete: async (ref, preconditions, options) => notice(await client.delete(ref, preconditions, options)),
    mergePatchStatus: async (ref, patch, options) => notice(await client.mergePatchStatus(ref, patch, options)),
    close: async () => await client.close(),
  };
}

/** The connection that a membership's access leads to. */
export async function resolveAccess(
  cluster: string,
  reference: KubeconfigReference,
  { fileAccess, kubeconfigs }: Pick<ClusterAccess, "fileAccess" | "kubeconfigs">,
  signal: AbortSignal,
): Promise<Result<Connection, KubeError | UserError>> {
  const { context } = reference;
  // A kubeconfig file may name other files beside it, a kubeconfig of a store may not.
  if ("file" in reference && fileAccess) return within("file", await connectionFromFile(reference.file, context));
  const text = await kubeconfigs.readKubeconfig(reference, signal);
  const kind = "file" in reference ? "file" : "ssm";
  if (!text.ok) return failed(accessError(cluster, kind, text.error));
  return within(kind, await connectionFromKubeconfig(text.value, context === undefined ? {} : { context }));
}

/** What may pass is the cluster's trouble, tried again like any other; the rest is for the user to mend. */
function accessError(cluster: string, field: string, error: CredentialError): KubeError | UserError {
  const { problem, remedy } = error;
  switch (error.kind) {
    case "notFound":
    case "denied":
    case "invalid":
      return { path: `access.kubeconfig.${field}`, problem, remedy };
    case "throttled":
      return { ...unread(cluster, error), kind: "tooManyRequests", status: 429, retryAfterMs: 0 };
    case "timeout":
      return { ...unread(cluster, error), kind: "timeout", phase: "answer" };
    case "unavailable":
      return { ...unread(cluster, error), kind: "unavailable", status: 503, retryAfterMs: undefined };
  }
}

/** The store that has the credential did not give it: nothing is known of the cluster itself. */
function unread(cluster: string, { problem, remedy }: CredentialError): Omit<KubeError, "kind"> {
  const message = `connect to ${cluster}: ${problem}; ${remedy}`;
  return { cluster, operation: "connect", object: cluster, retry: "backoff", message };
}

/** Errors are told in the words of the membership document. */
function within<T>(field: string, result: Result<T, UserError>): Result<T, UserError> {
  if (result.ok) return result;
  const path = [`access.kubeconfig.${field}`, result.error.path].filter((part) => part !== "").join(": ");
  return failed({ ...result.error, path });
}
