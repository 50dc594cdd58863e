import { never } from "../base/result.ts";
import type { AnnounceDependencies, AnnounceTiming } from "./announce-deps.ts";
import { keptLink, sameLeaderKept } from "./announce-fallback.ts";
import { leaderToKeep } from "./announce-keep.ts";
import { proveIdentity, proveLeader } from "./announce-proof.ts";
import {
  type AnnouncedMembership,
  type LeaderLink,
  leadsToTheSame,
  type ReadFault,
  standing,
} from "./announced-membership.ts";
import type { LeaderTarget } from "./cluster-set.ts";
import { shownLeader } from "./cluster-set-status.ts";
import type { Fault } from "./fault.ts";
import { accessReading, type MemberReading, readMember } from "./member-reading.ts";
import type { MemberVisits } from "./member-visit.ts";
import { LEADER_CONNECTION_TIMEOUT_MS } from "./names.ts";
import type { LeaderCluster } from "./ports.ts";
import { touchTime } from "./touch-time.ts";

type Configured = Extract<MemberReading, { kind: "configured" }>;

/** A connection that works is given up only after this many looks in a row found no ClusterSet. */
const LOOKS_UNTIL_GONE = 2;

/**
 * Looks at the member's ClusterSet and Secret and makes the connection to the leader agree with them.
 * @returns true when there is a new connection, which is to beat at once
 */
export async function look(
  m: AnnouncedMembership,
  visits: MemberVisits,
  deps: AnnounceDependencies,
  timing: AnnounceTiming,
): Promise<boolean> {
  const { membership } = m;
  const { signal } = m.controller;
  const startedMs = deps.clock.monotonicMs();
  const visited = await visits.visit(membership, signal, (member, options) =>
    readMember(member, membership.antrea, options),
  );
  if (signal.aborted || !leadsToTheSame(m.membership, membership)) return false;
  m.readDueMs = startedMs + timing.lookAgainMs;
  const reading = visited.ok ? visited.value : accessReading(visited.error);
  if (reading.kind !== "waiting") m.missing = 0;
  switch (reading.kind) {
    case "configured":
      return await connect(m, reading, deps, timing);
    case "misconfigured":
      return await misconfigured(m, reading, deps);
    case "waiting":
      await waiting(m, reading.fault, deps);
      return false;
    case "unreadable":
      withoutNews(m, { kind: "failed", fault: reading.fault }, deps);
      return false;
    default:
      return never(reading);
  }
}

async function connect(
  m: AnnouncedMembership,
  reading: Configured,
  deps: AnnounceDependencies,
  timing: AnnounceTiming,
): Promise<boolean> {
  const { clusterSet, configuration } = reading;
  const { spec, connection, hash } = configuration;
  const old = m.link;
  if (old?.hash === hash && old.clusterSetUid === clusterSet.uid) {
    settleReading(m, clusterSet, deps, timing);
    return false;
  }
  const client = deps.connector.connectLeader(`leader of ${m.membership.cluster}`, connection);
  const toKeep = leaderToKeep(m.membership, configuration);
  // A window that has just begun has no way of its own: where the named one has never worked, it takes the one before.
  const before = old ?? (toKeep === undefined ? undefined : await keptLink(m, clusterSet.uid, deps));
  const isNew = isNewConnection(m, clusterSet.uid, configuration, { before, shown: shownLeader(clusterSet) });
  // Of a ClusterSet that was made anew nothing of the old one is left to go on with.
  const isSameSet = before?.clusterSetUid === clusterSet.uid;
  if (before !== undefined && isSameSet && (before !== old || worksStill(m, deps))) {
    const choice = await choose(m, { client, spec, clusterSet, before }, deps, timing);
    if (choice !== "named") return choice === "kept";
  }
  if (isNew) m.restart(deps.clock.now().getTime());
  settleReading(m, clusterSet, deps, timing);
  m.link = {
    spec,
    client,
    hash,
    clusterSetUid: clusterSet.uid,
    announced: false,
    touchTs: old?.touchTs,
    slow: false,
    toKeep,
  };
  m.departureOwed = false;
  m.deferredUntilMs = Number.NEGATIVE_INFINITY;
  if (before !== undefined) await putAway(m, before, spec);
  return true;
}

