import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiAnswer, ApiClient, ApiRecord } from "../api-client/api-client.ts";
import { cutRights, grantRights, removeRights } from "./cluster-rights.ts";
import { ACCEPTED_ON, CLEANUP_FINALIZER, CLUSTER_LABEL, LEASE_NAME, paths } from "./resources.ts";

const ACCEPTED = "HubAcceptedManagedCluster";
const MERGE = "application/merge-patch+json";

/** What acceptance works with. */
export interface AcceptanceOptions {
  readonly client: ApiClient;
  readonly clock: Clock;
  /** Whether each new ManagedCluster is accepted once, whoever made it (gate ManagedClusterAutoApproval). */
  readonly automatic: boolean;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
}

/** Makes a ManagedCluster's rights agree with its `spec.hubAcceptsClient`. @throws when a write fails; try again */
export async function acceptCluster(options: AcceptanceOptions, cluster: ApiRecord): Promise<void> {
  const { client } = options;
  const { name, deletionTimestamp, annotations = {}, finalizers = [] } = cluster.metadata;
  if (deletionTimestamp !== undefined) {
    await release(client, cluster);
    return;
  }
  const accepted = (cluster["spec"] as { hubAcceptsClient?: boolean } | undefined)?.hubAcceptsClient === true;
  if (accepted) {
    if (!finalizers.includes(CLEANUP_FINALIZER)) {
      await patch(client, cluster, { metadata: { finalizers: [...finalizers, CLEANUP_FINALIZER] } });
      return;
    }
    await attempt(options, cluster, "Accepted", async () => {
      await grantRights(client, name);
    });
    await createLease(options, name);
    return;
  }
  if (conditionsOf(cluster).some(({ type }) => type === ACCEPTED)) {
    await attempt(options, cluster, "Denied", () => cutRights(client, name));
    return;
  }
  if (!options.automatic || annotations[ACCEPTED_ON] !== undefined) return;
  const at = `${options.clock.now().toISOString().slice(0, 19)}Z`;
  await patch(client, cluster, {
    metadata: { annotations: { [ACCEPTED_ON]: at } },
    spec: { hubAcceptsClient: true },
  });
}

/** Does the work and writes what came of it into the condition; a failure is written, and thrown for another try. */
async function attempt(
  options: AcceptanceOptions,
  cluster: ApiRecord,
  decision: "Accepted" | "Denied",
  work: () => Promise<void>,
): Promise<void> {
  const message = `${decision} by hub cluster admin`;
  try {
    await work();
  } catch (error) {
    await writeCondition(options, cluster, { status: "False", reason: "Error", message: String(error) });
    throw error;
  }
  const status = decision === "Accepted" ? "True" : "False";
  await writeCondition(options, cluster, { status, reason: `HubClusterAdmin${decision}`, message });
}

async function writeCondition(
  { client, clock }: AcceptanceOptions,
  cluster: ApiRecord,
  next: Pick<Condition, "status" | "reason" | "message">,
): Promise<void> {
  const conditions = conditionsOf(cluster);
  const before = conditions.find(({ type }) => type === ACCEPTED);
  if (before?.status === next.status && before.reason === next.reason && before.message === next.message) return;
  const moved = before?.status !== next.status;
  const lastTransitionTime = moved ? `${clock.now().toISOString().slice(0, 19)}Z` : before.lastTransitionTime;
  const others = conditions.filter(({ type }) => type !== ACCEPTED);
  const status = { conditions: [...others, { type: ACCEPTED, ...next, lastTransitionTime }] };
  await patch(client, cluster, { status }, "/status");
}

/** The hub makes the cluster's lease; the agent only renews it. */
async function createLease({ client, clock }: AcceptanceOptions, cluster: string): Promise<void> {
  const answer = await client.request("POST", paths.leases(cluster), {
    apiVersion: "coordination.k8s.io/v1",
    kind: "Lease",
    metadata: { name: LEASE_NAME, namespace: cluster, labels: { [CLUSTER_LABEL]: cluster } },
    spec: { holderIdentity: LEASE_NAME, renewTime: clock.now().toISOString().replace("Z", "000Z") },
  });
  if (answer.code !== 201 && answer.code !== 409) refuse(`create the lease of ${cluster}`, answer);
}

async function release(client: ApiClient, cluster: ApiRecord): Promise<void> {
  const { name, finalizers = [] } = cluster.metadata;
  if (!finalizers.includes(CLEANUP_FINALIZER)) return;
  await removeRights(client, name);
  await patch(client, cluster, {
    metadata: { finalizers: finalizers.filter((finalizer) => finalizer !== CLEANUP_FINALIZER) },
  });
}

/** Changes the cluster as it was seen: somebody else's change in between brings an event and another look. */
async function patch(client: ApiClient, seen: ApiRecord, change: object, subresource = ""): Promise<void> {
  const { name, uid, resourceVersion } = seen.metadata;
  const { metadata = {}, ...rest } = change as { metadata?: object };
  const body = { ...rest, metadata: { ...metadata, uid, resourceVersion } };
  const answer = await client.request("PATCH", `${paths.managedClusters}/${name}${subresource}`, body, MERGE);
  if (answer.code !== 200 && answer.code !== 409 && answer.code !== 404)
    refuse(`change ManagedCluster ${name}`, answer);
}

function conditionsOf(cluster: ApiRecord): readonly Condition[] {
  return ((cluster["status"] ?? {}) as { conditions?: readonly Condition[] }).conditions ?? [];
}

function refuse(what: string, { code, body }: ApiAnswer): never {
  throw new Error(`${what}: ${code} ${body.message ?? ""}`);
}
