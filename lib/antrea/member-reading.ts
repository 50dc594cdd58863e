import { createHash } from "node:crypto";
import { never } from "../base/result.ts";
import { connectionFromSecret, missingSecret } from "../kube/access/secret.ts";
import type { CallOptions, KubeObject } from "../kube/client.ts";
import type { Connection } from "../kube/connection.ts";
import {
  type ClusterSetChoice,
  type ClusterSetSpec,
  findClusterSet,
  leaderOf,
  parseClusterSet,
} from "./cluster-set.ts";
import type { ObservedClusterSet } from "./cluster-set-status.ts";
import { type Fault, memberFault, userFault } from "./fault.ts";
import type { MemberCluster } from "./ports.ts";
import { leaderSecretRef } from "./resources.ts";

/** All that a beat needs to know. Holds a secret: never logged, never stored. */
export interface LeaderConfiguration {
  readonly spec: ClusterSetSpec;
  readonly connection: Connection;
  /** Changes whenever anything above changes, the token under an unchanged Secret name included. */
  readonly hash: string;
}

/** What the member says about its leader. */
export type MemberReading =
  | {
      readonly kind: "configured";
      readonly clusterSet: ObservedClusterSet;
      readonly configuration: LeaderConfiguration;
    }
  /** A person must mend the ClusterSet or the Secret. */
  | { readonly kind: "misconfigured"; readonly clusterSet: ObservedClusterSet | undefined; readonly fault: Fault }
  /** No ClusterSet (yet). */
  | { readonly kind: "waiting"; readonly fault: Fault }
  /** The member did not answer, or did not let us read; nothing is known. */
  | { readonly kind: "unreadable"; readonly fault: Fault };

/** What a fault of the access itself means: a reference that leads nowhere is the user's to mend, all else may pass. */
export function accessReading(fault: Fault): MemberReading {
  return fault.cause === "ConfigurationInvalid"
    ? { kind: "misconfigured", clusterSet: undefined, fault }
    : { kind: "unreadable", fault };
}

/** Reads the ClusterSet and its Secret: two requests. */
export async function readMember(
  member: MemberCluster,
  choice: ClusterSetChoice,
  options: CallOptions,
): Promise<MemberReading> {
  const search = await findClusterSet(member, choice, options);
  switch (search.kind) {
    case "missing":
      return { kind: "waiting", fault: search.fault };
    case "ambiguous":
      return { kind: "misconfigured", clusterSet: undefined, fault: search.fault };
    case "unreadable":
      return { kind: "unreadable", fault: search.fault };
    case "found":
      return readLeader(member, choice.namespace, search.object, options);
    default:
      return never(search);
  }
}

async function readLeader(
  member: MemberCluster,
  namespace: string,
  object: KubeObject,
  options: CallOptions,
): Promise<MemberReading> {
  const clusterSet = observeClusterSet(object, namespace);
  const spec = parseClusterSet(object, member.cluster);
  if (!spec.ok) return { kind: "misconfigured", clusterSet, fault: spec.error };
  const source = { cluster: member.cluster, namespace, name: spec.value.secret };
  const secret = await member.get(leaderSecretRef(namespace, spec.value.secret), options);
  if (!secret.ok) {
    return secret.error.kind === "notFound"
      ? { kind: "misconfigured", clusterSet, fault: userFault(missingSecret(source)) }
      : { kind: "unreadable", fault: memberFault(secret.error) };
  }
  const connection = connectionFromSecret(secret.value.object, source, spec.value.server);
  if (!connection.ok) return { kind: "misconfigured", clusterSet, fault: userFault(connection.error) };
  const configuration = {
    spec: spec.value,
    connection: connection.value,
    hash: hashOf(spec.value, connection.value),
  };
  return { kind: "configured", clusterSet, configuration };
}

/** What is remembered of a ClusterSet to keep its status. */
export function observeClusterSet(object: KubeObject, namespace: string): ObservedClusterSet {
  return {
    namespace,
    name: object.metadata.name ?? "",
    uid: object.metadata.uid ?? "",
    resourceVersion: object.metadata.resourceVersion ?? "",
    generation: object.metadata.generation ?? 0,
    leaderClusterID: leaderOf(object),
    status: object["status"],
  };
}

function hashOf(spec: ClusterSetSpec, { ca, credential }: Connection): string {
  // The Secret's name is left out: the same credential under another name is no other connection.
  const { clusterID, clusterSetID, leaderClusterID, server, commonArea } = spec;
  const content = [clusterID, clusterSetID, leaderClusterID, server, commonArea, ca, credential];
  return createHash("sha256").update(JSON.stringify(content)).digest("base64url");
}
