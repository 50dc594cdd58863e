import { systemClock } from "../../lib/base/clock.ts";
import { systemIds } from "../../lib/base/ids.ts";
import { systemRandom } from "../../lib/base/random.ts";
import { type PauseOutcome, setPaused } from "../../lib/runtime/pause.ts";
import { openState } from "../../lib/state/state.ts";
import { CommandError, EXIT, type ExitCode } from "./exit-codes.ts";
import { resolveTarget, type TargetOptions } from "./target.ts";

/** Longest time for the whole change, in milliseconds. */
const TIMEOUT_MS = 30_000;

/** Lets one cluster rest or ends its rest; answers the exit code. */
export async function pauseOne(cluster: string, paused: boolean, options: TargetOptions): Promise<ExitCode> {
  const target = resolveTarget(options);
  const clock = systemClock;
  const store = openState({
    tableName: target.table,
    region: target.region,
    ...(target.endpoints === undefined ? {} : { endpoint: target.endpoints.dynamodb }),
    ...(target.credentials === undefined ? {} : { credentials: target.credentials }),
    clock,
    random: systemRandom,
    ids: systemIds(clock, systemRandom),
  });
  const key = { cluster, protocol: "antrea" } as const;
  try {
    const done = await setPaused(key, paused, { store, clock }, AbortSignal.timeout(TIMEOUT_MS));
    if (!done.ok) throw new CommandError(done.error.message);
    console.log(`${cluster}: ${wordsOf(done.value, paused)}`);
    return done.value === "absent" || done.value === "leaving" ? EXIT.failed : EXIT.ok;
  } finally {
    store.close();
  }
}

function wordsOf(outcome: PauseOutcome, paused: boolean): string {
  switch (outcome) {
    case "paused":
      return "paused; its beats stop within 20 seconds";
    case "resumed":
      return "resumed; its beats begin again within 20 seconds";
    case "unchanged":
      return paused ? "is paused already" : "is not paused";
    case "absent":
      return "there is no such membership";
    case "leaving":
      return "is leaving";
  }
}