interface Ways {
  /** What the member names. */
  readonly client: LeaderCluster;
  readonly spec: LeaderTarget;
  readonly clusterSet: Configured["clusterSet"];
  /** Another way to the same leader, that works or did. */
  readonly before: LeaderLink;
}

/**
 * Which way to go on with: the one that the member names once it is proved, else the one before, which is new to this
 * window when it was `kept`.
 */
async function choose(
  m: AnnouncedMembership,
  { client, spec, clusterSet, before }: Ways,
  deps: AnnounceDependencies,
  timing: AnnounceTiming,
): Promise<"named" | "same" | "kept" | "outdated"> {
  const { link } = m;
  const fault = await prove(m, { client, spec, before }, deps, timing);
  const outdated = m.link !== link || m.controller.signal.aborted;
  if (outdated && before !== link) await before.client.close();
  if (outdated || fault !== undefined) await client.close();
  if (outdated) return "outdated";
  if (fault === undefined) return "named";
  m.link = before;
  stayWith(m, clusterSet, fault, deps, timing);
  return before === link ? "same" : "kept";
}

/** The old connection is closed, or kept to take back an announce that no beat of the new one will ever find. */
async function putAway(m: AnnouncedMembership, old: LeaderLink, next: LeaderTarget): Promise<void> {
  if (isSameAnnounce(old.spec, next) || !old.announced) return await closeAfterBeat(m, old.client);
  await m.jobs.get("beat");
  await m.replaced?.link.client.close();
  m.replaced = { link: old, dueMs: Number.NEGATIVE_INFINITY, told: false };
}

function isSameAnnounce(a: LeaderTarget, b: LeaderTarget): boolean {
  const fields = ["clusterID", "clusterSetID", "leaderClusterID", "commonArea"] as const;
  return fields.every((field) => a[field] === b[field]);
}

/** The leader counts us as connected by the connection that is there. */
function worksStill({ failing, succeededMs }: AnnouncedMembership, { clock }: AnnounceDependencies): boolean {
  if (failing !== undefined && failing.fault.cause === "CredentialRefused") return false;
  return succeededMs !== undefined && clock.monotonicMs() - succeededMs < LEADER_CONNECTION_TIMEOUT_MS;
}

/** Without effect: a beat of the announce that is there, or the making of another one. */
async function prove(
  m: AnnouncedMembership,
  { client, spec, before }: Pick<Ways, "client" | "spec" | "before">,
  { clock }: AnnounceDependencies,
  { beatTimeoutMs }: AnnounceTiming,
): Promise<Fault | undefined> {
  const touchTs = touchTime(clock.now().getTime(), m.link?.touchTs);
  const options = { timeoutMs: beatTimeoutMs, signal: m.controller.signal };
  return isSameAnnounce(before.spec, spec)
    ? await proveLeader(client, spec, touchTs, options)
    : await proveIdentity(client, spec, touchTs, options);
}

const GOES_ON = "the one before goes on";

/** The connection that is there goes on; what is wrong with the other one is said beside it, and it is tried again soon. */
function stayWith(
  m: AnnouncedMembership,
  clusterSet: Configured["clusterSet"],
  { cause, message }: Fault,
  deps: AnnounceDependencies,
  timing: AnnounceTiming,
): void {
  const words = `the member names another connection to its leader, which does not work, so ${GOES_ON}: ${message}`;
  const fault = readFault(m, "refused", { cause, message: words }, deps);
  // Its status tells of the leader that is connected.
  settleReading(m, { ...clusterSet, leaderClusterID: m.link?.spec.leaderClusterID }, deps, timing);
  m.readFault = fault;
  m.readDueMs = deps.clock.monotonicMs() + timing.lookAgainMs;
}

function settleReading(
  m: AnnouncedMembership,
  clusterSet: Configured["clusterSet"],
  { clock, random }: AnnounceDependencies,
  { rereadMinMs, rereadMaxMs }: AnnounceTiming,
): void {
  m.clusterSet = clusterSet;
  m.statusDirty = true;
  m.readFault = undefined;
  m.readDueMs = clock.monotonicMs() + rereadMinMs + random.next() * (rereadMaxMs - rereadMinMs);
}

