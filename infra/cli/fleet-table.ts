import { styleText } from "node:util";
import Table from "cli-table3";
import type { FleetView, MembershipView } from "../../lib/status/fleet.ts";

/** Columns that only some callers know. */
export interface ExtraColumns {
  readonly head: readonly string[];
  row(membership: MembershipView): readonly string[];
}

/** The fleet as a table for people; colours only where standard output is a terminal that wants them. */
export function fleetTable(fleet: FleetView, now: number, extra?: ExtraColumns): string {
  const head = ["CLUSTER", "PROTOCOL", "STATE", "SINCE", "CONDITIONS", ...(extra?.head ?? ["LAST ROUND"]), "WINDOW"];
  const rows = fleet.memberships.map((m) => [
    m.cluster,
    m.protocol,
    state(m),
    ago(m.since, now),
    m.conditions.map(condition).join(" ") || "-",
    ...(extra?.row(m) ?? [m.lastRoundAt === undefined ? "-" : ago(m.lastRoundAt, now)]),
    window(m, now),
  ]);
  return [bareTable(head, rows), ...fleet.memberships.flatMap(explain)].join("\n");
}

/** Columns without lines around them. */
export function bareTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const style = { head: [], border: [], "padding-left": 0, "padding-right": 2 };
  const table = new Table({ head: [...head], chars: BARE, style });
  for (const row of rows) table.push([...row]);
  return table
    .toString()
    .split("\n")
    .map((line) => line.trimEnd())
    .join("\n");
}

const BARE = Object.fromEntries(
  ["top", "bottom", "left", "right", "mid"]
    .flatMap((side) => [side, `${side}-mid`, `${side}-left`, `${side}-right`])
    .concat("middle")
    .map((name) => [name.replace("mid-mid", "mid-mid"), ""]),
);

/** States that somebody wanted. */
const CALM: ReadonlySet<MembershipView["state"]> = new Set(["Pending", "Paused", "Leaving"]);

function state(m: MembershipView): string {
  const text = m.cause === undefined ? m.state : `${m.state} (${m.cause})`;
  if (m.state === "Connected") return styleText("green", text);
  return styleText(CALM.has(m.state) ? "yellow" : "red", text);
}

function condition(c: MembershipView["conditions"][number]): string {
  return `${c.type}=${c.reason === "" ? c.status : `${c.status}/${c.reason}`}`;
}

function window(m: MembershipView, now: number): string {
  if (m.window === undefined) return "no holder";
  const { role, holder, fence, expiresAt, yielding, standby } = m.window;
  const left = Math.round((Date.parse(expiresAt) - now) / 1_000);
  return [
    `${role} ${holder.slice(0, 8)} fence ${fence}`,
    yielding ? "yielding" : `${left} s left`,
    ...(standby === undefined ? [] : [`standby ${standby.slice(0, 8)}`]),
  ].join(", ");
}

/** What is wrong, in full, below the table. */
function explain(m: MembershipView): string[] {
  const lines = m.conditions
    .filter((c) => c.message !== "" && (c.failures > 0 || (c.status !== "True" && needsWords(m, c))))
    .map((c) => `${m.cluster}: ${c.type}: ${c.message}`);
  return m.note === undefined ? lines : [`${m.cluster}: ${m.note}`, ...lines];
}

/** One that only waits for its turn, beside a connection that works, does not. */
function needsWords(m: MembershipView, c: MembershipView["conditions"][number]): boolean {
  return m.state !== "Connected" || c.cause !== undefined;
}

/** A duration since then, short: `12 s`, `3 min`, `5 h`, `2 d`. */
export function ago(stamp: string, now: number): string {
  const seconds = Math.max(0, Math.round((now - Date.parse(stamp)) / 1_000));
  if (seconds < 120) return `${seconds} s`;
  if (seconds < 7_200) return `${Math.round(seconds / 60)} min`;
  return seconds < 172_800 ? `${Math.round(seconds / 3_600)} h` : `${Math.round(seconds / 86_400)} d`;
}
