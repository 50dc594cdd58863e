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
  const { phase, paused, shard } = membership;
  if (phase === "leaving" || phase === "left") return { ...leaving(cluster, membership), known: membership };
  if (paused === true) {
    return {
      ...wrong("ConfigurationInvalid", "it is paused: no beat is sent", `hawser resume ${cluster}`),
      known: membership,
    };
  }
  return passed(membership, `${phase}, in shard ${shard}`);
}

function leaving(cluster: string, { leave, leaveReason }: Membership): ReturnType<typeof wrong> {
  const problem = leave?.problem === undefined ? "" : `, and waits: ${leave.problem}`;
  if (leaveReason === "ClusterSetDeleted") {
    const remedy =
      "Nothing if that was meant; else create the ClusterSet again: it is connected when the clean-up is done";
    return wrong(
      "ClusterSetMissing",
      `its ClusterSet was deleted, and what it left behind is taken away${problem}`,
      remedy,
    );
  }
  const wait = `Wait, it is tried again by itself (hawser events ${cluster} tells)`;
  const remedy = problem === "" ? wait : `${wait}; or give up what cannot be reached: hawser leave ${cluster} --force`;
  return wrong("ConfigurationInvalid", `it is leaving, as somebody has asked for${problem}`, remedy);
}
