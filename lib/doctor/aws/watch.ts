import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";
import type { AwsPorts, WatchCondition } from "../ports.ts";
import { tableFault } from "./table.ts";

/** What the windows of `watch` say of the leader's imports. */
export function checkWatch(examination: Examination, aws: AwsPorts, membership: Asked<Membership>): Asked<void> {
  return examination.ask({
    side: "aws",
    check: "watch",
    needs: [membership],
    tries: ({ cluster }) => `what the table says of the watch of ${cluster}'s leader`,
    timeoutMs: 4_000,
    ask: async ([{ cluster, protocol, connectedOnce }], signal) => {
      if (!connectedOnce) return { kind: "notAsked", because: "it begins with the first beat that succeeds" };
      const read = await aws.readWatchCondition(cluster, protocol, signal);
      return read.ok ? judge(read.value, cluster) : tableFault(read.error, aws);
    },
  });
}

function judge(condition: WatchCondition | undefined, cluster: string): Finding<void> {
  const remedy = `hawser events ${cluster}; hawser imports ${cluster}`;
  if (condition === undefined) return wrong("TimedOut", "no window has watched the leader's imports yet", remedy);
  const { status, reason, message, cause = "ServerError", lastTransitionTime } = condition;
  const since = new Date(lastTransitionTime).toISOString();
  if (status === "True") return passed(undefined, `the leader's imports are followed since ${since}`);
  return wrong(cause, `${reason} since ${since}: ${message}`, remedy);
}
