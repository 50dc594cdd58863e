import { runShort } from "../relay/short-run.ts";
import type { Membership } from "../state/membership.ts";
import type { Invocation } from "./handler.ts";
import { leave } from "./leave.ts";
import type { LeavePorts } from "./leave-ports.ts";
import { lifecycleFault, withLifecycle } from "./lifecycle.ts";
import { scheduleSettings } from "./schedule-settings.ts";
import { type SweepPorts, type SweepReport, sweep } from "./sweep.ts";
import { type Parts, wireParts } from "./wiring.ts";
import { leavePorts } from "./wiring-leave.ts";

/** Leaves that are found by a sweep have mostly been seen by the windows long since, in milliseconds. */
const STOP_MS = 15_000;

/** What came of an invocation; one that finds another sweep at work does nothing. */
export type SweepAnswer = ({ readonly kind: "worked" } & SweepReport) | { readonly kind: "heldByOther" };

/** Sweeps once. */
export type RunSweep = (event: unknown, invocation: Invocation) => Promise<SweepAnswer>;

/** Sweeping with its adapters. The event says nothing that matters: a sweep looks at everything. */
export function wireSweep(): RunSweep {
  const parts = wireParts();
  const ports = leavePorts(parts);
  return async (_event, invocation) => {
    parts.awake();
    return await sweepOnce(parts, ports, invocation);
  };
}

async function sweepOnce(parts: Parts, leaving: LeavePorts, { signal, log }: Invocation): Promise<SweepAnswer> {
  const { config, state, clock, ids } = parts;
  const settings = scheduleSettings(config);
  const ports: SweepPorts = {
    ...leaving,
    shards: state,
    memberships: state,
    leaveOn: async (membership, limit) => await leaveOn(parts, leaving, membership, limit),
  };
  const key = { role: "sweep", scope: "all" };
  const options = { key, store: state.batons, clock, ids, deployedAt: config.deployedAt, signal };
  const run = await runShort(options, async (hold) => await sweep(settings, ports, hold));
  if (run.kind === "heldByOther") return { kind: "heldByOther" };
  const swept = run.kind === "storeUnavailable" ? { ok: false as const, error: run.failure } : run.value;
  if (!swept.ok) throw new Error(`sweep: the state table could not be used: ${swept.error.message}`);
  const { schedules, left, joined, faults } = swept.value;
  if (schedules.length + left.length + joined.length > 0) log.info("swept", { schedules, left, joined });
  for (const why of faults) log.warn("sweep could not finish", { why });
  return { kind: "worked", ...swept.value };
}

async function leaveOn(
  parts: Parts,
  ports: LeavePorts,
  membership: Membership,
  signal: AbortSignal,
): ReturnType<SweepPorts["leaveOn"]> {
  const settings = { ...scheduleSettings(parts.config), begin: false, force: false, stopMs: STOP_MS };
  const run = await withLifecycle(parts, membership, signal, (hold) => leave(membership, settings, ports, hold));
  if (run.kind === "heldByOther") return "busy";
  if (run.kind === "storeUnavailable") return { message: lifecycleFault(run).problem };
  return run.value.ok ? "left" : { message: run.value.errors.map(({ problem }) => problem).join("; ") };
}
