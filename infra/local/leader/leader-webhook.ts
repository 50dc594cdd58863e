import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient, ApiRecord } from "../api-client/api-client.ts";
import { decideAnnounce, type LeaderView } from "./announce-rules.ts";
import { paths } from "./resources.ts";
import { type AdmissionAnswer, type AdmissionRequest, WebhookServer } from "./webhook-server.ts";

/** What a leader needs. */
export interface LeaderOptions {
  /** Kubeconfig of the leader's own ServiceAccount. */
  readonly kubeconfig: string;
  /** Context of the kubeconfig; absent: its current one. */
  readonly context?: string;
  /** The common area. */
  readonly namespace: string;
  readonly clock: Clock;
  /** Certificate of the webhook for 127.0.0.1, with its CA. */
  readonly webhookTls: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly webhookPort?: number;
}

/** The leader's validating webhook: its server, and its registration with the API server. */
export class LeaderWebhook {
  readonly #client: ApiClient;
  readonly #options: LeaderOptions;
  #server: WebhookServer | undefined;
  #url = "";

  constructor(client: ApiClient, options: LeaderOptions) {
    this.#client = client;
    this.#options = options;
  }

  async start(): Promise<void> {
    if (this.#server !== undefined) return;
    this.#server = new WebhookServer(this.#options.webhookTls, {
      "/announce": (request) => this.#announce(request),
      "/clusterset": (request) => this.#clusterSet(request),
    });
    const port = this.#url === "" ? this.#options.webhookPort : Number(new URL(this.#url).port);
    this.#url = await this.#server.start(port);
  }

  async stop(): Promise<void> {
    await this.#server?.stop();
    this.#server = undefined;
  }

  /** Creates or replaces the webhook configuration with this server's address. */
  async install(): Promise<void> {
    const name = "antrea-mc-validating-webhook-configuration";
    const existing = await this.#client.request("GET", `${paths.webhooks}/${name}`);
    const body = webhookConfiguration(name, this.#url, this.#options);
    const answer =
      existing.code === 200
        ? await this.#client.request("PUT", `${paths.webhooks}/${name}`, {
            ...body,
            metadata: { name, resourceVersion: existing.body.metadata.resourceVersion },
          })
        : await this.#client.request("POST", paths.webhooks, body);
    if (answer.code >= 300)
      throw new Error(`the leader's webhook configuration: ${answer.code} ${answer.body.message ?? ""}`);
  }

  async #announce(request: AdmissionRequest): Promise<AdmissionAnswer> {
    if (request.operation === "CONNECT") return { allowed: true };
    const { namespace } = this.#options;
    const [accounts, clusterSets] = await Promise.all([
      this.#list(paths.serviceAccounts(namespace)),
      this.#list(paths.clusterSets(namespace)),
    ]);
    const view: LeaderView = { namespace, serviceAccounts: accounts, clusterSets };
    return decideAnnounce(
      {
        operation: request.operation,
        username: request.userInfo.username,
        object: request.object ?? undefined,
        oldObject: request.oldObject ?? undefined,
      },
      view,
    );
  }

  async #clusterSet(request: AdmissionRequest): Promise<AdmissionAnswer> {
    const announces = await this.#list(paths.announces(this.#options.namespace));
    if (request.operation !== "DELETE" || announces.length === 0) return { allowed: true };
    return {
      allowed: false,
      code: 412,
      message: `cannot delete ClusterSet ${request.name ?? ""}: there are MemberClusterAnnounces`,
    };
  }

  async #list(path: string): Promise<ApiRecord[]> {
    const answer = await this.#client.request("GET", path);
    if (answer.code !== 200) throw new Error(`list ${path}: ${answer.code} ${answer.body.message ?? ""}`);
    return answer.body.items ?? [];
  }
}

function webhookConfiguration(name: string, url: string, options: LeaderOptions): object {
  const common = {
    admissionReviewVersions: ["v1"],
    failurePolicy: "Fail",
    sideEffects: "None",
    timeoutSeconds: 5,
    namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": options.namespace } },
  };
  const caBundle = Buffer.from(options.webhookTls.ca).toString("base64");
  const rule = (version: string, resource: string, operations: string[]): object => ({
    apiGroups: ["multicluster.crd.antrea.io"],
    apiVersions: [version],
    resources: [resource],
    operations,
    scope: "Namespaced",
  });
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: "ValidatingWebhookConfiguration",
    metadata: { name },
    webhooks: [
      {
        name: "vmemberclusterannounce.kb.io",
        clientConfig: { url: `${url}/announce`, caBundle },
        rules: [rule("v1alpha1", "memberclusterannounces", ["CREATE", "UPDATE", "DELETE"])],
        ...common,
      },
      {
        name: "vclusterset.kb.io",
        clientConfig: { url: `${url}/clusterset`, caBundle },
        rules: [rule("v1alpha2", "clustersets", ["DELETE"])],
        ...common,
      },
    ],
  };
}