/**
 * Whether conditions start over: for another leader, another ID of our own, or a ClusterSet that was made anew. A window
 * that has just begun knows of the time before it only what was kept, if that is read, and what the ClusterSet shows; a
 * ClusterSet that shows nothing (because we may not write there, for one) is no proof of a change.
 */
function isNewConnection(
  m: AnnouncedMembership,
  uid: string,
  { spec }: Configured["configuration"],
  { before, shown }: { readonly before: LeaderLink | undefined; readonly shown: string | undefined },
): boolean {
  if (m.link === undefined && (m.waited || (shown !== undefined && shown !== spec.leaderClusterID))) return true;
  if (before === undefined) return false;
  return (
    before.clusterSetUid !== uid ||
    before.spec.leaderClusterID !== spec.leaderClusterID ||
    before.spec.clusterID !== spec.clusterID ||
    before.spec.clusterSetID !== spec.clusterSetID
  );
}

async function misconfigured(
  m: AnnouncedMembership,
  { clusterSet, fault }: Extract<MemberReading, { kind: "misconfigured" }>,
  deps: AnnounceDependencies,
): Promise<boolean> {
  let kept: LeaderLink | undefined;
  if (clusterSet !== undefined) {
    const leaderClusterID = m.link?.spec.leaderClusterID ?? clusterSet.leaderClusterID;
    m.clusterSet = { ...clusterSet, leaderClusterID };
    m.statusDirty = true;
    const gone = m.link !== undefined && m.link.clusterSetUid !== clusterSet.uid;
    if (gone) {
      await disconnect(m);
      m.restart(deps.clock.now().getTime());
    }
    kept = gone ? undefined : await sameLeaderKept(m, clusterSet, deps);
    m.link ??= kept;
  }
  withoutNews(m, { kind: "misconfigured", fault }, deps);
  return kept !== undefined;
}

async function waiting(m: AnnouncedMembership, fault: Fault, deps: AnnounceDependencies): Promise<void> {
  m.missing += 1;
  if (m.link !== undefined && m.missing < LOOKS_UNTIL_GONE) {
    m.readFault = readFault(m, "unread", fault, deps);
    return;
  }
  // A window that begins later knows by what is kept that there was one.
  if (m.missing >= LOOKS_UNTIL_GONE && (m.link !== undefined || m.membership.keptLeaderHash !== undefined)) {
    m.departureOwed = true;
  }
  await disconnect(m);
  m.clusterSet = undefined;
  m.waited = true;
  m.observe({ kind: "waiting", fault }, deps.clock.now().getTime());
}

/** Nothing to connect with: a connection that is there goes on, the fault is shown beside it. */
function withoutNews(
  m: AnnouncedMembership,
  { kind, fault }: { readonly kind: "failed" | "misconfigured"; readonly fault: Fault },
  deps: AnnounceDependencies,
): void {
  const now = deps.clock.now().getTime();
  if (m.link === undefined) {
    m.readFault = readFault(m, kind === "failed" ? "unread" : kind, fault, deps);
    m.observe({ kind, fault, found: false }, now);
    return;
  }
  const what = kind === "failed" ? "the member cannot be read" : "the member's words cannot be used";
  const beside = { cause: fault.cause, message: `${what}, so the connection before goes on: ${fault.message}` };
  m.readFault = readFault(m, kind === "failed" ? "unread" : kind, beside, deps);
}

function readFault(
  { readFault: before }: AnnouncedMembership,
  kind: ReadFault["kind"],
  fault: Fault,
  { clock }: AnnounceDependencies,
): ReadFault {
  return { ...standing(before, fault, clock.now().getTime()), kind };
}

/** Ends the connections to the leader, if there are any. */
export async function disconnect(m: AnnouncedMembership): Promise<void> {
  const { link, replaced } = m;
  m.link = undefined;
  m.replaced = undefined;
  if (link !== undefined) await closeAfterBeat(m, link.client);
  await replaced?.link.client.close();
}

async function closeAfterBeat(m: AnnouncedMembership, client: { close(): Promise<void> }): Promise<void> {
  await m.jobs.get("beat");
  await client.close();
}
