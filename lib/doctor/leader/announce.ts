import type { Clock } from "../../base/clock.ts";
import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";
import type { AntreaPorts, Tie } from "../ports.ts";
import type { Authenticated } from "../way/authentication.ts";
import type { CommonArea } from "./common-area.ts";

/** The announce is there, fresh, and carries the member's IDs. */
export function checkAnnounce(
  examination: Examination,
  { antrea, clock }: { readonly antrea: AntreaPorts; readonly clock: Clock },
  of: {
    readonly membership: Asked<Membership>;
    readonly authenticated: Asked<Authenticated>;
    readonly tie: Asked<Tie>;
    readonly commonArea: Asked<CommonArea>;
  },
): Asked<void> {
  return examination.ask({
    side: "leader",
    check: "announce",
    needs: [of.membership, of.tie, of.commonArea, of.authenticated],
    tries: (_membership, tie) => `the announce of ${tie.clusterID}: its IDs, and the age of its last beat`,
    timeoutMs: 1_000,
    ask: ([membership, tie, { announce }, { clockAheadMs }]) => {
      if (membership.paused === true || membership.phase === "leaving" || membership.phase === "left") {
        return Promise.resolve({ kind: "notAsked", because: "the member is to send no beats now" } as const);
      }
      const beats = `See the lines of Hawser's own side, and hawser events ${membership.cluster}`;
      if (announce === undefined) return Promise.resolve(wrong("TimedOut", "there is none: no beat has come", beats));
      const mismatch = antrea.mismatch(announce, tie);
      if (mismatch !== undefined) {
        const { commonArea } = tie;
        const remedy = `Correct the member's ClusterSet, or in the leader: kubectl -n ${commonArea} delete memberclusterannounce ${antrea.announceRef(tie).name}`;
        return Promise.resolve(wrong("ConfigurationInvalid", mismatch, remedy));
      }
      // Where this machine's clock and the leader's differ, one of them agrees with the windows'.
      const own = clock.now().getTime();
      const moments = [own, own + (clockAheadMs ?? 0)];
      return Promise.resolve(judgeAge(antrea.touchedAt(announce), moments, antrea.connectionTimeoutMs, beats));
    },
  });
}

function judgeAge(
  touchedAt: number | undefined,
  moments: readonly number[],
  mostMs: number,
  remedy: string,
): Finding<void> {
  if (touchedAt === undefined) return wrong("TimedOut", "it says of no beat when it came", remedy);
  const ageMs = Math.min(...moments.map((now) => Math.max(0, now - touchedAt)));
  const words = `its last beat came ${Math.round(ageMs / 1_000)} s ago`;
  return ageMs <= mostMs ? passed(undefined, words) : wrong("TimedOut", words, remedy);
}
