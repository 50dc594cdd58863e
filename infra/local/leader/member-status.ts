/** The leader's view of its members, kept in memory only: it starts over when the leader restarts. */

/** A member is called disconnected when its last announce is older than this, in milliseconds. */
const CONNECTION_TIMEOUT_MS = 30_000;

/** One member as the leader sees it. Moments are milliseconds since the epoch. */
export interface MemberStatus {
  readonly clusterId: string;
  readonly lastUpdate: number;
  readonly connected: boolean;
  readonly message: string;
  readonly lastTransitionTime: number;
}

/** An announce was seen: alive from now on; the status itself moves at the next look. */
export function seen(previous: MemberStatus | undefined, clusterId: string, now: number): MemberStatus {
  if (previous !== undefined) return { ...previous, lastUpdate: now };
  return { clusterId, lastUpdate: now, connected: true, message: "Member Connected", lastTransitionTime: now };
}

/** The look that the leader takes every 10 s. */
export function judge(member: MemberStatus, now: number): MemberStatus {
  const connected = now - member.lastUpdate <= CONNECTION_TIMEOUT_MS;
  if (connected === member.connected) return member;
  const message = connected
    ? "Member Connected"
    : `No MemberClusterAnnounce update after ${unixDate(member.lastUpdate)}`;
  return { ...member, connected, message, lastTransitionTime: now };
}

/** A time as `date` prints it, which is how the leader words it: `Thu Jan  1 00:00:00 UTC 2026`. */
function unixDate(ms: number): string {
  const [day, date = "", month, year, time] = new Date(ms).toUTCString().replace(",", "").split(" ");
  return `${day} ${month} ${String(Number(date)).padStart(2, " ")} ${time} UTC ${year}`;
}

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly lastTransitionTime: string;
  readonly message?: string;
  readonly reason?: string;
}

/** Seconds precision, as Kubernetes writes times. */
function stamp(ms: number): string {
  return new Date(ms).toISOString().replace(/\.\d{3}Z$/, "Z");
}

/** The status of the leader's ClusterSet, made from all members; `existing` are the conditions that it shows now. */
export function clusterSetStatus(
  members: readonly MemberStatus[],
  generation: number,
  existing: readonly Condition[],
  now: number,
): Record<string, unknown> {
  const ready = members.filter((m) => m.connected).length;
  const allReady = ready === members.length;
  const overall: Condition = allReady
    ? { type: "Ready", status: "True", lastTransitionTime: stamp(now) }
    : { type: "Ready", status: "False", reason: "NoReadyCluster", lastTransitionTime: stamp(now) };
  const keep = existing.length > 0 && existing[0]?.status === overall.status;
  return {
    observedGeneration: generation,
    totalClusters: members.length,
    readyClusters: ready,
    conditions: keep ? existing : [overall],
    clusterStatuses: members.map((m) => ({
      clusterID: m.clusterId,
      conditions: [
        {
          type: "Ready",
          status: m.connected ? "True" : "False",
          reason: m.connected ? "Connected" : "Disconnected",
          message: m.message,
          lastTransitionTime: stamp(m.lastTransitionTime),
        },
      ],
    })),
  };
}
