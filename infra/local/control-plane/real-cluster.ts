import type { Clock } from "../../../lib/base/clock.ts";
import { ApiClient, type ApiRecord } from "../api-client/api-client.ts";
import type { CertificateAuthority } from "../cluster/certificates.ts";
import { kubeconfigYaml } from "../cluster/kubeconfig.ts";
import type { KubeconfigFor } from "../cluster/simulated-cluster.ts";
import { applyManifests, eventually } from "./apply.ts";

/** How long a requested token is good, in seconds: longer than any test or local world. */
const TOKEN_SECONDS = 86_400;

/** A real API server, with an administrator's rights. */
export class RealCluster {
  readonly name: string;
  readonly url: string;
  readonly caPem: string;
  /** Reads and writes as the administrator. */
  readonly admin: ApiClient;
  readonly #adminKubeconfig: string;
  readonly #authority: CertificateAuthority | undefined;
  readonly #clock: Clock;
  readonly #created: string[] = [];

  /**
   * @param authority the cluster's certificate authority, where it is ours
   * @throws when the kubeconfig cannot be used
   */
  constructor(name: string, adminKubeconfig: string, clock: Clock, authority?: CertificateAuthority) {
    this.name = name;
    this.admin = new ApiClient(adminKubeconfig);
    this.url = this.admin.server;
    this.caPem = this.admin.ca;
    this.#adminKubeconfig = adminKubeconfig;
    this.#authority = authority;
    this.#clock = clock;
  }

  /** A kubeconfig that may do everything. */
  adminKubeconfig(): string {
    return this.#adminKubeconfig;
  }

  /** A kubeconfig for a ServiceAccount, or for a user by token or by client certificate. */
  async kubeconfigFor(whom: KubeconfigFor): Promise<string> {
    const base = { cluster: this.name, server: this.url, caPem: this.caPem };
    if ("serviceAccount" in whom) {
      const { namespace, name } = whom.serviceAccount;
      const credential = { token: await this.tokenFor(namespace, name) };
      return kubeconfigYaml({ ...base, user: name, credential, namespace });
    }
    if ("token" in whom) return kubeconfigYaml({ ...base, user: whom.user, credential: { token: whom.token } });
    if (this.#authority === undefined) throw new Error(`the certificate authority of ${this.name} is not ours`);
    const certificate = await this.#authority.issueClient(whom, whom.validity);
    return kubeconfigYaml({ ...base, user: whom.user, credential: { certificate } });
  }

  /** A token of a ServiceAccount: that of its token Secret where it has one, else one that is asked for. */
  async tokenFor(namespace: string, serviceAccount: string): Promise<string> {
    const secrets = await this.#call("GET", `/api/v1/namespaces/${namespace}/secrets`);
    const secret = (secrets.items ?? []).find((s) => isTokenSecret(s, serviceAccount));
    if (secret !== undefined) return await this.#tokenOf(namespace, secret.metadata.name);
    const answer = await this.#call("POST", `/api/v1/namespaces/${namespace}/serviceaccounts/${serviceAccount}/token`, {
      apiVersion: "authentication.k8s.io/v1",
      kind: "TokenRequest",
      spec: { expirationSeconds: TOKEN_SECONDS },
    });
    return (answer["status"] as { token: string }).token;
  }

  /** Applies the objects of a YAML text; resources of CustomResourceDefinitions are served when it returns. */
  async applyManifests(yamlText: string): Promise<void> {
    const applied = await applyManifests(this.admin, this.#clock, yamlText);
    this.#created.push(...applied.filter((object) => object.created).map((object) => object.path));
  }

  /** Deletes what `applyManifests` has made, last first, and waits for it to be gone. */
  async removeApplied(): Promise<void> {
    for (const path of this.#created.splice(0).toReversed()) {
      await eventually(this.#clock, `${path} in ${this.name} to be gone`, async () => {
        const { code } = await this.admin.request("DELETE", path);
        return code === 404 ? true : undefined;
      });
    }
  }

  /** Ends the administrator's connections; the server goes on. */
  async close(): Promise<void> {
    await this.admin.close();
  }

  /** The token that the controller fills in. */
  async #tokenOf(namespace: string, secret: string): Promise<string> {
    return await eventually(this.#clock, `the token in Secret ${namespace}/${secret} of ${this.name}`, async () => {
      const { data } = (await this.#call("GET", `/api/v1/namespaces/${namespace}/secrets/${secret}`)) as {
        data?: { token?: string };
      };
      return data?.token === undefined ? undefined : Buffer.from(data.token, "base64").toString("utf8");
    });
  }

  async #call(method: string, path: string, body?: object): Promise<ApiRecord & { items?: ApiRecord[] }> {
    const answer = await this.admin.request(method, path, body);
    if (answer.code >= 300) {
      throw new Error(`${this.name} answers ${method} ${path} with ${answer.code}: ${answer.body.message ?? ""}`);
    }
    return answer.body;
  }
}

function isTokenSecret(secret: ApiRecord, serviceAccount: string): boolean {
  const account = secret.metadata.annotations?.["kubernetes.io/service-account.name"];
  return secret["type"] === "kubernetes.io/service-account-token" && account === serviceAccount;
}
