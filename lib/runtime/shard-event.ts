import * as v from "valibot";
import type { ShardEvent } from "../schedule/plan.ts";

/**
 * Reads what a schedule hands to the function of `role`.
 * @throws when the event is not one of this role's: the schedule was made by hand, or points at another function
 */
export function parseShardEvent(role: string, event: unknown): ShardEvent {
  const parsed = v.safeParse(
    v.object({
      role: v.literal(role),
      shard: v.pipe(v.string(), v.regex(/^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/, "is not the name of a shard")),
    }),
    event,
  );
  if (parsed.success) return parsed.output;
  const problems = parsed.issues.map((issue) => `${v.getDotPath(issue) ?? "event"}: ${issue.message}`);
  throw new Error(
    `the event of ${role} must be {"role":"${role}","shard":"NAME"}: ${problems.join("; ")}. ` +
      "Correct the schedule's input, or delete the schedule and join a cluster of its shard again.",
  );
}
