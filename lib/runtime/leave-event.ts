import * as v from "valibot";
import { failed, ok, type Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import type { MembershipKey } from "../state/membership.ts";

/** What `leave` is asked for. */
export interface LeaveRequest extends MembershipKey {
  /** What cannot be reached is given up and named. */
  readonly force: boolean;
}

const EVENT = v.strictObject({
  cluster: v.pipe(
    v.string("must be the name of a membership"),
    v.regex(/^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$/, "is not the name of a membership"),
  ),
  protocol: v.optional(v.picklist(["antrea"], "must be antrea"), "antrea"),
  force: v.optional(v.boolean("must be true or false"), false),
});

/** Reads the event of `leave`: `{cluster, protocol?, force?}`. Nothing that was given is repeated in an error. */
export function parseLeaveEvent(event: unknown): Result<LeaveRequest, readonly UserError[]> {
  const parsed = v.safeParse(EVENT, event);
  if (parsed.success) return ok(parsed.output);
  const remedy = 'Send {"cluster": "NAME"}, and "force": true to give up what cannot be reached.';
  return failed(
    parsed.issues.map((issue) => {
      const unknown = issue.expected === "never";
      const problem = unknown ? "is not a known field" : issue.received === "undefined" ? "is missing" : issue.message;
      return { path: v.getDotPath(issue) ?? "", problem, remedy };
    }),
  );
}
