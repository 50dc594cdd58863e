import { announceFirst, type JoinDependencies, preflightAntrea } from "../antrea/join.ts";
import { keptLeaderHash, keptLeaderOf, keptLeaderReference, serialiseKeptLeader } from "../antrea/kept-leader.ts";
import type { MemberReading } from "../antrea/member-reading.ts";
import { failed, never, ok } from "../base/result.ts";
import type { CredentialStore } from "../credentials/store.ts";
import type { FirstAnnounce, JoinProtocol, Preflight } from "./join-ports.ts";

/** What joining by Antrea works with. */
export interface AntreaJoinDependencies extends JoinDependencies {
  readonly credentials: Pick<CredentialStore, "write">;
  /** Prefix of the parameters that Hawser itself keeps. */
  readonly parameterPrefix: string;
}

/** Joining by Antrea Multi-cluster, in the words of a join. */
export function antreaJoin(deps: AntreaJoinDependencies): JoinProtocol {
  return {
    preflight: async (spec, signal) => {
      const { clusterUID, identityFault, reading } = await preflightAntrea(deps, spec, signal);
      if (clusterUID === undefined) {
        return failed(identityFault ?? { message: `Namespace kube-system of member ${spec.cluster} has no UID` });
      }
      return ok({
        clusterUID,
        keep: keeperOf(deps, clusterUID, reading),
        announce: async (signal) => await announce(deps, spec.cluster, reading, signal),
      });
    },
  };
}

async function announce(
  deps: AntreaJoinDependencies,
  cluster: string,
  reading: MemberReading,
  signal: AbortSignal,
): ReturnType<Preflight["announce"]> {
  const first = await announceFirst(deps, cluster, reading, signal);
  switch (first.kind) {
    case "announced": {
      if (first.mismatch !== undefined) return failed(first.mismatch);
      return ok<FirstAnnounce>({ outcome: first.created ? "created" : "updated" });
    }
    case "waiting":
      return ok<FirstAnnounce>({ outcome: "waiting", message: first.fault.message });
    case "misconfigured":
    case "failed":
      return failed(first.fault);
    default:
      return never(first);
  }
}

function keeperOf(
  { credentials, parameterPrefix }: AntreaJoinDependencies,
  clusterUID: string,
  reading: MemberReading,
): Preflight["keep"] {
  return async (membership, signal) => {
    const kept = reading.kind === "configured" ? keptLeaderOf(reading.configuration) : undefined;
    if (kept === undefined) return ok(undefined);
    const hash = keptLeaderHash(clusterUID, kept);
    const note = { keptLeaderHash: hash, leader: { clusterID: kept.leaderClusterID, server: kept.server } };
    if (membership.keptLeaderHash === hash) return ok({ outcome: "unchanged", note });
    const reference = keptLeaderReference(parameterPrefix, membership.cluster);
    const written = await credentials.write(reference, serialiseKeptLeader(kept), signal);
    if (written.ok) return ok({ outcome: "updated", note });
    const { problem, remedy } = written.error;
    return failed({ message: `keep the leader of ${membership.cluster}: ${problem}; ${remedy}` });
  };
}
