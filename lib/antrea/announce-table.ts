import type { Hold } from "../relay/ports.ts";
import type { ObservedCondition } from "../state/condition.ts";
import type { NamedCondition } from "../state/condition-store.ts";
import type { NewHistoryEvent } from "../state/history.ts";
import { configurationIsBehind, keepConfiguration } from "./announce-configuration.ts";
import type { AnnounceDependencies } from "./announce-deps.ts";
import type { AnnouncedMembership } from "./announced-membership.ts";
import { type Connectivity, type ConnectivityCondition, summarise } from "./connectivity.ts";
import {
  ANNOUNCE_AREA,
  CONFIGURATION_TYPE,
  CONNECTIVITY_TYPES,
  type ConnectivityType,
  REASON_PAUSED,
} from "./names.ts";

const AREA = { protocol: "antrea", area: ANNOUNCE_AREA } as const;
const FIELD = { Ready: "ready", IsLeader: "isLeader" } as const satisfies Record<ConnectivityType, keyof Connectivity>;

/** True when the table must be asked or told something. */
export function tableIsBehind(m: AnnouncedMembership, now: number): boolean {
  if (m.published === undefined || configurationIsBehind(m, now)) return true;
  return changedTypes(m, m.published).length > 0 || owesFirstConnection(m, m.published);
}

/**
 * Makes the table agree with what is published, as far as this window may write: first reads what it shows, then writes
 * what differs, with summary and history in the same transaction. What does not succeed is left for the next call:
 * while the table is away, beats go on and changes wait.
 */
export async function keepTable(m: AnnouncedMembership, hold: Hold, deps: AnnounceDependencies): Promise<void> {
  // Before this window alone may write, a last write of the predecessor may still be on its way into the table.
  if (m.published === undefined && !(hold.mayWrite() && (await readTable(m, hold, deps)))) return;
  while (m.published !== undefined && changedTypes(m, m.published).length > 0) {
    if (!hold.mayWrite() || !(await writeTable(m, m.published, hold, deps))) return;
  }
  await keepConfiguration(m, hold, deps);
  if (m.published !== undefined && owesFirstConnection(m, m.published) && hold.mayWrite()) {
    const noted = await deps.store.updateMembership(
      { cluster: m.membership.cluster, protocol: AREA.protocol },
      { connectedOnce: true },
      { assignment: m.membership.assignment },
      m.controller.signal,
    );
    if (noted.ok && (noted.value.kind === "updated" || noted.value.kind === "unchanged")) m.connectedOnce = true;
  }
}

async function readTable(m: AnnouncedMembership, hold: Hold, { store, clock }: AnnounceDependencies): Promise<boolean> {
  const { signal } = m.controller;
  const { cluster, assignment } = m.membership;
  // A predecessor that is only paused may send a last write when it wakes up: after this read it would stand unseen.
  if (!hold.predecessorStopped()) {
    const fenced = await store.fenceConditions({ ...AREA, cluster }, { assignment, fence: hold.fence }, signal);
    if (!fenced.ok || fenced.value === "outdated" || signal.aborted) return false;
  }
  const read = await store.readConditions(cluster, AREA.protocol, signal);
  if (!read.ok || signal.aborted) return false;
  m.configuration = read.value.find((c) => c.area === AREA.area && c.type === CONFIGURATION_TYPE);
  m.begin(connectivityOf(read.value), clock.now().getTime());
  return true;
}

/** The conditions as the table has them; undefined unless both are there. */
function connectivityOf(conditions: readonly NamedCondition[]): Connectivity | undefined {
  const find = (type: ConnectivityType): ConnectivityCondition | undefined => {
    const found = conditions.find((c) => c.area === AREA.area && c.type === type);
    if (found === undefined) return undefined;
    const { status, reason, message, cause, lastTransitionTime, observedAt, failures } = found;
    const condition = { status, reason, message, lastTransitionTime, observedAt, failures };
    return cause === undefined ? condition : { ...condition, cause };
  };
  const ready = find("Ready");
  const isLeader = find("IsLeader");
  return ready === undefined || isLeader === undefined ? undefined : { ready, isLeader };
}

async function writeTable(
  m: AnnouncedMembership,
  published: Connectivity,
  hold: Hold,
  { store, telemetry }: AnnounceDependencies,
): Promise<boolean> {
  const { cluster, assignment } = m.membership;
  const { fence } = hold;
  const types = changedTypes(m, published);
  const next: Record<string, ObservedCondition> = {};
  for (const type of types) {
    const { lastTransitionTime: _follows, ...condition } = published[FIELD[type]];
    // Within one fence the table takes nothing that was observed earlier, and a wall clock may have been set back.
    const observedAt = Math.max(condition.observedAt, m.written.get(type)?.observedAt ?? 0);
    next[type] = { ...condition, observedAt, assignment, fence };
  }
  const event = eventOf(m, published);
  const companions = { summary: summarise(published), event };
  const { signal } = m.controller;
  const written = await store.writeConditions({ ...AREA, cluster }, next, companions, signal);
  if (!written.ok || signal.aborted) return false;
  if (written.value.kind === "outdated") {
    // Another writer was there: what it wrote is where we go on from, if we are still to go on.
    m.forgetTable();
    return false;
  }
  for (const type of types) m.written.set(type, published[FIELD[type]]);
  if (written.value.kind === "written" && event !== undefined) {
    telemetry.transition("connectivity changed", { cluster, fence, outcome: event.kind, cause: event.cause ?? "" });
  }
  return true;
}

function changedTypes(m: AnnouncedMembership, published: Connectivity): readonly ConnectivityType[] {
  return CONNECTIVITY_TYPES.filter((type) => m.written.get(type) !== published[FIELD[type]]);
}

function owesFirstConnection(m: AnnouncedMembership, published: Connectivity): boolean {
  return !m.connectedOnce && published.ready.status === "True";
}

/** A line for people whenever `Ready` has another status, or its first error. */
function eventOf(m: AnnouncedMembership, { ready }: Connectivity): NewHistoryEvent | undefined {
  const before = m.written.get("Ready");
  const sameState = before?.status === ready.status && (before.cause === undefined) === (ready.cause === undefined);
  // Of a pause the history tells already, by whoever asked for it.
  if (ready.reason === REASON_PAUSED) return undefined;
  if (sameState || (ready.status === "Unknown" && ready.cause === undefined)) return undefined;
  const unknown = ready.cause === "ClusterSetMissing" ? "WaitingForClusterSet" : "NotYetConnected";
  const kind = { True: "Connected", False: "Disconnected", Unknown: unknown }[ready.status];
  const leader = m.link?.spec.leaderClusterID ?? "the leader";
  const event = {
    at: ready.observedAt,
    protocol: AREA.protocol,
    kind,
    message: ready.message === "" ? `Connected to ${leader}` : ready.message,
  };
  return ready.cause === undefined ? event : { ...event, cause: ready.cause };
}
