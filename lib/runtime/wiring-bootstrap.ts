import { LambdaClient } from "@aws-sdk/client-lambda";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { ok } from "../base/result.ts";
import { isFree } from "../relay/baton.ts";
import { DEFAULT_TIMING } from "../relay/timing.ts";
import { SdkScheduler } from "../schedule/scheduler.ts";
import type { MembershipSpec } from "../state/membership.ts";
import { parseMembershipDocument } from "../state/membership-document.ts";
import { antreaJoin } from "./antrea-join.ts";
import { FunctionInvoker } from "./function-invoker.ts";
import type { Invocation } from "./handler.ts";
import { type JoinAnswer, join } from "./join.ts";
import type { JoinPorts } from "./join-ports.ts";
import { lifecycleFault, withLifecycle } from "./lifecycle.ts";
import { type MoveAnswer, type MovePorts, type MoveRequest, move, parseMoveEvent } from "./move.ts";
import { scheduleSettings } from "./schedule-settings.ts";
import { type Parts, wireParts } from "./wiring.ts";

/** One visit to the member, and the first announce, in milliseconds each. */
const STEP_MS = 10_000;

/** Joins the cluster of a membership document, or moves a membership to another shard. */
export type RunBootstrap = (event: unknown, invocation: Invocation) => Promise<JoinAnswer | MoveAnswer>;

/** Joining and moving with their adapters. */
export function wireBootstrap(): RunBootstrap {
  const parts = wireParts();
  const ports = joinPorts(parts);
  return async (event, invocation) => {
    const request = parseMoveEvent(event);
    if (request !== undefined) {
      parts.awake();
      return request.ok ? await moveOne(request.value, parts, ports, invocation) : { ok: false, errors: request.error };
    }
    const document = parseMembershipDocument(event);
    if (!document.ok) return { ok: false, errors: document.error, steps: [] };
    parts.awake();
    return await joinOne(document.value, parts, ports, invocation);
  };
}

async function joinOne(
  spec: MembershipSpec,
  parts: Parts,
  ports: JoinPorts,
  { signal, log, requestId }: Invocation,
): Promise<JoinAnswer> {
  const settings = { ...scheduleSettings(parts.config), createdBy: `invocation ${requestId}` };
  const run = await withLifecycle(parts, spec, signal, async (hold) => await join(spec, settings, ports, hold));
  const answer: JoinAnswer =
    run.kind === "worked" ? run.value : { ok: false, errors: [lifecycleFault(run)], steps: [] };
  const { cluster, protocol } = spec;
  const steps = answer.steps.map(({ step, outcome }) => `${step}:${outcome}`);
  log.info("join ended", { cluster, protocol, outcome: answer.ok ? "joined" : "incomplete", steps });
  return answer;
}

async function moveOne(
  request: MoveRequest,
  parts: Parts,
  ports: MovePorts,
  { signal, log }: Invocation,
): Promise<MoveAnswer> {
  const settings = scheduleSettings(parts.config);
  const run = await withLifecycle(parts, request, signal, async (hold) => await move(request, settings, ports, hold));
  const answer: MoveAnswer = run.kind === "worked" ? run.value : { ok: false, errors: [lifecycleFault(run)] };
  const { cluster, protocol } = request;
  const moved = answer.ok ? { outcome: "moved", shard: answer.to } : { outcome: "incomplete" };
  log.info("move ended", { cluster, protocol, ...moved });
  return answer;
}

function joinPorts({ config, clock, ids, state, clusters, credentials }: Parts): JoinPorts & MovePorts {
  const invoker = new FunctionInvoker(new LambdaClient({ maxAttempts: 3 }), clock, config.functionArnPrefix);
  const { parameterPrefix } = config;
  return {
    protocol: antreaJoin({ clock, connector: clusters, timeoutMs: STEP_MS, credentials, parameterPrefix }),
    memberships: state,
    shards: state,
    scheduler: new SdkScheduler(new SchedulerClient({ maxAttempts: 3 }), clock, ids),
    isWorked: async ({ role, shard }, signal) => {
      const read = await state.batons.read({ role, scope: shard }, signal);
      if (!read.ok) return read;
      return ok(read.value !== undefined && !isFree(read.value, clock.now().getTime(), DEFAULT_TIMING));
    },
    invoke: async (event, signal) => await invoker.invoke(event, signal),
    now: () => clock.now().getTime(),
  };
}
