import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";
import type { Authenticated } from "./authentication.ts";
import type { Way } from "./way.ts";

/**
 * Further apart than this, stamps are misread: an Antrea leader goes by announces of the last 30 seconds, and tokens are
 * refused that are not yet valid.
 */
const MOST_APART_MS = 30_000;

/** The server's clock, by the `Date` header of its answer, agrees with ours. */
export function checkClock(examination: Examination, { side }: Way, authenticated: Asked<Authenticated>): Asked<void> {
  return examination.ask({
    side,
    check: "clock",
    needs: [authenticated],
    tries: "the Date header of the answer against the clock of this machine",
    timeoutMs: 1_000,
    ask: ([{ clockAheadMs }]) => Promise.resolve(judge(clockAheadMs)),
  });
}

function judge(aheadMs: number | undefined): Finding<void> {
  if (aheadMs === undefined) return { kind: "notAsked", because: "the server told no time" };
  const seconds = Math.round(Math.abs(aheadMs) / 1_000);
  const words = `the server is ${seconds} s ${aheadMs >= 0 ? "ahead of" : "behind"} this machine`;
  if (Math.abs(aheadMs) <= MOST_APART_MS) return passed(undefined, seconds <= 1 ? "they agree" : words);
  const remedy = "Set whichever is wrong by NTP: chronyc tracking, on this machine and on the control plane's nodes";
  return wrong("ClockOutOfSync", words, remedy);
}
