import type { Hold, RoundException } from "../relay/ports.ts";
import type { AnnouncedMembership } from "./announced-membership.ts";

/** Most exceptions that the baton carries by name. */
const MAX_EXCEPTIONS = 200;

type Round = Parameters<Hold["reportRound"]>[0];

/**
 * What the baton says of the shard beside the time of the last round: which memberships are not as they should be. One
 * that is not named is healthy, so that a healthy beat costs no write of its own.
 */
export function describeRound(members: Iterable<AnnouncedMembership>): Omit<Round, "roundAt"> {
  const exceptions: Record<string, RoundException> = {};
  let count = 0;
  for (const m of members) {
    const exception = exceptionOf(m);
    if (exception === undefined) continue;
    if (count < MAX_EXCEPTIONS) exceptions[m.membership.cluster] = exception;
    count += 1;
  }
  return { exceptions, moreExceptions: Math.max(0, count - MAX_EXCEPTIONS) };
}

function exceptionOf(m: AnnouncedMembership): RoundException | undefined {
  if (m.failing !== undefined) return { kind: m.failing.fault.cause, count: m.failing.count, since: m.failing.since };
  // The beats go on; what is wrong is beside them.
  if (m.readFault !== undefined) return { kind: m.readFault.fault.cause, count: 0, since: m.readFault.since };
  if (m.statusFault !== undefined) return { kind: "StatusNotWritten", count: 0, since: m.statusFault.since };
  return undefined;
}
