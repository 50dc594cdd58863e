import type { ApiRecord } from "../api-client/api-client.ts";
import { requestedSubject } from "../cluster/certificate-requests.ts";
import { ADDON_LABEL, CLUSTER_LABEL, SUBJECT_PREFIX } from "./resources.ts";

const SIGNER = "kubernetes.io/kube-apiserver-client";
const ALL_CLUSTERS = `${SUBJECT_PREFIX}managed-clusters`;

/** Whose first requests a hub approves by itself. */
export interface AutoApproval {
  /** Whether the gate ManagedClusterAutoApproval is on. */
  readonly enabled: boolean;
  /** Users whose bootstrap requests are approved. */
  readonly users: readonly string[];
}

/** What a hub does with a CertificateSigningRequest. */
export type RequestVerdict =
  /** Decided already, or not a cluster's. */
  | { readonly kind: "notOurs" }
  /** A cluster's by its label, but for a subject that the label does not allow. */
  | { readonly kind: "unrecognised" }
  /** Renews the caller's own identity: approved when he still holds the right to renew. */
  | { readonly kind: "renewal" }
  | { readonly kind: "approve" }
  /** A person decides. */
  | { readonly kind: "wait" };

interface RequestSpec {
  readonly signerName?: string;
  readonly request?: string;
  readonly username?: string;
}

/**
 * The hub's rules for a cluster's certificate. The subject must be exactly the labelled cluster's: a looser check would let
 * one cluster take another's identity (CVE-2026-4740).
 */
export function decideRequest(csr: ApiRecord, approval: AutoApproval): RequestVerdict {
  const { labels = {} } = csr.metadata;
  const cluster = labels[CLUSTER_LABEL] ?? "";
  const spec = (csr["spec"] ?? {}) as RequestSpec;
  if (spec.signerName !== SIGNER || cluster === "" || labels[ADDON_LABEL] !== undefined || isDecided(csr)) {
    return { kind: "notOurs" };
  }
  const commonName = recognise(spec.request ?? "", cluster);
  if (commonName === undefined) return { kind: "unrecognised" };
  const username = spec.username ?? "";
  if (username === commonName) return { kind: "renewal" };
  return approval.enabled && approval.users.includes(username) ? { kind: "approve" } : { kind: "wait" };
}

/** The common name of a request whose whole subject is the cluster's; undefined for any other. */
function recognise(request: string, cluster: string): string | undefined {
  const pem = Buffer.from(request, "base64").toString("utf8");
  if (!pem.trimStart().startsWith("-----BEGIN CERTIFICATE REQUEST-----")) return undefined;
  let subject: ReturnType<typeof requestedSubject>;
  try {
    subject = requestedSubject(pem);
  } catch {
    return undefined;
  }
  const { commonNames, organizations } = subject;
  const own = new Set(organizations.filter((organization) => organization !== ALL_CLUSTERS));
  const identity = `${SUBJECT_PREFIX}${cluster}`;
  const [commonName = "", ...others] = commonNames;
  const agent = commonName.startsWith(`${identity}:`) ? commonName.slice(identity.length + 1) : "";
  const exact = own.size === 1 && own.has(identity) && others.length === 0 && agent !== "" && !agent.includes(":");
  return exact ? commonName : undefined;
}

function isDecided(csr: ApiRecord): boolean {
  const { conditions = [] } = (csr["status"] ?? {}) as { conditions?: readonly { type?: string }[] };
  return conditions.some(({ type }) => type === "Approved" || type === "Denied");
}
