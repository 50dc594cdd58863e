import { Command } from "commander";
import type { HubAcceptOptions } from "./hub-accept.ts";

/** `hawser hub`: what an administrator of an Open Cluster Management hub does for clusters that join. */
export function hubCommand(): Command {
  const accept = new Command("accept")
    .description(
      "Accepts a cluster that waits at its hub, and approves its pending certificate requests. Can be repeated at any time.",
    )
    .argument("<cluster>", "name of the ManagedCluster")
    .requiredOption("--kubeconfig <file>", "kubeconfig of an administrator of the hub")
    .option("--context <name>", "context of the kubeconfig (default: its current one)")
    .action(async (cluster: string, options: HubAcceptOptions) => {
      const { hubAccept } = await import("./hub-accept.ts");
      process.exitCode = await hubAccept(cluster, options);
    });
  return new Command("hub").description("Works on an Open Cluster Management hub.").addCommand(accept);
}
