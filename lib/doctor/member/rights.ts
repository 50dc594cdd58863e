import type { Membership } from "../../state/membership.ts";
import { type Asked, type Examination, ifKnown } from "../examination.ts";
import type { AntreaPorts, Tie } from "../ports.ts";
import { askRights } from "../rights.ts";
import type { Authenticated } from "../way/authentication.ts";

/** Hawser may do in the member what it does there, no more asked than that. */
export function checkMemberRights(
  examination: Examination,
  antrea: AntreaPorts,
  of: {
    readonly membership: Asked<Membership>;
    readonly authenticated: Asked<Authenticated>;
    readonly tie: Asked<Tie>;
  },
): Asked<void> {
  return examination.ask({
    side: "member",
    check: "rbac",
    needs: [of.membership, of.authenticated, ifKnown(of.tie)],
    tries: "ask for every right that is used there (SelfSubjectAccessReview)",
    timeoutMs: 3_000,
    ask: async ([membership, { client }, tie], signal) => {
      const remedy =
        "In the member, with the name of the leader's Secret in it: kubectl apply -f infra/kubernetes/member/hawser.yaml";
      const rights = antrea.memberRights(membership.antrea, tie);
      return await askRights(client, rights, { timeoutMs: 2_500, signal }, remedy);
    },
  });
}
