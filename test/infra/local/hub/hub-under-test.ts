import "reflect-metadata";
import { webcrypto } from "node:crypto";
import type { TestContext } from "node:test";
import * as x509 from "@peculiar/x509";
import { type ApiAnswer, ApiClient } from "../../../../infra/local/api-client/api-client.ts";
import { type SimulatedCluster, startSimulatedCluster } from "../../../../infra/local/cluster/simulated-cluster.ts";
import type { ApiObject } from "../../../../infra/local/cluster/types.ts";
import { type Hub, startHub } from "../../../../infra/local/hub/hub.ts";
import { hubManifests } from "../../../../infra/local/hub/manifests.ts";
import * as names from "../../../../infra/local/hub/resources.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

const ALGORITHM = { name: "ECDSA", namedCurve: "P-256", hash: "SHA-256" } as const;

/** The user name of the bootstrap identity. */
export const BOOTSTRAP_USER = `system:serviceaccount:${names.BOOTSTRAP_NAMESPACE}:${names.BOOTSTRAP_SERVICE_ACCOUNT}`;

/** The subject of a certificate request. */
export interface Subject {
  readonly CN: string | readonly string[];
  readonly O: readonly string[];
}

/** A hub over an API server of its own. */
export class HubUnderTest {
  readonly cluster: SimulatedCluster;
  #hub: Hub | undefined;
  readonly #clients: ApiClient[] = [];

  private constructor(cluster: SimulatedCluster) {
    this.cluster = cluster;
  }

  /** @param automatic whether clusters are accepted and their first requests approved by the hub itself */
  static async start(t: TestContext, automatic: boolean): Promise<HubUnderTest> {
    const clock = systemClock;
    const cluster = await startSimulatedCluster({
      name: "hub",
      clock,
      random: seededRandom(6),
      manifests: hubManifests(),
    });
    const made = new HubUnderTest(cluster);
    t.after(() => made.#end());
    made.#hub = await startHub({
      kubeconfig: await cluster.kubeconfigFor({
        serviceAccount: { namespace: names.HUB_NAMESPACE, name: names.HUB_SERVICE_ACCOUNT },
      }),
      clock,
      webhookTls: { ...(await cluster.authority.issueServer(["127.0.0.1"])), ca: cluster.caPem },
      autoApproval: { enabled: automatic, users: [BOOTSTRAP_USER] },
    });
    return made;
  }

  /** The API as the bootstrap identity. */
  async bootstrap(): Promise<ApiClient> {
    const serviceAccount = { namespace: names.BOOTSTRAP_NAMESPACE, name: names.BOOTSTRAP_SERVICE_ACCOUNT };
    return this.client(await this.cluster.kubeconfigFor({ serviceAccount }));
  }

  /** The API as an administrator. */
  admin(): ApiClient {
    return this.client(this.cluster.adminKubeconfig());
  }

  /** The API as a certificate of a registered cluster. */
  async agent(cluster: string, agent = "agent"): Promise<ApiClient> {
    const { CN, O: groups } = subjectOf(cluster, agent);
    return this.client(await this.cluster.kubeconfigFor({ user: String(CN), groups }));
  }

  client(kubeconfig: string): ApiClient {
    const client = new ApiClient(kubeconfig);
    this.#clients.push(client);
    return client;
  }

  /** What is stored of a ManagedCluster. */
  managedCluster(name: string): ApiObject | undefined {
    return this.cluster.engine.readOne(names.CLUSTER_GROUP, "managedclusters", undefined, name);
  }

  /** A cluster's condition HubAcceptedManagedCluster. */
  accepted(name: string): Record<string, string> | undefined {
    const status = this.managedCluster(name)?.["status"] as { conditions?: Record<string, string>[] } | undefined;
    return status?.conditions?.find(({ type }) => type === "HubAcceptedManagedCluster");
  }

  /** The status of a CertificateSigningRequest. */
  request(name: string): { certificate?: string; conditions?: Record<string, string>[] } {
    const csr = this.cluster.engine.readOne("certificates.k8s.io", "certificatesigningrequests", undefined, name);
    return csr?.["status"] ?? {};
  }

  async #end(): Promise<void> {
    await this.#hub?.stop();
    for (const client of this.#clients) await client.close();
    await this.cluster.stop();
  }
}

/** The subject that a cluster's agent asks for. */
export function subjectOf(cluster: string, agent = "agent"): Subject {
  const identity = `${names.SUBJECT_PREFIX}${cluster}`;
  return { CN: `${identity}:${agent}`, O: [identity, `${names.SUBJECT_PREFIX}managed-clusters`] };
}

/** Asks for a ManagedCluster as a bootstrapping agent does. */
export async function createCluster(client: ApiClient, name: string, spec: object = {}): Promise<ApiAnswer> {
  return await client.request("POST", names.paths.managedClusters, {
    apiVersion: `${names.CLUSTER_GROUP}/v1`,
    kind: "ManagedCluster",
    metadata: { name },
    spec: { hubAcceptsClient: false, ...spec },
  });
}

/** Asks for a certificate, labelled as `cluster`'s, for a subject and a new key or by a request (PEM). */
export async function createRequest(
  client: ApiClient,
  name: string,
  cluster: string,
  subject: Subject | string = subjectOf(cluster),
): Promise<ApiAnswer> {
  const request = typeof subject === "string" ? subject : await pkcs10(subject);
  return await client.request("POST", names.paths.requests, {
    apiVersion: "certificates.k8s.io/v1",
    kind: "CertificateSigningRequest",
    metadata: { name, labels: { [names.CLUSTER_LABEL]: cluster } },
    spec: {
      signerName: "kubernetes.io/kube-apiserver-client",
      usages: ["digital signature", "key encipherment", "client auth"],
      request: Buffer.from(request).toString("base64"),
    },
  });
}

/** A certificate request (PEM) with a key of its own. */
export async function pkcs10(subject: Subject): Promise<string> {
  return (await keyAndRequest(subject)).request;
}

/** A new private key (PKCS #8) and a certificate request for it, both PEM. */
export async function keyAndRequest({ CN, O }: Subject): Promise<{ readonly key: string; readonly request: string }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ["sign", "verify"]);
  const name = [...O.map((o) => ({ O: [o] })), ...[CN].flat().map((cn) => ({ CN: [cn] }))];
  const request = await x509.Pkcs10CertificateRequestGenerator.create({ name, keys, signingAlgorithm: ALGORITHM });
  const key = x509.PemConverter.encode(await webcrypto.subtle.exportKey("pkcs8", keys.privateKey), "PRIVATE KEY");
  return { key, request: request.toString("pem") };
}
