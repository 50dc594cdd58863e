import type { Clock } from "../../base/clock.ts";
import type { KubeError } from "../../kube/errors.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, refused, wrong } from "../finding.ts";
import type { AntreaPorts, Tie } from "../ports.ts";
import type { Authenticated } from "../way/authentication.ts";
import type { CommonArea } from "./common-area.ts";

/** What the leader's webhook says of a beat. */
export interface Verdict {
  /** Its refusal in its own words; undefined: it lets the beat pass. */
  readonly denial: string | undefined;
  /** The whole story of the refusal. */
  readonly message: string;
}

const TIMEOUT_MS = 2_500;

/**
 * The leader's webhook answers. A beat is sent as a dry run: admission is asked, nothing is stored, the leader's
 * controllers see nothing (Kubernetes API concepts, "Dry-run").
 */
export function checkWebhook(
  examination: Examination,
  { antrea, clock }: { readonly antrea: AntreaPorts; readonly clock: Clock },
  of: {
    readonly authenticated: Asked<Authenticated>;
    readonly tie: Asked<Tie>;
    readonly commonArea: Asked<CommonArea>;
  },
): Asked<Verdict> {
  return examination.ask({
    side: "leader",
    check: "webhook",
    needs: [of.authenticated, of.tie, of.commonArea],
    tries: (_client, tie, { announce }) =>
      `${announce === undefined ? "create" : "patch"} MemberClusterAnnounce ${tie.commonArea}/${antrea.announceRef(tie).name} as a dry run`,
    timeoutMs: TIMEOUT_MS + 500,
    ask: async ([{ client }, tie, { announce }], signal) => {
      const touchTs = `${clock.now().toISOString().slice(0, 19)}Z`;
      const options = { timeoutMs: TIMEOUT_MS, signal, dryRun: true };
      const { type, object } = antrea.announceObject(tie, touchTs);
      const answer =
        announce === undefined
          ? await client.create(type, tie.commonArea, object, options)
          : await client.mergePatch(antrea.announceRef(tie), antrea.touchPatch(touchTs), options);
      return answer.ok ? passed({ denial: undefined, message: "" }, "a beat would be taken") : judge(answer.error, tie);
    },
  });
}

function judge(error: KubeError, { commonArea }: Tie): Finding<Verdict> {
  const { kind, message } = error;
  // Asked and answered: what the answer means is for the checks that follow.
  if (kind === "webhookDenied") return passed({ denial: error.denial, message }, "it answers, and refuses the beat");
  if (kind === "webhookUnavailable") {
    const remedy = `In the leader: kubectl -n ${commonArea} rollout restart deployment antrea-mc-controller; kubectl -n ${commonArea} get pods,endpoints`;
    return refused(error, remedy);
  }
  // Another write at the same moment, or the announce came or went in between: we were let in.
  if (kind === "conflict" || kind === "alreadyExists")
    return passed({ denial: undefined, message }, "a beat would be taken");
  if (/does not support dry ?run/i.test(message)) {
    return { kind: "notAsked", because: "a webhook of the leader has side effects and cannot be asked without" };
  }
  if (kind === "notFound") {
    const remedy = `Correct spec.namespace of the member's ClusterSet; in the leader: kubectl get namespace ${commonArea}`;
    return wrong("CommonAreaNotFound", message, remedy);
  }
  return refused(error, `kubectl apply -n ${commonArea} -f infra/kubernetes/leader/member.yaml`);
}
