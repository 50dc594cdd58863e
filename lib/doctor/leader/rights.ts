import type { Asked, Examination } from "../examination.ts";
import type { AntreaPorts, Tie } from "../ports.ts";
import { askRights } from "../rights.ts";
import type { Authenticated } from "../way/authentication.ts";

/** The member's ServiceAccount may announce in the common area. */
export function checkLeaderRights(
  examination: Examination,
  antrea: AntreaPorts,
  authenticated: Asked<Authenticated>,
  tie: Asked<Tie>,
): Asked<void> {
  return examination.ask({
    side: "leader",
    check: "rbac",
    needs: [authenticated, tie],
    tries: (_client, { commonArea }) =>
      `ask for every right that is used in Namespace ${commonArea} (SelfSubjectAccessReview)`,
    timeoutMs: 3_000,
    ask: async ([{ client }, known], signal) => {
      const remedy =
        `If ${known.commonArea} is the leader's common area, in the leader, with the member's names in it: ` +
        `kubectl apply -n ${known.commonArea} -f infra/kubernetes/leader/member.yaml; ` +
        "else correct spec.namespace of the member's ClusterSet";
      return await askRights(client, antrea.leaderRights(known), { timeoutMs: 2_500, signal }, remedy);
    },
  });
}
