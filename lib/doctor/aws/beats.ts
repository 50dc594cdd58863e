import { CAUSES } from "../../base/cause.ts";
import type { BatonRecord } from "../../relay/ports.ts";
import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";

/** What the window itself says of this cluster's beats: it may sit in another network than who asks here. */
export function checkBeats(
  examination: Examination,
  membership: Asked<Membership>,
  baton: Asked<BatonRecord>,
): Asked<void> {
  return examination.ask({
    side: "aws",
    check: "beats",
    needs: [membership, baton],
    tries: ({ cluster }) => `what the window says of the beats of ${cluster}`,
    timeoutMs: 1_000,
    ask: ([{ cluster }, record]) => Promise.resolve(judge(cluster, record)),
  });
}

function judge(cluster: string, { exceptions }: BatonRecord): Finding<void> {
  const exception = exceptions?.[cluster];
  if (exception === undefined) return passed(undefined, "they succeed");
  const { kind, count, since } = exception;
  const at = `since ${new Date(since).toISOString()}`;
  if (kind === "InClusterAgentRunning") {
    const remedy = "In the member: kubectl -n kube-system scale deployment antrea-mc-controller --replicas=0";
    return wrong("ConfigurationInvalid", `an in-cluster agent announces the member too, ${at}`, remedy);
  }
  const cause = CAUSES.find((one) => one === kind) ?? "ServerError";
  if (count === 0) {
    const remedy = `Do what the failed lines below say; the words of the fault: hawser events ${cluster}`;
    return wrong(cause, `they succeed, but not all that the member says is in force: ${kind} ${at}`, remedy);
  }
  const remedy = `hawser events ${cluster}; what fails there and not here fails on the way from the function's network`;
  return wrong(cause, `${kind} ${at}, ${count} in a row`, remedy);
}
