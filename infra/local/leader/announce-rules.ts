import type { ApiRecord } from "../api-client/api-client.ts";
import { CLUSTER_ID_ANNOTATION, CONTROLLER_SERVICE_ACCOUNT } from "./resources.ts";

/** What the API server asks about a MemberClusterAnnounce (AdmissionRequest, as far as the rules need it). */
export interface AnnounceRequest {
  readonly operation: "CREATE" | "UPDATE" | "DELETE";
  readonly username: string;
  readonly object: ApiRecord | undefined;
  readonly oldObject: ApiRecord | undefined;
}

/** What the leader knows when it decides; read from the API for each request. */
export interface LeaderView {
  readonly namespace: string;
  readonly serviceAccounts: readonly ApiRecord[];
  readonly clusterSets: readonly ApiRecord[];
}

/** Allowed, or refused with the HTTP code and the leader's words. */
export type Verdict =
  | { readonly allowed: true }
  | { readonly allowed: false; readonly code: number; readonly message: string };

const ALLOWED: Verdict = { allowed: true };

/**
 * The rules by which an Antrea leader (2.7 and newer) admits announces, in its order: identity of the caller, its
 * Namespace, its ServiceAccount, its annotation, then what the operation itself must satisfy.
 */
export function decideAnnounce(request: AnnounceRequest, view: LeaderView): Verdict {
  const removal = request.operation === "DELETE";
  const caller = parseServiceAccount(request.username);
  if (caller === undefined) {
    return removal ? ALLOWED : refuse(400, "Username must be in the form of system:serviceaccount:<namespace>:<name>");
  }
  const controller = caller.namespace === view.namespace && caller.name === CONTROLLER_SERVICE_ACCOUNT;
  if (!controller || request.operation === "CREATE") {
    const identity = decideIdentity(request, caller, view);
    if (!identity.allowed || identity.final) return stripFinal(identity);
  }
  if (removal) return ALLOWED;
  return request.operation === "CREATE" ? decideCreate(request.object, view) : decideUpdate(request);
}

type Caller = { readonly namespace: string; readonly name: string };
type IdentityVerdict =
  | (Verdict & { readonly allowed: false; final?: true })
  | { readonly allowed: true; readonly final: boolean };

function decideIdentity(request: AnnounceRequest, caller: Caller, view: LeaderView): IdentityVerdict {
  const removal = request.operation === "DELETE";
  if (caller.namespace !== view.namespace) {
    return removal
      ? { allowed: true, final: true }
      : refuse(403, `ServiceAccount "${caller.namespace}/${caller.name}" is not in Namespace "${view.namespace}"`);
  }
  const account = view.serviceAccounts.find((sa) => sa.metadata.name === caller.name);
  if (account === undefined) {
    return removal ? { allowed: true, final: true } : refuse(412, `ServiceAccount "${caller.name}" is not found`);
  }
  const clusterId = text((request.object ?? request.oldObject)?.["clusterID"]);
  if (account.metadata.annotations?.[CLUSTER_ID_ANNOTATION] !== clusterId) {
    return refuse(
      403,
      `ClusterID "${clusterId}" is not permitted for ServiceAccount "${caller.name}" (expected ${CLUSTER_ID_ANNOTATION} annotation to match)`,
    );
  }
  return { allowed: true, final: false };
}

function decideCreate(announce: ApiRecord | undefined, view: LeaderView): Verdict {
  const clusterSet = view.clusterSets[0];
  if (clusterSet === undefined) return refuse(412, `no ClusterSet found in Namespace ${view.namespace}`);
  if (clusterSet.metadata.name !== announce?.["clusterSetID"]) return refuse(403, "Unknown ClusterSet ID");
  if (leaderIdOf(clusterSet) !== announce["leaderClusterID"]) {
    return refuse(403, "Leader cluster ID in the MemberClusterAnnounce does not match that in the ClusterSet");
  }
  const clusterId = text(announce["clusterID"]);
  const expected = `member-announce-from-${clusterId}`;
  if (announce.metadata.name !== expected) return refuse(403, `MemberClusterAnnounce name must be "${expected}"`);
  const conflict = view.serviceAccounts
    .map((sa) => sa.metadata.annotations?.[CLUSTER_ID_ANNOTATION])
    .some((other) => other !== undefined && isPrefixPair(other, clusterId));
  return conflict ? refuse(403, `ClusterID "${clusterId}" conflicts with an existing member's ClusterID`) : ALLOWED;
}

function decideUpdate(request: AnnounceRequest): Verdict {
  const changed = (field: string): boolean => request.object?.[field] !== request.oldObject?.[field];
  if (changed("clusterSetID") || changed("leaderClusterID")) {
    return refuse(403, "ClusterSet ID or Leader Cluster ID cannot be changed");
  }
  return changed("clusterID") ? refuse(403, "ClusterID cannot be changed") : ALLOWED;
}

/** Export names begin with the cluster ID and a dash, so `east` and `east-1` could write each other's. */
function isPrefixPair(a: string, b: string): boolean {
  return a.startsWith(`${b}-`) || b.startsWith(`${a}-`);
}

function leaderIdOf(clusterSet: ApiRecord): unknown {
  const spec = clusterSet["spec"] as { leaders?: { clusterID?: string }[] } | undefined;
  return spec?.leaders?.[0]?.clusterID;
}

function parseServiceAccount(username: string): Caller | undefined {
  const [system, kind, namespace, name, ...more] = username.split(":");
  if (
    system !== "system" ||
    kind !== "serviceaccount" ||
    namespace === undefined ||
    name === undefined ||
    more.length > 0
  ) {
    return undefined;
  }
  return { namespace, name };
}

function refuse(
  code: number,
  message: string,
): { readonly allowed: false; readonly code: number; readonly message: string } {
  return { allowed: false, code, message };
}

function stripFinal(verdict: IdentityVerdict): Verdict {
  return verdict.allowed ? ALLOWED : refuse(verdict.code, verdict.message);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
