import type { KubeObject } from "../../kube/client.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, refused, wrong } from "../finding.ts";
import type { AntreaPorts, Tie } from "../ports.ts";
import type { Authenticated } from "../way/authentication.ts";

/** The common area as a member sees it: its own announce, or none yet. */
export interface CommonArea {
  readonly announce: KubeObject | undefined;
}

/** The leader's common area serves announces. */
export function checkCommonArea(
  examination: Examination,
  antrea: AntreaPorts,
  authenticated: Asked<Authenticated>,
  tie: Asked<Tie>,
): Asked<CommonArea> {
  return examination.ask({
    side: "leader",
    check: "common-area",
    needs: [authenticated, tie],
    tries: (_client, known) => `read MemberClusterAnnounce ${known.commonArea}/${antrea.announceRef(known).name}`,
    timeoutMs: 3_000,
    ask: async ([{ client }, known], signal): Promise<Finding<CommonArea>> => {
      const read = await client.get(antrea.announceRef(known), { timeoutMs: 2_500, signal });
      if (read.ok) return passed({ announce: read.value.object }, "it is served");
      const { kind, message } = read.error;
      if (kind !== "notFound") {
        return refused(read.error, `kubectl apply -n ${known.commonArea} -f infra/kubernetes/leader/member.yaml`);
      }
      // An API server knows the type and not the object, or not even the type.
      if (!/could not find the requested resource|page not found/.test(message)) {
        return passed({ announce: undefined }, "it is served, and has no announce of this member");
      }
      const remedy =
        "Is it the leader's API server? Install Antrea Multi-cluster there: kubectl get crd memberclusterannounces.multicluster.crd.antrea.io";
      return wrong("CommonAreaNotFound", "the server does not know MemberClusterAnnounces", remedy);
    },
  });
}
