import { type WindowMode, watchRole } from "../antrea/watch-role.ts";
import { runWindow } from "../relay/window.ts";
import type { WindowResult } from "../relay/window-options.ts";
import type { Config } from "./config.ts";
import type { Invocation } from "./handler.ts";
import { createRoleMetrics } from "./metrics.ts";
import { applyEffects, effectsOfEvent, failureOfWindow } from "./outcome-effects.ts";
import { parseShardEvent } from "./shard-event.ts";
import { createWatchTelemetry } from "./watch-telemetry.ts";
import { type Parts, wireParts } from "./wiring.ts";

const ROLE = "watch";

/** How long a windowed window watches once it has taken in what had come, in milliseconds. */
const POLL_MS = 10_000;

/** Works one window of the role `watch`. */
export type RunWatch = (event: unknown, invocation: Invocation) => Promise<WindowResult>;

/** The role `watch` with its adapters. */
export function wireWatch(): RunWatch {
  const parts = wireParts();
  return async (event, invocation) => await runWatch(parts, event, invocation);
}

async function runWatch(parts: Parts, event: unknown, invocation: Invocation): Promise<WindowResult> {
  const { config, clock, random, ids, state } = parts;
  const { shard } = parseShardEvent(ROLE, event);
  const { log } = invocation;
  const facts = { role: ROLE, shard };
  const metrics = createRoleMetrics(clock, { stage: config.stage, ...facts });
  parts.awake();
  const telemetry = createWatchTelemetry({ log, metrics }, { ...facts, protocol: "antrea" });
  const deps = { clock, random, store: state, connector: parts.clusters, telemetry };
  const result = await runWindow({
    key: { role: ROLE, scope: shard },
    shard,
    store: state.batons,
    revisions: state.batons,
    work: watchRole(shard, deps, { mode: modeOf(config, shard) }),
    clock,
    random,
    ids,
    remainingMs: invocation.remainingMs,
    deployedAt: config.deployedAt,
    // What has come is not lost by a gap: a second window that waits would be paid for nothing.
    standby: "cold",
    // A holder without the table may not write to members: what it does there must be in the table first.
    repeatable: false,
    signal: invocation.signal,
    observe: (observed) => applyEffects(effectsOfEvent(observed), log, metrics, facts),
  });
  metrics.flush();
  const failure = failureOfWindow(result);
  if (failure !== undefined) throw new Error(`${ROLE} of shard ${shard}: ${failure}`);
  return result;
}

/** The stage's mode, and the other one for the shards that are named. */
function modeOf({ watchMode, watchModeExcept }: Config, shard: string): WindowMode {
  const isWindowed = (watchMode === "windowed") !== watchModeExcept.includes(shard);
  return isWindowed ? { kind: "windowed", pollMs: POLL_MS } : { kind: "continuous" };
}
