import { readFileSync } from "node:fs";
import { systemClock } from "../../lib/base/clock.ts";
import { ApiClient } from "../local/api-client/api-client.ts";
import { type Acceptance, acceptByHand } from "../local/hub/accept-by-hand.ts";
import { CommandError, EXIT, type ExitCode } from "./exit-codes.ts";

/** Options of `hawser hub accept`. */
export interface HubAcceptOptions {
  readonly kubeconfig: string;
  readonly context?: string;
}

/** Accepts a cluster at its hub and tells what was approved. @throws CommandError when the hub does not let it */
export async function hubAccept(cluster: string, { kubeconfig, context }: HubAcceptOptions): Promise<ExitCode> {
  const acceptance = await attempt(async () => {
    const client = new ApiClient(readFileSync(kubeconfig, "utf8"), context);
    try {
      return await acceptByHand(client, systemClock, cluster);
    } finally {
      await client.close();
    }
  });
  if (acceptance.kind === "noSuchCluster") {
    throw new CommandError(`the hub has no ManagedCluster ${cluster}: has the cluster begun to join?`);
  }
  const { approved, unrecognised } = acceptance;
  console.log(`${cluster}: accepted; approved: ${approved.length === 0 ? "nothing was pending" : approved.join(", ")}`);
  if (unrecognised.length === 0) return EXIT.ok;
  console.log(`not approved, their subject is not ${cluster}'s: ${unrecognised.join(", ")}`);
  return EXIT.degraded;
}

async function attempt(work: () => Promise<Acceptance>): Promise<Acceptance> {
  try {
    return await work();
  } catch (error) {
    throw new CommandError(error instanceof Error ? error.message : String(error));
  }
}
