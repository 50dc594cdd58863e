import { isFree } from "../../relay/baton.ts";
import type { BatonRecord } from "../../relay/ports.ts";
import { DEFAULT_TIMING } from "../../relay/timing.ts";
import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";
import type { DoctorPorts } from "../ports.ts";
import { tableFault } from "./table.ts";

/** A window holds the baton of the role, and renews it. */
export function checkBaton(
  examination: Examination,
  { aws, clock }: DoctorPorts,
  role: string,
  membership: Asked<Membership>,
): Asked<BatonRecord> {
  return examination.ask({
    side: "aws",
    check: "baton",
    needs: [membership],
    tries: ({ shard }) => `the baton of ${role} for shard ${shard}`,
    timeoutMs: 4_000,
    ask: async ([{ shard }], signal) => {
      const read = await aws.readBaton(role, shard, signal);
      if (!read.ok) return tableFault(read.error, aws);
      const log = `aws logs tail /aws/lambda/${aws.functionPrefix}${role} --since 10m${aws.cliOptions}`;
      return judge(read.value, clock.now().getTime(), `See why no window holds it: is the schedule enabled? ${log}`);
    },
  });
}

function judge(baton: BatonRecord | undefined, now: number, remedy: string): Finding<BatonRecord> {
  if (baton === undefined) return wrong("TimedOut", "no window has held it yet: nobody beats", remedy);
  if (!isFree(baton, now, DEFAULT_TIMING)) {
    const left = Math.round(((baton.expiresAt ?? 0) - now) / 1_000);
    const yields = baton.yielding === true ? ", asks to be relieved" : "";
    return passed(baton, `held by window ${baton.holder}, fence ${baton.fence}, for ${left} s more${yields}`);
  }
  if (baton.holder === undefined)
    return wrong("TimedOut", "it was given back and nobody took it: nobody beats", remedy);
  const since = Math.round((now - (baton.expiresAt ?? 0)) / 1_000);
  return wrong(
    "TimedOut",
    `it is stale: window ${baton.holder} stopped renewing it, it expired ${since} s ago`,
    remedy,
  );
}
