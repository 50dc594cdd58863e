import { runShort, type ShortHold, type ShortRunResult } from "../relay/short-run.ts";
import type { MembershipKey } from "../state/membership.ts";
import type { Parts } from "./wiring.ts";

/**
 * Does one thing with the life of a membership: of all joins, leaves and moves of a cluster one is at work, so that none
 * makes what another has just taken away.
 */
export async function withLifecycle<T>(
  { config, state, clock, ids }: Pick<Parts, "config" | "state" | "clock" | "ids">,
  { cluster, protocol }: MembershipKey,
  signal: AbortSignal,
  work: (hold: ShortHold) => Promise<T>,
): Promise<ShortRunResult<T>> {
  const key = { role: "lifecycle", scope: `${cluster}#${protocol}` };
  return await runShort({ key, store: state.batons, clock, ids, deployedAt: config.deployedAt, signal }, work);
}

/** Why nothing was done: another is at work for the cluster, or the table did not answer. */
export function lifecycleFault(result: Exclude<ShortRunResult<never>, { kind: "worked" }>): {
  readonly path: string;
  readonly problem: string;
  readonly remedy: string;
} {
  if (result.kind === "heldByOther") {
    const problem = "another join, leave or move of this cluster is under way";
    return {
      path: "cluster",
      problem,
      remedy: "Try again when it has ended; one that was cut off is over within a minute.",
    };
  }
  return { path: "", problem: result.failure.message, remedy: "Try again." };
}
