import { failed, ok, type Result } from "../base/result.ts";
import type { CallOptions } from "../kube/client.ts";
import type { StateError } from "../state/errors.ts";
import type { ImportRecord } from "../state/imports.ts";
import type { Membership } from "../state/membership.ts";
import { findClusterSet } from "./cluster-set.ts";
import { planClusterSetStatus, shownLeader } from "./cluster-set-status.ts";
import { type Fault, memberFault } from "./fault.ts";
import { Claims } from "./imports/claims.ts";
import { type CleanedOut, cleanOut } from "./imports/clean-out.ts";
import { MemberObjects } from "./imports/member-objects.ts";
import { RESOURCE_IMPORTS } from "./imports/resource-import.ts";
import type { ImportLedger, LeaveDependencies, LeavingMember } from "./leave-ports.ts";
import { visitLeaving } from "./leave-visit.ts";
import { observeClusterSet } from "./member-reading.ts";
import { clusterSetRef } from "./resources.ts";

/** How often what changed between our look and our write is looked at again. */
const LOOKS = 3;

/** Records that are read at a time. */
const PAGE = 200;

/**
 * Takes what was imported out of a member that is left, with the records of it, and says in its ClusterSet, if there still
 * is one, that no leader is connected.
 *
 * Deleted is only what carries the importer's marker or stands in a record, in the very version in which it was seen; who
 * took the marker off has taken the object over. A kind that the member does not serve, or that we may not list, is passed
 * over.
 */
export async function cleanMember(
  deps: LeaveDependencies,
  membership: Membership,
  signal: AbortSignal,
): Promise<Result<CleanedOut, Fault>> {
  const { cluster } = membership;
  // Whoever joins again lists everything: where this membership's watch stopped says nothing of an emptied member.
  const voided = await deps.imports.deleteCursor(cluster, RESOURCE_IMPORTS.resource, signal);
  if (!voided.ok) return failed(tableFault(voided.error));
  const records = await readRecords(deps.imports, cluster, signal);
  if (!records.ok) return failed(tableFault(records.error));
  return await visitLeaving(deps, membership, signal, async (member, options) => {
    const cleaned = await takeAllOut(deps, membership, { member, records: records.value }, options);
    if (!cleaned.ok) return cleaned;
    const shown = await showDisconnected(member, membership, options, deps.clock.now().getTime());
    return shown.ok ? cleaned : shown;
  });
}

async function takeAllOut(
  { clock, imports }: LeaveDependencies,
  { cluster, assignment, antrea }: Membership,
  { member, records }: { readonly member: LeavingMember; readonly records: readonly ImportRecord[] },
  { timeoutMs, signal = NEVER }: CallOptions,
): Promise<Result<CleanedOut, Fault>> {
  const context = {
    member,
    leader: undefined,
    objects: new MemberObjects(),
    claims: new Claims(),
    // Of these only the Namespace counts for what goes.
    settings: { clusterID: "", namespace: antrea.namespace, commonArea: "", labelIdentities: true },
    clock,
    timeoutMs,
    signal,
    mayWrite: () => true,
  };
  // No window writes for this membership any more: the leave comes after all of them.
  const by = { assignment, fence: Number.MAX_SAFE_INTEGER };
  const cleaned = await cleanOut(context, records, async ({ name }) => {
    await imports.deleteImport(cluster, name, by, undefined, signal);
  });
  return cleaned.ok ? cleaned : failed(memberFault(cleaned.error));
}

const NEVER = new AbortController().signal;

async function readRecords(
  imports: ImportLedger,
  cluster: string,
  signal: AbortSignal,
): Promise<Result<readonly ImportRecord[], StateError>> {
  const records: ImportRecord[] = [];
  let startFrom: string | undefined;
  do {
    const page = await imports.listImports(cluster, { limit: PAGE, startFrom }, signal);
    if (!page.ok) return page;
    records.push(...page.value.imports);
    startFrom = page.value.next;
  } while (startFrom !== undefined);
  return ok(records);
}

function tableFault({ message }: StateError): Fault {
  return { cause: "ServerError", message };
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
