import type { Cause } from "../../base/cause.ts";
import type { ScheduleError } from "../../schedule/errors.ts";
import type { Membership } from "../../state/membership.ts";
import type { Asked, Examination } from "../examination.ts";
import { type Finding, passed, wrong } from "../finding.ts";
import type { AwsPorts, ScheduleReading } from "../ports.ts";
import { checkOf } from "./role-check.ts";
import { tableFault } from "./table.ts";

const CAUSES: Readonly<Record<ScheduleError["kind"], Cause>> = {
  throttled: "Throttled",
  timeout: "TimedOut",
  unavailable: "ServerError",
  denied: "PermissionDenied",
  quota: "ConfigurationInvalid",
  invalid: "ConfigurationInvalid",
};

/** The shard's schedule of a role is there and enabled. */
export function checkSchedule(
  examination: Examination,
  aws: AwsPorts,
  role: string,
  membership: Asked<Membership>,
): Asked<void> {
  return examination.ask({
    side: "aws",
    check: checkOf(role, "schedule"),
    needs: [membership],
    tries: ({ shard }) => `the schedule of ${role} for shard ${shard}`,
    timeoutMs: 4_000,
    ask: async ([{ shard, cluster }], signal) => {
      const read = await aws.readShard(shard, signal);
      if (!read.ok) return tableFault(read.error, aws);
      if (read.value === undefined) {
        return wrong("ConfigurationInvalid", `the table has no shard ${shard}`, "hawser join -f FILE, once more");
      }
      const schedule = await aws.readSchedule(role, read.value, signal);
      if (schedule.ok) return judge(schedule.value, cluster, aws);
      const { kind, message } = schedule.error;
      return wrong(CAUSES[kind], message, `aws scheduler list-schedules${aws.cliOptions}`);
    },
  });
}

function judge({ name, group, found }: ScheduleReading, cluster: string, { cliOptions }: AwsPorts): Finding<void> {
  const named = `${name} in group ${group}`;
  if (found === undefined) {
    const remedy = `It is made again within two minutes by the function sweep; at once by joining ${cluster} again: hawser join -f FILE`;
    return wrong("ConfigurationInvalid", `there is no schedule ${named}: no window begins`, remedy);
  }
  if (found.enabled) return passed(undefined, `${name} is enabled, ${found.expression}`);
  const remedy =
    `Enable it in the EventBridge Scheduler console, or with aws scheduler update-schedule --state ENABLED (all fields of ` +
    `aws scheduler get-schedule --group-name ${group} --name ${name}${cliOptions} must be given again)`;
  return wrong("ConfigurationInvalid", `schedule ${named} is disabled: no window begins`, remedy);
}
