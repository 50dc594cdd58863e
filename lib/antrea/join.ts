import type { Clock } from "../base/clock.ts";
import { failed, never, ok, type Result } from "../base/result.ts";
import type { Membership, MembershipSpec } from "../state/membership.ts";
import { sendBeat } from "./announce.ts";
import { type Fault, leaderFault, memberFault } from "./fault.ts";
import { type LeaderConfiguration, readMember } from "./member-reading.ts";
import { MemberVisits } from "./member-visit.ts";
import type { ClusterConnector } from "./ports.ts";
import { identityNamespaceRef } from "./resources.ts";
import { touchTime } from "./touch-time.ts";

/** What joining works with. */
export interface JoinDependencies {
  readonly clock: Clock;
  readonly connector: ClusterConnector;
  /** One visit to the member, and one beat, in milliseconds each. */
  readonly timeoutMs: number;
}

/**
 * What came of the first announce. `created`: it was made; `updated`: it was there and has been renewed; `waiting`: the
 * member has no ClusterSet yet, which is no error: the membership waits for it.
 */
export type FirstAnnounce = "created" | "updated" | "waiting";

/** The Antrea part of a join. Both steps may be repeated. */
export interface AntreaJoin {
  /** Who the member is: the UID of its Namespace `kube-system`. Writes nothing. */
  identify(spec: MembershipSpec, signal: AbortSignal): Promise<Result<string, Fault>>;
  /**
   * The first announce of a membership that stands in the table: reads ClusterSet and Secret, then beats once. A fault is
   * not the end of the join: the role `announce` goes on trying, and shows it.
   */
  announce(membership: Membership, signal: AbortSignal): Promise<Result<FirstAnnounce, Fault>>;
}

/** The Antrea part of a join. */
export function antreaJoin(deps: JoinDependencies): AntreaJoin {
  const visits = new MemberVisits(deps.clock, deps.connector, deps.timeoutMs);
  return {
    identify: async (spec, signal) => {
      const visited = await visits.visit(spec, signal, async (member, options) => {
        const answer = await member.get(identityNamespaceRef, options);
        return answer.ok ? ok(answer.value.object.metadata.uid ?? "") : failed(memberFault(answer.error));
      });
      return visited.ok ? visited.value : visited;
    },
    announce: async (membership, signal) => {
      const visited = await visits.visit(membership, signal, async (member, options) =>
        readMember(member, membership.antrea, options),
      );
      if (!visited.ok) return visited;
      const reading = visited.value;
      switch (reading.kind) {
        case "configured":
          return await firstBeat(deps, membership.cluster, reading.configuration, signal);
        case "waiting":
          return ok("waiting");
        case "misconfigured":
        case "unreadable":
          return failed(reading.fault);
        default:
          return never(reading);
      }
    },
  };
}

async function firstBeat(
  { clock, connector, timeoutMs }: JoinDependencies,
  cluster: string,
  { spec, connection }: LeaderConfiguration,
  signal: AbortSignal,
): Promise<Result<FirstAnnounce, Fault>> {
  const leader = connector.connectLeader(`leader of ${cluster}`, connection);
  try {
    const touchTs = touchTime(clock.now().getTime(), undefined);
    const mayCreate = async (): Promise<boolean> => true;
    const seen = await sendBeat(leader, spec, touchTs, { clock, timeoutMs, signal, mayCreate });
    if (seen.kind === "withheld") throw new Error("a first announce is never withheld");
    if (seen.kind === "failed") return failed(leaderFault(seen.error));
    return ok(seen.found ? "updated" : "created");
  } finally {
    await leader.close();
  }
}
