import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import type { AntreaPorts } from "../ports.ts";
import { askRights } from "../rights.ts";
import type { Authenticated } from "../way/authentication.ts";

/** Hawser may write in the member what the leader's imports become there; the role for it may have been left out. */
export function checkImportRights(
  examination: Examination,
  antrea: AntreaPorts,
  of: { readonly membership: Asked<Membership>; readonly authenticated: Asked<Authenticated> },
): Asked<void> {
  return examination.ask({
    side: "member",
    check: "import-rbac",
    needs: [of.membership, of.authenticated],
    tries: "ask for every right that importing uses (SelfSubjectAccessReview)",
    timeoutMs: 3_000,
    ask: async ([membership, { client }], signal) => {
      const remedy =
        "Nothing is imported without them: in the member, kubectl apply -f infra/kubernetes/member/hawser.yaml, " +
        "with the ClusterRole hawser-antrea-imports and its binding in it";
      return await askRights(client, antrea.importRights(membership.antrea), { timeoutMs: 2_500, signal }, remedy);
    },
  });
}
