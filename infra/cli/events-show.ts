import { systemClock } from "../../lib/base/clock.ts";
import { PROTOCOLS } from "../../lib/state/membership.ts";
import { type EventView, readEvents } from "../../lib/status/events.ts";
import type { EventsOptions } from "./events.ts";
import { CommandError, EXIT, type ExitCode } from "./exit-codes.ts";
import { openTargetState } from "./status-reader.ts";
import { resolveTarget } from "./target.ts";

/** Longest time for the whole reading, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Shows the history of one cluster; answers the exit code. */
export async function showEvents(cluster: string, options: EventsOptions): Promise<ExitCode> {
  const state = openTargetState(resolveTarget(options), systemClock);
  try {
    const since = options.since === undefined ? {} : { since: systemClock.now().getTime() - options.since };
    const read = await readEvents(state, cluster, since, AbortSignal.timeout(TIMEOUT_MS));
    if (!read.ok) throw new CommandError(read.error.message);
    for (const event of read.value) console.log(options.json === true ? JSON.stringify(event) : lineOf(event));
    if (read.value.length > 0) return EXIT.ok;
    const known = await Promise.all(
      PROTOCOLS.map((protocol) => state.readMembership(cluster, protocol, AbortSignal.timeout(TIMEOUT_MS))),
    );
    if (known.every((membership) => membership.ok && membership.value === undefined)) {
      throw new CommandError(
        `${cluster}: there is no such membership, and no history of one; hawser status lists them all`,
      );
    }
    if (options.json !== true) console.log(`${cluster}: no events`);
    return EXIT.ok;
  } finally {
    state.close();
  }
}

function lineOf({ at, protocol, kind, cause, message }: EventView): string {
  return `${at}  ${protocol}  ${cause === undefined ? kind : `${kind} (${cause})`}  ${message}`;
}
