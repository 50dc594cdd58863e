import { createLogUpdate } from "log-update";
import { systemClock } from "../../lib/base/clock.ts";
import { type FleetView, isHealthy, readFleet } from "../../lib/status/fleet.ts";
import type { StatusReader } from "../../lib/status/ports.ts";
import { CommandError, EXIT, type ExitCode } from "./exit-codes.ts";
import { fleetTable } from "./fleet-table.ts";
import type { StatusOptions } from "./status.ts";
import { statusReader } from "./status-reader.ts";
import { resolveTarget } from "./target.ts";

/** Longest time for one reading of the fleet, in milliseconds. */
const READ_TIMEOUT_MS = 30_000;

/** How often `--watch` reads, in milliseconds. */
const WATCH_INTERVAL_MS = 2_000;

/** Shows the fleet once or again and again; answers the exit code. */
export async function showStatus(options: StatusOptions): Promise<ExitCode> {
  const reader = statusReader(resolveTarget(options), systemClock);
  return options.watch === true ? await watch(reader, options) : await once(reader, options);
}

async function once(reader: StatusReader, options: StatusOptions): Promise<ExitCode> {
  const fleet = await read(reader, new AbortController().signal);
  console.log(options.json === true ? JSON.stringify(fleet, null, 2) : show(fleet));
  return isHealthy(fleet) ? EXIT.ok : EXIT.degraded;
}

async function watch(reader: StatusReader, options: StatusOptions): Promise<ExitCode> {
  const ended = new AbortController();
  process.once("SIGINT", () => ended.abort());
  process.once("SIGTERM", () => ended.abort());
  const update = createLogUpdate(process.stdout, { showCursor: true });
  while (!ended.signal.aborted) {
    try {
      const fleet = await read(reader, ended.signal);
      if (options.json === true) console.log(JSON.stringify(fleet));
      else if (process.stdout.isTTY) update(show(fleet));
      else console.log(`${show(fleet)}\n`);
    } catch (error) {
      if (!ended.signal.aborted) throw error;
    }
    await systemClock.sleep(WATCH_INTERVAL_MS, ended.signal);
  }
  update.done();
  return EXIT.ok;
}

async function read(reader: StatusReader, signal: AbortSignal): Promise<FleetView> {
  const fleet = await readFleet(reader, systemClock, AbortSignal.any([signal, AbortSignal.timeout(READ_TIMEOUT_MS)]));
  if (!fleet.ok) throw new CommandError(fleet.error.message);
  return fleet.value;
}

function show(fleet: FleetView): string {
  if (fleet.memberships.length === 0) return 'No memberships. "hawser join -f FILE" makes the first one.';
  return fleetTable(fleet, Date.parse(fleet.at));
}
