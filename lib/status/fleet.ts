import type { Cause } from "../base/cause.ts";
import type { Clock } from "../base/clock.ts";
import { ok, type Result } from "../base/result.ts";
import type { Condition } from "../state/condition.ts";
import type { StateError } from "../state/errors.ts";
import type { Membership, Protocol, Summary } from "../state/membership.ts";
import type { BatonView, StatusReader } from "./ports.ts";

/** How much longer than its expiry a baton counts as held, for skewed clocks, in milliseconds. */
const SKEW_MS = 5_000;

/** How many memberships' conditions are read at a time. */
const PARALLEL_READS = 16;

/** The role whose beats keep a protocol's memberships alive. */
const BEATING_ROLE: Readonly<Record<Protocol, string>> = { antrea: "announce", ocm: "lease" };

/** A condition as people and programs read it; times are RFC 3339. */
export interface ConditionView {
  readonly type: string;
  readonly status: string;
  readonly reason: string;
  readonly message: string;
  readonly cause?: Cause;
  readonly lastTransitionTime: string;
  readonly failures: number;
}

/** The window that works a membership's role now. */
export interface WindowView {
  readonly role: string;
  readonly holder: string;
  readonly fence: number;
  readonly expiresAt: string;
  readonly yielding: boolean;
  readonly standby?: string;
}

/** One membership as people and programs read it; times are RFC 3339. */
export interface MembershipView {
  readonly cluster: string;
  readonly protocol: Protocol;
  readonly state: Summary["state"];
  readonly cause?: Cause;
  /** Said where the state needs a word: nobody holds the baton, beats fail now. */
  readonly note?: string;
  readonly since: string;
  readonly phase: Membership["phase"];
  readonly shard: string;
  /** When the last complete round of beats ended. */
  readonly lastRoundAt?: string;
  readonly window?: WindowView;
  readonly conditions: readonly ConditionView[];
}

/** Everything that the status commands show. */
export interface FleetView {
  readonly at: string;
  readonly memberships: readonly MembershipView[];
}

/** True when nothing in the fleet wants attention: every membership is connected, and none is on its way elsewhere. */
export function isHealthy(fleet: FleetView): boolean {
  return fleet.memberships.every((m) => m.state === "Connected" && m.note === undefined);
}

/**
 * Makes one membership's view.
 * A membership whose window is gone shows `Unknown`, never the last good state: nobody knows.
 */
export function viewMembership(
  membership: Membership,
  conditions: readonly (Condition & { readonly type: string })[],
  baton: BatonView | undefined,
  now: number,
): MembershipView {
  const role = BEATING_ROLE[membership.protocol];
  const held = baton?.holder !== undefined && (baton.expiresAt ?? 0) + SKEW_MS > now;
  const { state, cause, since } = membership.summary;
  const failing = baton?.exceptions?.[membership.cluster];
  const working = membership.phase === "joined" || membership.phase === "joining";
  const note =
    !held && working ? "no holder" : failing === undefined ? undefined : `${failing.kind}, ${failing.count} in a row`;
  return {
    cluster: membership.cluster,
    protocol: membership.protocol,
    state: held || !working ? state : "Unknown",
    ...(cause === undefined ? {} : { cause }),
    ...(note === undefined ? {} : { note }),
    since: stamp(since),
    phase: membership.phase,
    shard: membership.shard,
    ...(baton?.roundAt === undefined ? {} : { lastRoundAt: stamp(baton.roundAt) }),
    ...(held ? { window: viewWindow(role, baton, now) } : {}),
    conditions: conditions.map(viewCondition),
  };
}

/** Reads the whole fleet, page by page, without a scan. */
export async function readFleet(
  reader: StatusReader,
  clock: Clock,
  signal: AbortSignal,
): Promise<Result<FleetView, StateError>> {
  const memberships: Membership[] = [];
  let startFrom: string | undefined;
  do {
    const page = await reader.listMemberships(startFrom === undefined ? {} : { startFrom }, signal);
    if (!page.ok) return page;
    memberships.push(...page.value.memberships);
    startFrom = page.value.next;
  } while (startFrom !== undefined);

  const batons = await readBatons(reader, memberships, signal);
  if (!batons.ok) return batons;
  const views: MembershipView[] = [];
  for (let i = 0; i < memberships.length; i += PARALLEL_READS) {
    const part = memberships.slice(i, i + PARALLEL_READS);
    const read = await Promise.all(part.map((m) => reader.readConditions(m.cluster, m.protocol, signal)));
    for (const [index, membership] of part.entries()) {
      const conditions = read[index];
      if (conditions === undefined) continue;
      if (!conditions.ok) return conditions;
      const baton = batons.value.get(batonName(membership));
      views.push(viewMembership(membership, conditions.value, baton, clock.now().getTime()));
    }
  }
  views.sort((a, b) => a.cluster.localeCompare(b.cluster) || a.protocol.localeCompare(b.protocol));
  return ok({ at: stamp(clock.now().getTime()), memberships: views });
}

async function readBatons(
  reader: StatusReader,
  memberships: readonly Membership[],
  signal: AbortSignal,
): Promise<Result<ReadonlyMap<string, BatonView>, StateError>> {
  const wanted = new Map(memberships.map((m) => [batonName(m), m]));
  const batons = new Map<string, BatonView>();
  for (const [name, membership] of wanted) {
    const baton = await reader.readBaton(BEATING_ROLE[membership.protocol], membership.shard, signal);
    if (!baton.ok) return baton;
    if (baton.value !== undefined) batons.set(name, baton.value);
  }
  return ok(batons);
}

function batonName(membership: Membership): string {
  return `${BEATING_ROLE[membership.protocol]}#${membership.shard}`;
}

function viewWindow(role: string, baton: BatonView, now: number): WindowView {
  const standby = baton.standby !== undefined && baton.standby.until > now ? baton.standby.id : undefined;
  return {
    role,
    holder: baton.holder ?? "",
    fence: baton.fence,
    expiresAt: stamp(baton.expiresAt ?? 0),
    yielding: baton.yielding ?? false,
    ...(standby === undefined ? {} : { standby }),
  };
}

function viewCondition(condition: Condition & { readonly type: string }): ConditionView {
  const { type, status, reason, message, cause, lastTransitionTime, failures } = condition;
  return {
    type,
    status,
    reason,
    message,
    ...(cause === undefined ? {} : { cause }),
    lastTransitionTime: stamp(lastTransitionTime),
    failures,
  };
}

function stamp(ms: number): string {
  return new Date(ms).toISOString();
}
