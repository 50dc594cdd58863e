import pLimit from "p-limit";
import { failed, ok, type Result } from "../base/result.ts";
import type { CallOptions, KubeObject, ResourceType } from "../kube/client.ts";
import type { Membership } from "../state/membership.ts";
import { findClusterSet } from "./cluster-set.ts";
import { planClusterSetStatus, shownLeader } from "./cluster-set-status.ts";
import { type Fault, memberFault } from "./fault.ts";
import type { LeaveDependencies, LeavingMember } from "./leave-ports.ts";
import { visitLeaving } from "./leave-visit.ts";
import { IMPORTED_RESOURCES, type ImportedResource } from "./marked-resources.ts";
import { observeClusterSet } from "./member-reading.ts";
import { clusterSetRef } from "./resources.ts";

/** What was done in the member. */
export interface MemberCleanup {
  /** How many imported objects were deleted. */
  readonly deleted: number;
  /** What our identity may not even list, and so leaves as it is. */
  readonly unseen: readonly string[];
}

/** Deletes under way at a time. */
const CONCURRENCY = 8;

/** How often what changed between our look and our delete is looked at again. */
const LOOKS = 3;

/**
 * Takes what Antrea imported out of a member that is left, and says in its ClusterSet, if there still is one, that no
 * leader is connected.
 *
 * Deleted is only what carries the importer's marker, in the very version in which it was seen to carry it: who took the
 * marker off has taken the object over (the in-cluster agent deletes all ServiceImports, LabelIdentities and
 * ClusterInfoImports, also a neighbour's). A kind that the member does not serve, or that we may not list, is passed over.
 */
export async function cleanMember(
  deps: LeaveDependencies,
  membership: Membership,
  signal: AbortSignal,
): Promise<Result<MemberCleanup, Fault>> {
  return await visitLeaving(deps, membership, signal, async (member, options) => {
    const unseen: string[] = [];
    let deleted = 0;
    for (const imported of IMPORTED_RESOURCES) {
      const cleaned = await deleteMarked(member, imported, options);
      if (!cleaned.ok) return cleaned;
      if (cleaned.value === "unseen") unseen.push(imported.type.resource);
      else deleted += cleaned.value;
    }
    const shown = await showDisconnected(member, membership, options, deps.clock.now().getTime());
    return shown.ok ? ok({ deleted, unseen }) : shown;
  });
}

/** How many were deleted. */
async function deleteMarked(
  member: LeavingMember,
  { type, marker }: ImportedResource,
  options: CallOptions,
): Promise<Result<number | "unseen", Fault>> {
  let deleted = 0;
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const listed = await member.list(type, undefined, options);
    if (!listed.ok) {
      if (listed.error.kind === "notFound") return ok(deleted);
      return listed.error.kind === "forbidden" ? ok("unseen") : failed(memberFault(listed.error));
    }
    const marked = listed.value.items.filter((object) => isMarked(object, marker));
    if (marked.length === 0) return ok(deleted);
    const limit = pLimit(CONCURRENCY);
    const answers = await Promise.all(marked.map((object) => limit(() => deleteOne(member, type, object, options))));
    for (const answer of answers) if (!answer.ok) return answer;
    deleted += answers.filter((answer) => answer.ok && answer.value).length;
  }
  const message = `${type.resource} of member ${member.cluster} change while they are deleted; it is tried again`;
  return failed({ cause: "ServerError", message });
}

/** True when this call deleted it, false when it was gone, or is to be looked at again. */
async function deleteOne(
  member: LeavingMember,
  type: ResourceType,
  { metadata }: KubeObject,
  options: CallOptions,
): Promise<Result<boolean, Fault>> {
  const { name = "", namespace, uid, resourceVersion } = metadata;
  const ref = { type, name, ...(namespace === undefined ? {} : { namespace }) };
  const preconditions = {
    ...(uid === undefined ? {} : { uid }),
    ...(resourceVersion === undefined ? {} : { resourceVersion }),
  };
  const answer = await member.delete(ref, preconditions, options);
  if (answer.ok) return ok(true);
  const { kind } = answer.error;
  return kind === "notFound" || kind === "conflict" ? ok(false) : failed(memberFault(answer.error));
}

/** One that is being deleted already waits for its finalizers, and is nobody's any more. */
function isMarked({ metadata }: KubeObject, marker: string): boolean {
  return metadata.deletionTimestamp === undefined && Object.hasOwn(metadata.annotations ?? {}, marker);
}

/** Nobody keeps this status from now on: it must not go on saying that the leader is connected. */
async function showDisconnected(
  member: LeavingMember,
  { antrea }: Membership,
  options: CallOptions,
  now: number,
): Promise<Result<void, Fault>> {
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const search = await findClusterSet(member, antrea, options);
    // Whoever may not even read it has never written its status.
    if (search.kind === "unreadable" && search.fault.cause !== "PermissionDenied") return failed(search.fault);
    if (search.kind !== "found") return ok(undefined);
    const observed = observeClusterSet(search.object, antrea.namespace);
    const status = planClusterSetStatus(observed, undefined, now);
    if (status === undefined || shownLeader(observed) === undefined) return ok(undefined);
    const patch = { metadata: { resourceVersion: observed.resourceVersion }, status };
    const written = await member.mergePatchStatus(clusterSetRef(observed.namespace, observed.name), patch, options);
    if (written.ok || written.error.kind === "notFound") return ok(undefined);
    if (written.error.kind === "conflict") continue;
    return written.error.kind === "forbidden" ? ok(undefined) : failed(memberFault(written.error));
  }
  return ok(undefined);
}
