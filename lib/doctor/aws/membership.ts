import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";

/** The table knows the cluster, and it is meant to be connected. */
export function checkMembership(
  examination: Examination,
  cluster: string,
  table: Asked<{ readonly membership: Membership | undefined }>,
): Asked<Membership> {
  return examination.ask({
    side: "aws",
    check: "membership",
    needs: [table],
    tries: `what the table has of ${cluster}`,
    timeoutMs: 1_000,
    ask: ([{ membership }]) => Promise.resolve(judge(cluster, membership)),
  });
}

function judge(cluster: string, membership: Membership | undefined): Finding<Membership> {
  if (membership === undefined) {
    return wrong("ConfigurationInvalid", "there is no such membership", "hawser join -f FILE");
  }
  const { phase, paused, leave, shard } = membership;
  if (phase === "leaving" || phase === "left") {
    const problem = leave?.problem === undefined ? "" : `, and waits: ${leave.problem}`;
    return {
      ...wrong("ConfigurationInvalid", `it is leaving${problem}`, `hawser leave ${cluster} --force`),
      known: membership,
    };
  }
  if (paused === true) {
    return {
      ...wrong("ConfigurationInvalid", "it is paused: no beat is sent", `hawser resume ${cluster}`),
      known: membership,
    };
  }
  return passed(membership, `${phase}, in shard ${shard}`);
}
