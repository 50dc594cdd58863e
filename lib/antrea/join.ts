import type { Clock } from "../base/clock.ts";
import { never } from "../base/result.ts";
import type { MembershipSpec } from "../state/membership.ts";
import { type AnnounceIds, describeMismatch, sendBeat } from "./announce.ts";
import { type Fault, leaderFault, memberFault } from "./fault.ts";
import { accessReading, type LeaderConfiguration, type MemberReading, readMember } from "./member-reading.ts";
import { MemberVisits } from "./member-visit.ts";
import type { ClusterConnector } from "./ports.ts";
import { identityNamespaceRef } from "./resources.ts";
import { touchTime } from "./touch-time.ts";

/** What joining works with. */
export interface JoinDependencies {
  readonly clock: Clock;
  readonly connector: ClusterConnector;
  /** One visit to the member, and the first announce, in milliseconds each. */
  readonly timeoutMs: number;
}

/** What the member said of itself before anything was written. */
export interface AntreaPreflight {
  /** UID of Namespace `kube-system`: the identity behind the name. Undefined when the member could not be asked. */
  readonly clusterUID: string | undefined;
  /** Why the member could not be asked for its identity. */
  readonly identityFault?: Fault;
  readonly reading: MemberReading;
}

/** What was done on the leader, and what there is to say about it. */
export type FirstAnnounce =
  /** `created`: the announce was made by this call; otherwise it was there and has been renewed. */
  | { readonly kind: "announced"; readonly created: boolean; readonly ids: AnnounceIds; readonly mismatch?: Fault }
  /** There is no ClusterSet yet, which is no error: the membership waits for it. */
  | { readonly kind: "waiting"; readonly fault: Fault }
  /** A person must mend something in the member; the membership goes on as soon as that is done. */
  | { readonly kind: "misconfigured"; readonly fault: Fault }
  /** The member or the leader did not take part; the role `announce` goes on trying. */
  | { readonly kind: "failed"; readonly fault: Fault };

/** Reads identity, ClusterSet and Secret of a member. Writes nothing. */
export async function preflightAntrea(
  { clock, connector, timeoutMs }: JoinDependencies,
  spec: Pick<MembershipSpec, "cluster" | "access" | "antrea">,
  signal: AbortSignal,
): Promise<AntreaPreflight> {
  const visits = new MemberVisits(clock, connector, timeoutMs);
  const visited = await visits.visit(spec, signal, async (member, options): Promise<AntreaPreflight> => {
    const identity = await member.get(identityNamespaceRef, options);
    const reading = await readMember(member, spec.antrea, options);
    return identity.ok
      ? { clusterUID: identity.value.object.metadata.uid, reading }
      : { clusterUID: undefined, identityFault: memberFault(identity.error), reading };
  });
  if (visited.ok) return visited.value;
  return { clusterUID: undefined, identityFault: visited.error, reading: accessReading(visited.error) };
}

/**
 * The first announce of a membership that stands in the table, or the first after it was asked to join again: doing it
 * twice is one beat more. The beats then keep it.
 */
export async function announceFirst(
  deps: JoinDependencies,
  cluster: string,
  reading: MemberReading,
  signal: AbortSignal,
): Promise<FirstAnnounce> {
  switch (reading.kind) {
    case "configured":
      return await announceTo(deps, cluster, reading.configuration, signal);
    case "misconfigured":
      return { kind: "misconfigured", fault: reading.fault };
    case "waiting":
      return { kind: "waiting", fault: reading.fault };
    case "unreadable":
      return { kind: "failed", fault: reading.fault };
    default:
      return never(reading);
  }
}

async function announceTo(
  { clock, connector, timeoutMs }: JoinDependencies,
  cluster: string,
  { spec, connection }: LeaderConfiguration,
  signal: AbortSignal,
): Promise<FirstAnnounce> {
  const leader = connector.connectLeader(`leader of ${cluster}`, connection);
  try {
    const stamp = (): string => touchTime(clock.now().getTime(), undefined);
    const mayCreate = async (): Promise<boolean> => true;
    const seen = await sendBeat(leader, spec, stamp, { clock, timeoutMs, signal, mayCreate });
    if (seen.kind === "withheld") throw new Error("a first announce is never withheld");
    if (seen.kind === "failed") return { kind: "failed", fault: leaderFault(seen.error) };
    const { clusterID, clusterSetID, leaderClusterID } = spec;
    const ids = { clusterID, clusterSetID, leaderClusterID };
    const announced = { kind: "announced", created: !seen.found, ids } as const;
    if (seen.mismatches.length === 0) return announced;
    const message = describeMismatch(seen.mismatches, spec);
    return { ...announced, mismatch: { cause: "ConfigurationInvalid", message } };
  } finally {
    await leader.close();
  }
}
