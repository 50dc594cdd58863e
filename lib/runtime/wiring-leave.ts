import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { ok } from "../base/result.ts";
import { isFree } from "../relay/baton.ts";
import { DEFAULT_TIMING } from "../relay/timing.ts";
import { SdkScheduler } from "../schedule/scheduler.ts";
import { antreaLeave } from "./antrea-leave.ts";
import type { Invocation } from "./handler.ts";
import { leave } from "./leave.ts";
import type { LeaveAnswer } from "./leave-answer.ts";
import { parseLeaveEvent } from "./leave-event.ts";
import type { LeavePorts } from "./leave-ports.ts";
import { lifecycleFault, withLifecycle } from "./lifecycle.ts";
import { SHARD_ROLES } from "./roles.ts";
import { scheduleSettings } from "./schedule-settings.ts";
import { type Parts, wireParts } from "./wiring.ts";

/** All that is done in the member, and all that is done in the leader, in milliseconds each. */
const PART_MS = 25_000;

/** A window sees within two intervals that a membership leaves; the baton of one that was killed expires after 30 s. */
const STOP_MS = 35_000;

/** Leaves the hub of a cluster. */
export type RunLeave = (event: unknown, invocation: Invocation) => Promise<LeaveAnswer>;

/** Leaving with its adapters. */
export function wireLeave(): RunLeave {
  const parts = wireParts();
  const ports = leavePorts(parts);
  return async (event, { signal, log }) => {
    const request = parseLeaveEvent(event);
    if (!request.ok) return { ok: false, errors: request.error, underWay: false, steps: [] };
    parts.awake();
    const { force, ...key } = request.value;
    const settings = { ...scheduleSettings(parts.config), begin: true, force, stopMs: STOP_MS };
    const run = await withLifecycle(parts, key, signal, async (hold) => await leave(key, settings, ports, hold));
    const answer: LeaveAnswer =
      run.kind === "worked" ? run.value : { ok: false, errors: [lifecycleFault(run)], underWay: false, steps: [] };
    const steps = answer.steps.map(({ step, outcome }) => `${step}:${outcome}`);
    log.info("leave ended", { ...key, outcome: answer.ok ? "left" : "incomplete", steps });
    return answer;
  };
}

/** What a leave reads and writes, in this process. */
export function leavePorts({ config, clock, random, ids, state, clusters, credentials }: Parts): LeavePorts {
  const { parameterPrefix } = config;
  const timeoutMs = PART_MS;
  return {
    clock,
    random,
    protocol: antreaLeave({ clock, connector: clusters, credentials, imports: state, parameterPrefix, timeoutMs }),
    memberships: state,
    shards: state,
    scheduler: new SdkScheduler(new SchedulerClient({ maxAttempts: 3 }), clock, ids),
    hasSeen: async (shard, revision, signal) => {
      for (const role of SHARD_ROLES) {
        const read = await state.batons.read({ role, scope: shard }, signal);
        if (!read.ok) return read;
        const free = read.value === undefined || isFree(read.value, clock.now().getTime(), DEFAULT_TIMING);
        if (!free && (read.value?.seenRevision ?? 0) < revision) return ok(false);
      }
      return ok(true);
    },
  };
}
