import type { Hold } from "../relay/ports.ts";
import type { Condition, ObservedCondition } from "../state/condition.ts";
import type { NewHistoryEvent } from "../state/history.ts";
import type { AnnounceDependencies } from "./announce-deps.ts";
import type { AnnouncedMembership, ReadFault } from "./announced-membership.ts";
import { ANNOUNCE_AREA, CONFIGURATION_TYPE } from "./names.ts";

/** What the condition says. */
export type ConfigurationStatement = Pick<Condition, "status" | "reason" | "message" | "cause" | "observedAt">;

/** A member that is not read for this long is worth a line; before that it may be a lost request. In milliseconds. */
const UNREAD_MS = 20_000;

/** Other words for the same state are written at most this often, in milliseconds. */
const REWORD_MS = 60_000;

const REASONS: Readonly<Record<ReadFault["kind"], string>> = {
  refused: "NewConnectionFailed",
  misconfigured: "ConfigurationInvalid",
  unread: "MemberUnread",
};

/**
 * What is to be said of the connection at work beside one that the member names; undefined when the table says it already,
 * or there is nothing to say. `Ready` speaks of the connection at work alone, so without this a member whose new Secret is
 * wrong would look healthy until the old one ends.
 */
export function decideConfiguration(
  written: ConfigurationStatement | undefined,
  fault: ReadFault | undefined,
  now: number,
): ConfigurationStatement | undefined {
  if (fault === undefined) {
    if (written === undefined || written.status === "True") return undefined;
    return { status: "True", reason: "InForce", message: "", observedAt: now };
  }
  const { kind, since } = fault;
  if (kind === "unread" && now - since < UNREAD_MS) return undefined;
  const { cause, message } = fault.fault;
  const status = kind === "unread" ? "Unknown" : "False";
  const reason = REASONS[kind];
  const next = { status, reason, message, cause, observedAt: now } as const;
  if (written?.status !== status || written.reason !== reason || written.cause !== cause) return next;
  return written.message === message || now - written.observedAt < REWORD_MS ? undefined : next;
}

/** True when the table is to be told. */
export function configurationIsBehind(m: AnnouncedMembership, now: number): boolean {
  return statementOf(m, now) !== undefined;
}

/** Writes what {@link decideConfiguration} says, with its line for people when the state is another one. */
export async function keepConfiguration(m: AnnouncedMembership, hold: Hold, deps: AnnounceDependencies): Promise<void> {
  const { store, clock, telemetry } = deps;
  const { cluster, assignment, protocol } = m.membership;
  const statement = statementOf(m, clock.now().getTime());
  if (statement === undefined || !hold.mayWrite()) return;
  const { fence } = hold;
  const observedAt = Math.max(statement.observedAt, m.configuration?.observedAt ?? 0);
  const condition: ObservedCondition = { ...statement, observedAt, failures: 0, assignment, fence };
  const event = m.configuration?.status === statement.status ? undefined : eventOf(statement);
  const area = { cluster, protocol, area: ANNOUNCE_AREA };
  const { signal } = m.controller;
  const written = await store.writeConditions(area, { [CONFIGURATION_TYPE]: condition }, { event }, signal);
  if (!written.ok || signal.aborted) return;
  if (written.value.kind === "outdated") return m.forgetTable();
  m.configuration = { ...statement, observedAt };
  if (written.value.kind !== "written" || event === undefined) return;
  telemetry.transition("configuration in force changed", {
    cluster,
    fence,
    outcome: event.kind,
    cause: event.cause ?? "",
  });
}

/** Without a connection `Ready` says it all, and with none yet nothing is known. */
function statementOf(m: AnnouncedMembership, now: number): ConfigurationStatement | undefined {
  if (m.published === undefined || m.resting || m.link === undefined) return undefined;
  return decideConfiguration(m.configuration, m.readFault, now);
}

function eventOf({ status, cause, message, observedAt }: ConfigurationStatement): NewHistoryEvent {
  const event = {
    at: observedAt,
    protocol: "antrea",
    kind: { True: "ConfigurationInForce", False: "ConfigurationNotInForce", Unknown: "MemberUnread" }[status],
    message: status === "True" ? "What the member names is in force" : message,
  } as const;
  return cause === undefined ? event : { ...event, cause };
}
