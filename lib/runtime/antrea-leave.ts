import { keptLeaderReference } from "../antrea/kept-leader.ts";
import { leaveLeader } from "../antrea/leave.ts";
import { cleanMember } from "../antrea/leave-member.ts";
import type { LeaveDependencies } from "../antrea/leave-ports.ts";
import { failed, ok } from "../base/result.ts";
import type { CredentialStore } from "../credentials/store.ts";
import type { LeaveProtocol } from "./leave-ports.ts";

/** Leaving by Antrea Multi-cluster, in the words of a leave. */
export function antreaLeave(
  deps: LeaveDependencies & { readonly credentials: Pick<CredentialStore, "read" | "delete"> },
): LeaveProtocol {
  return {
    cleanMember: async (membership, signal) => {
      const cleaned = await cleanMember(deps, membership, signal);
      if (!cleaned.ok) {
        const orphan = `what Antrea imported into member ${membership.cluster}, if anything`;
        return failed({ ...cleaned.error, orphan });
      }
      const { deleted, unseen, released, denied } = cleaned.value;
      const notes = [
        ...(deleted > 0 ? [`${deleted} imported objects deleted`] : []),
        ...(released.length > 0 ? [`${released.join(", ")} stay: their user has taken them over`] : []),
        ...(denied.length > 0 ? [`our identity may not delete ${denied.join(", ")}`] : []),
        ...(unseen.length > 0 ? [`our identity may not list ${unseen.join(", ")}: what was imported there stays`] : []),
      ];
      const message = notes.length > 0 ? { message: notes.join("; ") } : {};
      return ok({ outcome: deleted > 0 ? "done" : "unchanged", ...message });
    },
    leaveHub: async (membership, signal) => {
      const left = await leaveLeader(deps, membership, signal);
      if (left.kind === "failed") return failed({ ...left.fault, orphan: left.orphan });
      return ok({ outcome: left.announce === "deleted" ? "done" : "unchanged" });
    },
    forget: async ({ cluster }, signal) => {
      const deleted = await deps.credentials.delete(keptLeaderReference(deps.parameterPrefix, cluster), signal);
      if (deleted.ok) return ok(undefined);
      return failed({ message: `${deleted.error.problem}; ${deleted.error.remedy}` });
    },
  };
}
