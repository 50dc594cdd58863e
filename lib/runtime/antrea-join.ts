import { announceFirst, type JoinDependencies, preflightAntrea } from "../antrea/join.ts";
import { failed, never, ok } from "../base/result.ts";
import type { JoinProtocol } from "./join-ports.ts";

/** Joining by Antrea Multi-cluster, in the words of a join. */
export function antreaJoin(deps: JoinDependencies): JoinProtocol {
  return {
    preflight: async (spec, signal) => {
      const { clusterUID, identityFault, reading } = await preflightAntrea(deps, spec, signal);
      if (clusterUID === undefined) {
        return failed(identityFault ?? { message: `Namespace kube-system of member ${spec.cluster} has no UID` });
      }
      return ok({
        clusterUID,
        announce: async (signal) => {
          const first = await announceFirst(deps, spec.cluster, reading, signal);
          switch (first.kind) {
            case "announced": {
              if (first.mismatch !== undefined) return failed(first.mismatch);
              return ok({ outcome: first.created ? "created" : "updated" });
            }
            case "waiting":
              return ok({ outcome: "waiting", message: first.fault.message });
            case "misconfigured":
            case "failed":
              return failed(first.fault);
            default:
              return never(first);
          }
        },
      });
    },
  };
}
