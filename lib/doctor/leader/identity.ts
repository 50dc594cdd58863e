import type { Asked, Examination } from "../examination.ts";
import { passed, wrong } from "../finding.ts";
import type { Tie } from "../ports.ts";
import type { Authenticated } from "../way/authentication.ts";
import type { Verdict } from "./webhook.ts";

/** The annotation by which an Antrea leader (2.7 and newer) binds a ServiceAccount to one member. */
const CLUSTER_ID_ANNOTATION = "multicluster.antrea.io/cluster-id";

/** What the webhook says of who asks, before it looks at what is asked. */
const IDENTITY = /annotation to match|is not in Namespace|ServiceAccount "[^"]*" is not found|Username must be/;

/** True for a refusal of who asks. */
export function isIdentityDenial(denial: string): boolean {
  return IDENTITY.test(denial);
}

/** The ServiceAccount is bound to the member's cluster ID. */
export function checkIdentity(
  examination: Examination,
  of: { readonly tie: Asked<Tie>; readonly authenticated: Asked<Authenticated>; readonly verdict: Asked<Verdict> },
): Asked<void> {
  return examination.ask({
    side: "leader",
    check: "identity",
    needs: [of.tie, of.authenticated, of.verdict],
    tries: (tie, { username }) => `whether ${username ?? "the ServiceAccount"} may announce ${tie.clusterID}`,
    timeoutMs: 1_000,
    ask: ([tie, { username = "" }, { denial }]) => {
      if (denial === undefined || !isIdentityDenial(denial))
        return Promise.resolve(passed(undefined, "the leader lets it"));
      const account = username.split(":").at(-1) ?? "";
      const remedy =
        `In the leader: kubectl -n ${tie.commonArea} annotate serviceaccount ${account === "" ? "NAME" : account} ` +
        `${CLUSTER_ID_ANNOTATION}=${tie.clusterID} --overwrite`;
      return Promise.resolve(wrong("DeniedByLeaderWebhook", denial, remedy));
    },
  });
}
