import { ApiClient, type ApiRecord } from "../api-client/api-client.ts";
import { acceptCluster } from "./acceptance.ts";
import { followEach } from "./follow-each.ts";
import { HubWebhook, type WebhookOptions } from "./hub-webhook.ts";
import { reviewRequest } from "./request-approval.ts";
import type { AutoApproval } from "./request-rules.ts";
import { paths } from "./resources.ts";

/** What a hub needs. */
export interface HubOptions extends WebhookOptions {
  /** Kubeconfig of the hub's own ServiceAccount. */
  readonly kubeconfig: string;
  /** Context of the kubeconfig; absent: its current one. */
  readonly context?: string;
  /** Whether new clusters are accepted, and their first requests approved for these users, without a person. */
  readonly autoApproval: AutoApproval;
}

/** A running hub. */
export interface Hub {
  /** Ends controllers and webhooks; the API server then refuses changes of ManagedClusters. */
  stop(): Promise<void>;
}

/**
 * The controllers and webhooks of an Open Cluster Management hub, as far as registration depends on them. They speak only
 * the Kubernetes API, so that they work on a real API server as on the simulated one; certificates are signed by the
 * cluster's own signer.
 * @throws when the webhooks cannot be registered; nothing is left running then
 */
export async function startHub(options: HubOptions): Promise<Hub> {
  const client = new ApiClient(options.kubeconfig, options.context);
  const { clock, autoApproval } = options;
  const ended = new AbortController();
  const webhook = new HubWebhook(client, options);
  const close = async (): Promise<void> => {
    await webhook.stop();
    await client.close();
  };
  try {
    await webhook.start();
  } catch (error) {
    await close();
    throw error;
  }
  const acceptance = { client, clock, automatic: autoApproval.enabled };
  const follow = (path: string, each: (object: ApiRecord) => Promise<void>): Promise<void> =>
    followEach({ client, clock, path, work: each }, ended.signal);
  const work = Promise.all([
    follow(paths.managedClusters, (cluster) => acceptCluster(acceptance, cluster)),
    follow(paths.requests, (csr) => reviewRequest(client, clock, autoApproval, csr)),
  ]);
  return {
    stop: async () => {
      ended.abort();
      await close();
      await work;
    },
  };
}
