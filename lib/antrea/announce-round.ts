import type { Hold, RoundException } from "../relay/ports.ts";
import { isRival } from "./announce-rival.ts";
import type { AnnouncedMembership } from "./announced-membership.ts";

type Round = Parameters<Hold["reportRound"]>[0];

/**
 * What the baton says of the shard beside the time of the last round: which memberships are not as they should be. One
 * that is not named is healthy, so that a healthy beat costs no write of its own. All are named, also of a shard whose only
 * leader is down: the store keeps what does not fit into the baton beside it.
 */
export function describeRound(members: Iterable<AnnouncedMembership>): Omit<Round, "roundAt"> {
  const exceptions: Record<string, RoundException> = {};
  for (const m of members) {
    const exception = exceptionOf(m);
    if (exception !== undefined) exceptions[m.membership.cluster] = exception;
  }
  return { exceptions, moreExceptions: 0 };
}

function exceptionOf(m: AnnouncedMembership): RoundException | undefined {
  if (m.failing !== undefined) return { kind: m.failing.fault.cause, count: m.failing.count, since: m.failing.since };
  // The beats go on; what is wrong is beside them.
  if (m.readFault !== undefined) return { kind: m.readFault.fault.cause, count: 0, since: m.readFault.since };
  if (isRival(m.rival)) return { kind: "InClusterAgentRunning", count: m.rival.sightings, since: m.rival.since };
  if (m.statusFault !== undefined) return { kind: "StatusNotWritten", count: 0, since: m.statusFault.since };
  return undefined;
}
