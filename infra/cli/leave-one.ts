import { describeUserErrors } from "../../lib/base/user-error.ts";
import type { LeaveAnswer } from "../../lib/runtime/leave-answer.ts";
import { EXIT, type ExitCode } from "./exit-codes.ts";
import { invokeFunction } from "./invoke.ts";
import type { LeaveOptions } from "./leave.ts";
import { resolveTarget } from "./target.ts";

/** Leaves one cluster's hub; answers the exit code: `degraded` when it is under way and goes on by itself. */
export async function leaveOne(cluster: string, options: LeaveOptions): Promise<ExitCode> {
  const target = resolveTarget(options);
  if (options.json !== true) console.error(`${cluster}: leaving in ${target.name}`);
  const invoked = await invokeFunction(target, "leave", { cluster, force: options.force === true });
  const answer: LeaveAnswer = invoked.ok
    ? (invoked.value as LeaveAnswer)
    : { ok: false, errors: [invoked.error], underWay: false, steps: [] };
  console.log(options.json === true ? JSON.stringify({ cluster, ...answer }) : describe(cluster, answer));
  if (answer.ok) return EXIT.ok;
  return answer.underWay ? EXIT.degraded : EXIT.failed;
}

function describe(cluster: string, answer: LeaveAnswer): string {
  const steps = answer.steps.map(
    ({ step, outcome, message }) => `  ${step}: ${outcome}${message === undefined ? "" : ` (${message})`}`,
  );
  if (!answer.ok) {
    const head = answer.underWay ? `${cluster}: is leaving, and not done yet` : `${cluster}: not left`;
    return [head, ...steps, describeUserErrors(answer.errors)].join("\n");
  }
  if (!answer.changed) return `${cluster}: there is no such membership, nothing was to do`;
  const orphans = answer.orphans.map((orphan) => `  stays behind: ${orphan}`);
  return [`${cluster}: left`, ...steps, ...orphans].join("\n");
}
