import type { Membership, MembershipSpec } from "./membership.ts";
import type { MembershipRefusal } from "./membership-change.ts";

/** A membership document with who sent it and, where the cluster could be asked, who it is. */
export interface JoinRequest {
  readonly spec: MembershipSpec;
  readonly createdBy: string;
  readonly clusterUID?: string;
}

/** What became of a change; `membership` as it stands now, undefined where there is none. */
export type MembershipOutcome =
  | { readonly kind: "updated" | "unchanged"; readonly membership: Membership }
  | {
      readonly kind: "refused";
      readonly because: MembershipRefusal;
      readonly membership: Membership | undefined;
      /** `SameCluster`: the name under which the cluster has joined already. */
      readonly heldBy?: string;
    };

/** What became of a join. */
export type CreateOutcome = MembershipOutcome | { readonly kind: "created"; readonly membership: Membership };
