import { ok, type Result } from "../base/result.ts";
import type { ShardEvent } from "../schedule/plan.ts";
import type { JoinPorts, StepFault } from "./join-ports.ts";

/**
 * A cluster that comes to a shard beats within one interval, not at the next firing: if nobody works the role, it is
 * invoked now. `unchanged`: a window is at work.
 */
export async function startRole(
  event: ShardEvent,
  { isWorked, invoke }: Pick<JoinPorts, "isWorked" | "invoke">,
  signal: AbortSignal,
): Promise<Result<"done" | "unchanged", StepFault>> {
  const worked = await isWorked(event, signal);
  if (!worked.ok) return worked;
  if (worked.value) return ok("unchanged");
  const invoked = await invoke(event, signal);
  return invoked.ok ? ok("done") : invoked;
}
