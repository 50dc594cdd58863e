import { LambdaClient } from "@aws-sdk/client-lambda";
import { SchedulerClient } from "@aws-sdk/client-scheduler";
import { ok } from "../base/result.ts";
import { isFree } from "../relay/baton.ts";
import { DEFAULT_TIMING } from "../relay/timing.ts";
import { SdkScheduler } from "../schedule/scheduler.ts";
import { parseMembershipDocument } from "../state/membership-document.ts";
import { antreaJoin } from "./antrea-join.ts";
import { FunctionInvoker } from "./function-invoker.ts";
import type { Invocation } from "./handler.ts";
import { type JoinAnswer, join } from "./join.ts";
import type { JoinPorts } from "./join-ports.ts";
import { type Parts, wireParts } from "./wiring.ts";

/** The roles that work for an Antrea membership. */
const ANTREA_ROLES = ["announce"] as const;

/** One visit to the member, and the first announce, in milliseconds each. */
const STEP_MS = 10_000;

/** Joins the cluster of a membership document. */
export type RunBootstrap = (event: unknown, invocation: Invocation) => Promise<JoinAnswer>;

/** Joining with its adapters. */
export function wireBootstrap(): RunBootstrap {
  const parts = wireParts();
  const ports = joinPorts(parts);
  return async (event, { signal, log, requestId }) => {
    const document = parseMembershipDocument(event);
    if (!document.ok) return { ok: false, errors: document.error, steps: [] };
    parts.awake();
    const { config } = parts;
    const settings = {
      stage: config.stage,
      group: config.scheduleGroup,
      functionArnPrefix: config.functionArnPrefix,
      roleArn: config.schedulerRoleArn,
      deadLetterArn: config.deadLetterArn,
      roles: ANTREA_ROLES,
      createdBy: `invocation ${requestId}`,
    };
    const answer = await join(document.value, settings, ports, signal);
    const { cluster, protocol } = document.value;
    const steps = answer.steps.map(({ step, outcome }) => `${step}:${outcome}`);
    log.info("join ended", { cluster, protocol, outcome: answer.ok ? "joined" : "incomplete", steps });
    return answer;
  };
}

function joinPorts({ config, clock, ids, state, clusters }: Parts): JoinPorts {
  const invoker = new FunctionInvoker(new LambdaClient({ maxAttempts: 3 }), clock, config.functionArnPrefix);
  return {
    protocol: antreaJoin({ clock, connector: clusters, timeoutMs: STEP_MS }),
    memberships: state,
    scheduler: new SdkScheduler(new SchedulerClient({ maxAttempts: 3 }), clock, ids),
    isWorked: async ({ role, shard }, signal) => {
      const read = await state.batons.read({ role, scope: shard }, signal);
      if (!read.ok) return read;
      return ok(read.value !== undefined && !isFree(read.value, clock.now().getTime(), DEFAULT_TIMING));
    },
    invoke: async (event, signal) => await invoker.invoke(event, signal),
  };
}
