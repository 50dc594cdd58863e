import type { Asked, Examination } from "../examination.ts";
import { passed, wrong } from "../finding.ts";
import type { Tie } from "../ports.ts";
import { isIdentityDenial } from "./identity.ts";
import type { Verdict } from "./webhook.ts";

/** The leader knows the ClusterSet, and takes the IDs that the member gives. */
export function checkClusterIDs(examination: Examination, tie: Asked<Tie>, verdict: Asked<Verdict>): Asked<void> {
  return examination.ask({
    side: "leader",
    check: "cluster-ids",
    needs: [tie, verdict],
    tries: ({ clusterID, clusterSetID, leaderClusterID }) =>
      `whether the leader takes ${clusterID} in ClusterSet ${clusterSetID} of ${leaderClusterID}`,
    timeoutMs: 1_000,
    ask: ([known, { denial }]) => {
      if (denial === undefined) return Promise.resolve(passed(undefined, "the leader takes them"));
      if (isIdentityDenial(denial)) {
        return Promise.resolve({ kind: "notAsked", because: "the webhook refuses who asks before it looks" } as const);
      }
      return Promise.resolve(wrong("DeniedByLeaderWebhook", denial, remedyOf(denial, known)));
    },
  });
}

function remedyOf(denial: string, { commonArea, clusterID }: Tie): string {
  const show = `kubectl -n ${commonArea} get clusterset -o yaml`;
  if (/conflicts with an existing member/.test(denial)) {
    return (
      `Two cluster IDs of which one begins with the other and a dash exclude each other. Give this member another than ${clusterID}, ` +
      `or remove the other; in the leader: kubectl -n ${commonArea} get serviceaccounts -o yaml | grep multicluster.antrea.io/cluster-id`
    );
  }
  if (/no ClusterSet found/.test(denial)) return `Create the leader's own ClusterSet; in the leader: ${show}`;
  if (/ClusterSet ID|Leader cluster ID/i.test(denial)) {
    return `Give the member's ClusterSet the name and the leader's cluster ID that the leader's own has; in the leader: ${show}`;
  }
  return `Do what the webhook asks; in the leader: ${show}`;
}
