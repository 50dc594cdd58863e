import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient, ApiRecord } from "../api-client/api-client.ts";
import { approveRequest } from "./request-approval.ts";
import { decideRequest } from "./request-rules.ts";
import { CLUSTER_LABEL, paths } from "./resources.ts";

const BY_HAND = { enabled: false, users: [] };
const WHY = { reason: "ApprovedByHubAdmin", message: "Approved by hawser hub accept." };

/** What accepting a cluster came to. */
export type Acceptance =
  | { readonly kind: "noSuchCluster" }
  /** Names of the requests that were approved, and of those labelled as the cluster's whose subject is another. */
  | { readonly kind: "accepted"; readonly approved: readonly string[]; readonly unrecognised: readonly string[] };

/**
 * Does what a hub's administrator does for a cluster that waits: accepts it and approves its pending requests, but none for a
 * subject that is not the cluster's. To be repeated at will.
 * @throws when the API server refuses
 */
export async function acceptByHand(client: ApiClient, clock: Clock, cluster: string): Promise<Acceptance> {
  const accept = { spec: { hubAcceptsClient: true } };
  const path = `${paths.managedClusters}/${encodeURIComponent(cluster)}`;
  const { code, body } = await client.request("PATCH", path, accept, "application/merge-patch+json");
  if (code === 404) return { kind: "noSuchCluster" };
  if (code !== 200) throw new Error(`accept ManagedCluster ${cluster}: ${code} ${body.message ?? ""}`);
  const approved: string[] = [];
  const unrecognised: string[] = [];
  for (const csr of await requestsOf(client, cluster)) {
    const { kind } = decideRequest(csr, BY_HAND);
    if (kind === "unrecognised") unrecognised.push(csr.metadata.name);
    const pending = kind === "wait" || kind === "renewal";
    if (pending && (await approveRequest(client, clock, csr, WHY))) approved.push(csr.metadata.name);
  }
  return { kind: "accepted", approved, unrecognised };
}

async function requestsOf(client: ApiClient, cluster: string): Promise<readonly ApiRecord[]> {
  const selector = encodeURIComponent(`${CLUSTER_LABEL}=${cluster}`);
  const { code, body } = await client.request("GET", `${paths.requests}?labelSelector=${selector}`);
  if (code !== 200) throw new Error(`list certificate requests: ${code} ${body.message ?? ""}`);
  return body.items ?? [];
}
