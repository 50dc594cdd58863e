import type { Clock } from "../../../lib/base/clock.ts";
import type { ApiClient, ApiRecord } from "../api-client/api-client.ts";
import { type AdmissionAnswer, type AdmissionRequest, WebhookServer } from "../leader/webhook-server.ts";
import { isAllowed } from "./access-question.ts";
import { ensureObject } from "./ensure.ts";
import { type ClusterWrite, decideCluster, mutateCluster } from "./managed-cluster-rules.ts";
import { CLUSTER_GROUP, paths } from "./resources.ts";

/** What the webhooks are served with. */
export interface WebhookOptions {
  readonly clock: Clock;
  /** Certificate of the webhooks for 127.0.0.1, with its CA. */
  readonly webhookTls: { readonly cert: string; readonly key: string; readonly ca: string };
  readonly webhookPort?: number;
}

/** The hub's webhooks for ManagedClusters: their server, and their registration with the API server. */
export class HubWebhook {
  readonly #client: ApiClient;
  readonly #options: WebhookOptions;
  readonly #server: WebhookServer;

  constructor(client: ApiClient, options: WebhookOptions) {
    this.#client = client;
    this.#options = options;
    this.#server = new WebhookServer(options.webhookTls, {
      "/mutate": (request) => Promise.resolve(this.#mutate(request)),
      "/validate": (request) => this.#validate(request),
    });
  }

  /** Serves, then tells the API server where. @throws when it refuses */
  async start(): Promise<void> {
    const url = await this.#server.start(this.#options.webhookPort);
    for (const kind of ["Mutating", "Validating"] as const) await this.#install(kind, url);
  }

  async stop(): Promise<void> {
    await this.#server.stop();
  }

  #mutate(request: AdmissionRequest): AdmissionAnswer {
    const write = readWrite(request);
    if (write === undefined) return { allowed: true };
    const mutation = mutateCluster(write, this.#options.clock.now());
    if (mutation.kind === "patched") return { allowed: true, patch: mutation.patch };
    return { allowed: false, code: mutation.code, message: mutation.message };
  }

  async #validate(request: AdmissionRequest): Promise<AdmissionAnswer> {
    const write = readWrite(request);
    if (write === undefined) return { allowed: true };
    const verdict = decideCluster(write);
    if (verdict.kind === "refused") return { allowed: false, code: verdict.code, message: verdict.message };
    for (const right of verdict.rights) {
      if (await isAllowed(this.#client, request.userInfo, right)) continue;
      const what = `${right.verb} ${right.resource}/${right.subresource}.${right.group} "${right.name ?? ""}"`;
      return { allowed: false, code: 403, message: `user "${request.userInfo.username}" is not allowed to ${what}` };
    }
    return verdict.accepts ? await this.#checkNamespace(write.object.metadata.name) : { allowed: true };
  }

  /** Rights would end with a Namespace that is going. */
  async #checkNamespace(cluster: string): Promise<AdmissionAnswer> {
    const { code, body } = await this.#client.request("GET", `${paths.namespaces}/${cluster}`);
    if (code !== 404 && code !== 200) throw new Error(`read Namespace ${cluster}: ${code} ${body.message ?? ""}`);
    const ending = code === 200 && (body["status"] as { phase?: string } | undefined)?.phase === "Terminating";
    if (!ending) return { allowed: true };
    return {
      allowed: false,
      code: 400,
      message: `Namespace ${cluster} is Terminating: accept the cluster once it is gone`,
    };
  }

  async #install(kind: "Mutating" | "Validating", url: string): Promise<void> {
    const name = `managedcluster${kind === "Mutating" ? "mutators" : "validators"}.admission.${CLUSTER_GROUP}`;
    const body = configuration(kind, name, `${url}/${kind === "Mutating" ? "mutate" : "validate"}`, this.#options);
    await ensureObject(this.#client, `${paths.webhooks}/${kind.toLowerCase()}webhookconfigurations`, body);
  }
}

function readWrite({ operation, object, oldObject }: AdmissionRequest): ClusterWrite | undefined {
  const written = operation === "CREATE" || operation === "UPDATE";
  return written && object ? { object, oldObject: oldObject ?? undefined } : undefined;
}

function configuration(kind: string, name: string, url: string, { webhookTls }: WebhookOptions): ApiRecord {
  return {
    apiVersion: "admissionregistration.k8s.io/v1",
    kind: `${kind}WebhookConfiguration`,
    metadata: { name },
    webhooks: [
      {
        name,
        clientConfig: { url, caBundle: Buffer.from(webhookTls.ca).toString("base64") },
        rules: [
          {
            apiGroups: [CLUSTER_GROUP],
            apiVersions: ["v1"],
            resources: ["managedclusters"],
            operations: ["CREATE", "UPDATE"],
            scope: "*",
          },
        ],
        admissionReviewVersions: ["v1"],
        failurePolicy: "Fail",
        sideEffects: "None",
        timeoutSeconds: 10,
      },
    ],
  };
}
