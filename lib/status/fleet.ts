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
  /** Roles whose schedule a person has disabled: no window begins to work them. */
  readonly disabledSchedules?: readonly string[];
  /** How far a leave has come that does not end by itself. */
  readonly leave?: { readonly attempts: number; readonly problem?: string; readonly nextAttemptAt?: string };
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

/**
 * True when nothing in the fleet wants attention: every membership is connected, none is on its way elsewhere, and no
 * condition says that something is wrong.
 */
export function isHealthy(fleet: FleetView): boolean {
  return fleet.memberships.every(
    (m) => m.state === "Connected" && m.note === undefined && m.conditions.every(({ status }) => status !== "False"),
  );
}

/**
 * Makes one membership's view.
 * A membership whose window is gone shows `Unknown`, never the last good state: nobody knows.
 */
export function viewMembership(
  membership: Membership,
  conditions: readonly (Condition & { readonly type: string })[],
  { baton, disabledRoles = [] }: ShardView,
  now: number,
): MembershipView {
  const role = BEATING_ROLE[membership.protocol];
  const held = baton?.holder !== undefined && (baton.expiresAt ?? 0) + SKEW_MS > now;
  const { state, cause, since } = membership.summary;
  const beating = isBeating(membership);
  const note = noteOf(membership, held, { baton, disabledRoles }, now);
  return {
    cluster: membership.cluster,
    protocol: membership.protocol,
    state: held || !beating ? state : "Unknown",
    ...(cause === undefined ? {} : { cause }),
    ...(note === undefined ? {} : { note }),
    since: stamp(since),
    phase: membership.phase,
    shard: membership.shard,
    ...(disabledRoles.length === 0 ? {} : { disabledSchedules: disabledRoles }),
    ...(membership.leave === undefined ? {} : { leave: viewLeave(membership.leave) }),
    ...(baton?.roundAt === undefined ? {} : { lastRoundAt: stamp(baton.roundAt) }),
    ...(held && baton !== undefined ? { window: viewWindow(role, baton, now) } : {}),
    conditions: conditions.map((condition) => viewCondition(condition, unknownBecause(membership, held))),
  };
}

/** Why nobody knows any more whether a condition holds; undefined: it is kept. */
function unknownBecause(membership: Membership, held: boolean): string | undefined {
  if (membership.phase === "leaving" || membership.phase === "left") return "Leaving";
  return held || !isBeating(membership) ? undefined : "NoHolder";
}

/** What is known of the shard that a membership is in. */
export interface ShardView {
  readonly baton?: BatonView | undefined;
  readonly disabledRoles?: readonly string[];
}

/** True when there are to be beats: a membership that rests or leaves needs no window. */
function isBeating({ phase, paused }: Membership): boolean {
  return paused !== true && (phase === "joined" || phase === "joining");
}

/** What needs a word, the most important first. */
function noteOf(
  membership: Membership,
  held: boolean,
  { baton, disabledRoles = [] }: ShardView,
  now: number,
): string | undefined {
  const { leave, leaveReason } = membership;
  if (membership.phase === "leaving" || membership.phase === "left") {
    const why =
      leaveReason === "ClusterSetDeleted" ? ", as its ClusterSet was deleted; it waits for another one then" : "";
    return leave?.problem === undefined
      ? `leaving${why}`
      : `leaving${why}, ${leave.attempts} tries so far: ${leave.problem}`;
  }
  if (membership.paused === true) return "paused, until it is resumed";
  const notes: string[] = [];
  if (!held) notes.push("no holder");
  if (disabledRoles.length > 0) notes.push(`paused by console: schedule of ${disabledRoles.join(", ")} is disabled`);
  const exception = baton?.exceptions?.[membership.cluster];
  if (held && exception !== undefined) notes.push(wordsOf(exception, now));
  return notes.length === 0 ? undefined : notes.join("; ");
}

function wordsOf({ kind, count, since }: NonNullable<BatonView["exceptions"]>[string], now: number): string {
  const minutes = Math.max(0, Math.round((now - since) / 60_000));
  if (kind === "InClusterAgentRunning") {
    return `an in-cluster agent announces it too, since ${minutes} min: stop its Deployment antrea-mc-controller`;
  }
  return count === 0 ? `beats succeed; beside them: ${kind}, since ${minutes} min` : `${kind}, ${count} in a row`;
}

function viewLeave({ attempts, problem, nextAttemptAt }: NonNullable<Membership["leave"]>) {
  return {
    attempts,
    ...(problem === undefined ? {} : { problem }),
    ...(nextAttemptAt === undefined ? {} : { nextAttemptAt: stamp(nextAttemptAt) }),
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

  const shards = await readShards(reader, memberships, signal);
  if (!shards.ok) return shards;
  const views: MembershipView[] = [];
  for (let i = 0; i < memberships.length; i += PARALLEL_READS) {
    const part = memberships.slice(i, i + PARALLEL_READS);
    const read = await Promise.all(part.map((m) => reader.readConditions(m.cluster, m.protocol, signal)));
    for (const [index, membership] of part.entries()) {
      const conditions = read[index];
      if (conditions === undefined) continue;
      if (!conditions.ok) return conditions;
      const shard = shards.value.get(batonName(membership)) ?? {};
      views.push(viewMembership(membership, conditions.value, shard, clock.now().getTime()));
    }
  }
  views.sort((a, b) => a.cluster.localeCompare(b.cluster) || a.protocol.localeCompare(b.protocol));
  return ok({ at: stamp(clock.now().getTime()), memberships: views });
}

async function readShards(
  reader: StatusReader,
  memberships: readonly Membership[],
  signal: AbortSignal,
): Promise<Result<ReadonlyMap<string, ShardView>, StateError>> {
  const wanted = new Map(memberships.map((m) => [batonName(m), m]));
  const shards = new Map<string, ShardView>();
  for (const [name, { protocol, shard }] of wanted) {
    const baton = await reader.readBaton(BEATING_ROLE[protocol], shard, signal);
    if (!baton.ok) return baton;
    const read = await reader.readShard(shard, signal);
    if (!read.ok) return read;
    shards.set(name, { baton: baton.value, disabledRoles: read.value?.disabledRoles ?? [] });
  }
  return ok(shards);
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

/** @param unknown why nobody keeps it any more: the last good state is no news */
function viewCondition(condition: Condition & { readonly type: string }, unknown: string | undefined): ConditionView {
  const { type, message, cause, lastTransitionTime, failures } = condition;
  const { status, reason } =
    unknown !== undefined && condition.status === "True" ? { status: "Unknown", reason: unknown } : condition;
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
