import type { TestContext } from "node:test";
import { systemClock } from "../../lib/base/clock.ts";
import type { KubeClient, KubeObject, ObjectRef, ResourceType } from "../../lib/kube/client.ts";
import type { Connection, Credential, Purpose } from "../../lib/kube/connection.ts";
import { createKubeClient } from "../../lib/kube/http-kube-client.ts";
import { Connections, type ConnectionsOptions } from "../../lib/kube/pool.ts";
import { parseServerUrl } from "../../lib/kube/server-url.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { startTlsServer, type TlsHandler, type TlsServer, type TlsServerOptions } from "../support/tls-server.ts";

export const TOKEN = "canary-token-eyJhbGciOi.J9.abc_def";
export const ANNOUNCES: ResourceType = {
  group: "multicluster.crd.antrea.io",
  version: "v1alpha1",
  resource: "memberclusterannounces",
};
export const ANNOUNCE: ObjectRef = { type: ANNOUNCES, namespace: "antrea-mc", name: "member-announce-from-east" };
export const SECRETS: ResourceType = { group: "", version: "v1", resource: "secrets" };
export const CALL = { timeoutMs: 5000 };

export function connectionTo(
  server: { readonly url: string; readonly ca?: string },
  more: Partial<Connection> = {},
): Connection {
  const url = parseServerUrl(server.url);
  if (!url.ok) throw new Error(url.error.problem);
  return { server: url.value, ca: server.ca, credential: token(TOKEN), ...more };
}

export function token(text: string): Credential {
  return { kind: "token", token: text };
}

/** Connections that end with the test. */
export function connectionsFor(t: TestContext, more: Partial<ConnectionsOptions> = {}): Connections {
  const connections = new Connections({ clock: systemClock, random: seededRandom(1), version: "9.9.9", ...more });
  t.after(() => connections.close());
  return connections;
}

/** A server that ends with the test. */
export async function serverFor(
  t: TestContext,
  handler: TlsHandler,
  options: TlsServerOptions = {},
): Promise<TlsServer> {
  const server = await startTlsServer(handler, options);
  t.after(() => server.close());
  return server;
}

export function clientOf(
  connections: Connections,
  connection: Connection,
  cluster = "leader of east",
  purpose: Purpose = "beat",
): KubeClient {
  return createKubeClient({ cluster, connection, purpose, connections });
}

/** A client with connections of its own. */
export function clientTo(
  t: TestContext,
  server: { readonly url: string; readonly ca: string },
  more: Partial<ConnectionsOptions> = {},
): { readonly client: KubeClient; readonly connections: Connections } {
  const connections = connectionsFor(t, more);
  return { client: clientOf(connections, connectionTo(server)), connections };
}

export function announce(more: Record<string, unknown> = {}): KubeObject {
  return {
    apiVersion: "multicluster.crd.antrea.io/v1alpha1",
    kind: "MemberClusterAnnounce",
    metadata: { name: "member-announce-from-east", namespace: "antrea-mc", resourceVersion: "1" },
    ...more,
  };
}

/** A Kubernetes Status of a failure. */
export function status(code: number, reason: string, message: string, more: Record<string, unknown> = {}): object {
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, code, ...more };
}
