import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient, ApiRecord } from "../api-client/api-client.ts";
import { type Caller, isAllowed } from "./access-question.ts";
import { type AutoApproval, decideRequest } from "./request-rules.ts";
import { paths, REGISTER_GROUP } from "./resources.ts";

const RENEW = { verb: "renew", group: REGISTER_GROUP, resource: "managedclusters", subresource: "clientcertificates" };

/** Approves a CertificateSigningRequest where the hub's rules say so. @throws when the API server refuses; try again */
export async function reviewRequest(
  client: ApiClient,
  clock: Clock,
  approval: AutoApproval,
  csr: ApiRecord,
): Promise<void> {
  const verdict = decideRequest(csr, approval);
  const approved =
    verdict.kind === "approve" ||
    (verdict.kind === "renewal" && (await isAllowed(client, csr["spec"] as Caller, RENEW)));
  if (!approved) return;
  await approveRequest(client, clock, csr, {
    reason: "AutoApprovedByHubCSRApprovingController",
    message: "Auto approving Managed cluster agent certificate after SubjectAccessReview.",
  });
}

/**
 * Approves a request as it was seen; one that was changed or deleted meanwhile is left to the next look.
 * @returns whether it was approved
 * @throws when the API server refuses
 */
export async function approveRequest(
  client: ApiClient,
  clock: Clock,
  csr: ApiRecord,
  why: { readonly reason: string; readonly message: string },
): Promise<boolean> {
  const at = clock.now().toISOString();
  const condition = { type: "Approved", status: "True", ...why, lastUpdateTime: at, lastTransitionTime: at };
  const status = (csr["status"] ?? {}) as { conditions?: readonly object[] };
  const answer = await client.request("PUT", `${paths.requests}/${csr.metadata.name}/approval`, {
    ...csr,
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    status: { ...status, conditions: [...(status.conditions ?? []), condition] },
  });
  if (answer.code === 200) return true;
  if (answer.code === 409 || answer.code === 404) return false;
  throw new Error(`approve ${csr.metadata.name}: ${answer.code} ${answer.body.message ?? ""}`);
}
