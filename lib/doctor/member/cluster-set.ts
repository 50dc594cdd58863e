import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { passed, wrong } from "../finding.ts";
import type { AntreaPorts, Tie } from "../ports.ts";
import type { Authenticated } from "../way/authentication.ts";

/** The member has the ClusterSet, and it says all that a connection needs. */
export function checkClusterSet(
  examination: Examination,
  antrea: AntreaPorts,
  membership: Asked<Membership>,
  authenticated: Asked<Authenticated>,
): Asked<Tie> {
  return examination.ask({
    side: "member",
    check: "cluster-set",
    needs: [membership, authenticated],
    tries: ({ antrea: { namespace, clusterSet } }) =>
      clusterSet === undefined
        ? `read the ClusterSet of Namespace ${namespace}`
        : `read ClusterSet ${namespace}/${clusterSet}`,
    timeoutMs: 3_000,
    ask: async ([{ antrea: choice }, { client }], signal) => {
      const read = await antrea.readTie(client, choice, { timeoutMs: 2_500, signal });
      if (read.ok) {
        const { clusterID, clusterSetID, leaderClusterID, server } = read.value;
        return passed(read.value, `${clusterID} in ${clusterSetID}, leader ${leaderClusterID} at ${server}`);
      }
      const { cause, message } = read.error;
      const { namespace, clusterSet } = choice;
      const remedy: Partial<Record<typeof cause, string>> = {
        ClusterSetMissing: `In the member: antctl mc join --clusterset NAME --cluster-id ID -n ${namespace} --config-file FILE`,
        ConfigurationInvalid: `In the member: kubectl -n ${namespace} edit clusterset ${clusterSet ?? ""}`.trimEnd(),
        PermissionDenied: "In the member: kubectl apply -f infra/kubernetes/member/hawser.yaml",
      };
      return wrong(cause, message, remedy[cause] ?? `In the member: kubectl -n ${namespace} get clustersets`);
    },
  });
}
