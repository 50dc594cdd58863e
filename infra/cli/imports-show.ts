import { styleText } from "node:util";
import { systemClock } from "../../lib/base/clock.ts";
import type { State } from "../../lib/state/state.ts";
import { type ImportView, isCalm, readImports } from "../../lib/status/imports.ts";
import { CommandError, EXIT, type ExitCode } from "./exit-codes.ts";
import { ago, bareTable } from "./fleet-table.ts";
import type { ImportsOptions } from "./imports.ts";
import { openTargetState } from "./status-reader.ts";
import { resolveTarget } from "./target.ts";

/** Longest time for the whole reading, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Shows the imports of one cluster; answers the exit code: degraded while one is not as it is to be. */
export async function showImports(cluster: string, options: ImportsOptions): Promise<ExitCode> {
  const state = openTargetState(resolveTarget(options), systemClock);
  try {
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    const read = await readImports(state, cluster, signal);
    if (!read.ok) throw new CommandError(read.error.message);
    const imports = read.value;
    if (imports.length === 0) await mustExist(state, cluster, signal);
    if (options.json === true) for (const one of imports) console.log(JSON.stringify(one));
    else console.log(imports.length === 0 ? `${cluster}: no imports` : importTable(imports));
    return imports.every(isCalm) ? EXIT.ok : EXIT.degraded;
  } finally {
    state.close();
  }
}

/** Without imports a name may be one that nobody has joined. */
async function mustExist(state: State, cluster: string, signal: AbortSignal): Promise<void> {
  const membership = await state.readMembership(cluster, "antrea", signal);
  if (!membership.ok) throw new CommandError(membership.error.message);
  if (membership.value !== undefined) return;
  throw new CommandError(`${cluster}: there is no such membership; hawser status lists them all`);
}

function importTable(imports: readonly ImportView[]): string {
  const now = systemClock.now().getTime();
  const rows = imports.map((one) => [one.name, one.kind, one.target, state(one), ago(one.since, now)]);
  const reasons = imports.flatMap(({ name, error }) => (error === undefined ? [] : [`${name}: ${error}`]));
  return [bareTable(["IMPORT", "KIND", "TARGET", "STATE", "SINCE"], rows), ...reasons].join("\n");
}

function state(one: ImportView): string {
  const text = one.attempts === 0 ? one.state : `${one.state} (${one.attempts} tries)`;
  if (one.state === "Applied") return styleText("green", text);
  return styleText(isCalm(one) ? "yellow" : "red", text);
}
