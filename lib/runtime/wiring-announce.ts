import { announceRole } from "../antrea/announce-role.ts";
import { keptLeaderReference, serialiseKeptLeader } from "../antrea/kept-leader.ts";
import { readKeptLeader } from "../antrea/kept-leader-store.ts";
import { DEFAULT_TIMING } from "../relay/timing.ts";
import { runWindow } from "../relay/window.ts";
import type { WindowResult } from "../relay/window-options.ts";
import type { Membership } from "../state/membership.ts";
import { createBeatTelemetry } from "./beat-telemetry.ts";
import type { Invocation } from "./handler.ts";
import { createRoleMetrics } from "./metrics.ts";
import { applyEffects, effectsOfEvent, failureOfWindow } from "./outcome-effects.ts";
import { parseShardEvent } from "./shard-event.ts";
import { type Parts, wireParts } from "./wiring.ts";

const ROLE = "announce";

/** Works one window of the role `announce`. */
export type RunAnnounce = (event: unknown, invocation: Invocation) => Promise<WindowResult>;

/** The role `announce` with its adapters. */
export function wireAnnounce(): RunAnnounce {
  const parts = wireParts();
  return async (event, invocation) => await runAnnounce(parts, event, invocation);
}

async function runAnnounce(parts: Parts, event: unknown, invocation: Invocation): Promise<WindowResult> {
  const { config, clock, random, ids, state } = parts;
  const { shard } = parseShardEvent(ROLE, event);
  const { log } = invocation;
  const facts = { role: ROLE, shard };
  const metrics = createRoleMetrics(clock, { stage: config.stage, ...facts });
  parts.awake();
  const work = announceRole(shard, {
    clock,
    random,
    store: state,
    connector: parts.clusters,
    telemetry: createBeatTelemetry(
      { clock, log, metrics },
      { ...facts, protocol: "antrea" },
      DEFAULT_TIMING.intervalMs,
    ),
    mayCreate: async (membership, signal) => await isWanted(parts, membership, signal),
    keepLeader: async (cluster, kept, signal) => {
      const reference = keptLeaderReference(config.parameterPrefix, cluster);
      return (await parts.credentials.write(reference, serialiseKeptLeader(kept), signal)).ok;
    },
    readKeptLeader: async (cluster, signal) => {
      const kept = await readKeptLeader(parts.credentials, { prefix: config.parameterPrefix, cluster }, signal);
      return kept.ok ? kept.value : undefined;
    },
  });
  const result = await runWindow({
    key: { role: ROLE, scope: shard },
    shard,
    store: state.batons,
    revisions: state.batons,
    work,
    clock,
    random,
    ids,
    remainingMs: invocation.remainingMs,
    deployedAt: config.deployedAt,
    standby: config.standby,
    repeatable: true,
    signal: invocation.signal,
    observe: (event) => applyEffects(effectsOfEvent(event), log, metrics, facts),
  });
  metrics.flush();
  const failure = failureOfWindow(result);
  if (failure !== undefined) throw new Error(`${ROLE} of shard ${shard}: ${failure}`);
  return result;
}

/** An announce is made only for a membership that is not being left, by the table's own word at that moment. */
async function isWanted({ state }: Parts, { cluster, protocol }: Membership, signal: AbortSignal): Promise<boolean> {
  const read = await state.readMembership(cluster, protocol, signal);
  if (!read.ok || read.value === undefined || read.value.paused === true) return false;
  return read.value.phase === "joining" || read.value.phase === "joined";
}
