import { createHash } from "node:crypto";
import { never } from "../base/result.ts";
import type { CallOptions, KubeObject } from "../kube/client.ts";
import {
  type ClusterSetChoice,
  type ClusterSetSpec,
  findClusterSet,
  leaderOf,
  parseClusterSet,
} from "./cluster-set.ts";
import type { ObservedClusterSet } from "./cluster-set-status.ts";
import { type Fault, memberFault } from "./fault.ts";
import { type LeaderCredential, missingSecret, parseLeaderSecret } from "./leader-secret.ts";
import type { MemberCluster } from "./ports.ts";
import { leaderSecretRef } from "./resources.ts";

/** All that a beat needs to know. Holds a secret: never logged, never stored. */
export interface LeaderConfiguration {
  readonly spec: ClusterSetSpec;
  readonly credential: LeaderCredential;
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
  const secret = await member.get(leaderSecretRef(namespace, spec.value.secret), options);
  if (!secret.ok) {
    return secret.error.kind === "notFound"
      ? { kind: "misconfigured", clusterSet, fault: missingSecret(namespace, spec.value.secret, member.cluster) }
      : { kind: "unreadable", fault: memberFault(secret.error) };
  }
  const credential = parseLeaderSecret(secret.value.object, member.cluster);
  if (!credential.ok) return { kind: "misconfigured", clusterSet, fault: credential.error };
  const configuration = {
    spec: spec.value,
    credential: credential.value,
    hash: hashOf(spec.value, credential.value),
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

function hashOf(spec: ClusterSetSpec, credential: LeaderCredential): string {
  // The Secret's name is left out: the same credential under another name is no other connection.
  const { clusterID, clusterSetID, leaderClusterID, server, commonArea } = spec;
  const content = [clusterID, clusterSetID, leaderClusterID, server, commonArea, credential.ca, credential.token];
  return createHash("sha256").update(JSON.stringify(content)).digest("base64url");
}
