import type { Clock } from "../../base/clock.ts";
import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";
import type { AwsPorts, WatchCondition } from "../ports.ts";
import { tableFault } from "./table.ts";

/** Within this after the first connection a window has begun to watch, in milliseconds: a firing and a look. */
const FIRST_LOOK_MS = 130_000;

/** What the windows of `watch` say of the leader's imports. */
export function checkWatch(
  examination: Examination,
  { aws, clock }: { readonly aws: AwsPorts; readonly clock: Clock },
  membership: Asked<Membership>,
): Asked<void> {
  return examination.ask({
    side: "aws",
    check: "watch",
    needs: [membership],
    tries: ({ cluster }) => `what the table says of the watch of ${cluster}'s leader`,
    timeoutMs: 4_000,
    ask: async ([{ cluster, protocol, connectedOnce, summary }], signal) => {
      if (!connectedOnce) return { kind: "notAsked", because: "it begins with the first beat that succeeds" };
      const read = await aws.readWatchCondition(cluster, protocol, signal);
      if (!read.ok) return tableFault(read.error, aws);
      if (read.value === undefined && clock.now().getTime() - summary.since < FIRST_LOOK_MS) {
        return {
          kind: "notAsked",
          because: "it has been connected for a moment only: the next window begins to watch",
        };
      }
      return judge(read.value, cluster);
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
