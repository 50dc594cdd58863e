import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { type ApiAnswer, ApiClient } from "../../infra/local/api-client/api-client.ts";
import { createCertificateAuthority } from "../../infra/local/cluster/certificates.ts";
import { kubeconfigYaml } from "../../infra/local/cluster/kubeconfig.ts";
import { eventually } from "../../infra/local/control-plane/apply.ts";
import { type Hub, startHub } from "../../infra/local/hub/hub.ts";
import { hubManifests } from "../../infra/local/hub/manifests.ts";
import * as names from "../../infra/local/hub/resources.ts";
import { systemClock } from "../../lib/base/clock.ts";
import {
  BOOTSTRAP_USER,
  createCluster,
  createRequest,
  keyAndRequest,
  subjectOf,
} from "../infra/local/hub/hub-under-test.ts";
import { type ClustersUnderTest, clustersUnderTest } from "./clusters-under-test.ts";

const MERGE = "application/merge-patch+json";
const EAST = `${names.paths.managedClusters}/east`;
const LEASE = `${names.paths.leases("east")}/${names.LEASE_NAME}`;

interface Status {
  readonly certificate?: string;
  readonly conditions?: readonly { readonly type: string; readonly status: string; readonly reason: string }[];
}

describe("the hub on a real API server, with its own signer", { timeout: 120_000 }, () => {
  let clusters: ClustersUnderTest;
  let hub: Hub;
  let bootstrap: ApiClient;
  const clients: ApiClient[] = [];

  before(async () => {
    clusters = clustersUnderTest();
    const { leader } = clusters;
    for (const text of hubManifests()) await leader.applyManifests(text);
    const authority = await createCertificateAuthority("hawser-hub-webhook", systemClock);
    hub = await startHub({
      kubeconfig: await leader.kubeconfigFor({
        serviceAccount: { namespace: names.HUB_NAMESPACE, name: names.HUB_SERVICE_ACCOUNT },
      }),
      clock: systemClock,
      webhookTls: { ...(await authority.issueServer(["127.0.0.1"])), ca: authority.caPem },
      autoApproval: { enabled: true, users: [BOOTSTRAP_USER] },
    });
    const serviceAccount = { namespace: names.BOOTSTRAP_NAMESPACE, name: names.BOOTSTRAP_SERVICE_ACCOUNT };
    bootstrap = new ApiClient(await leader.kubeconfigFor({ serviceAccount }));
    clients.push(bootstrap);
  });
  after(async () => {
    const { admin } = clusters.leader;
    await hub.stop();
    for (const client of clients) await client.close();
    for (const name of ["mutators", "validators"]) {
      const kind = name === "mutators" ? "mutating" : "validating";
      const path = `${names.paths.webhooks}/${kind}webhookconfigurations`;
      await admin.request("DELETE", `${path}/managedcluster${name}.admission.${names.CLUSTER_GROUP}`);
    }
    await admin.request("PATCH", EAST, { metadata: { finalizers: null } }, MERGE);
    for (const path of [EAST, `${names.paths.namespaces}/east`]) await admin.request("DELETE", path);
    for (const name of ["east-abcde", "east-forged", "east-renew"]) {
      await admin.request("DELETE", `${names.paths.requests}/${name}`);
    }
    await clusters.leader.removeApplied();
    await clusters.close();
  });

  const status = async (path: string): Promise<Status> =>
    ((await clusters.leader.admin.request("GET", path)).body["status"] ?? {}) as Status;
  const untilAccepted = async (wanted: string): Promise<void> => {
    await eventually(systemClock, `acceptance to be ${wanted}`, async () => {
      const { conditions = [] } = await status(EAST);
      const found = conditions.find(({ type }) => type === "HubAcceptedManagedCluster");
      return found?.status === wanted ? true : undefined;
    });
  };
  const certificateOf = async (name: string): Promise<string> =>
    await eventually(systemClock, `the certificate of ${name}`, async () => {
      const { certificate } = await status(`${names.paths.requests}/${name}`);
      return certificate === undefined ? undefined : Buffer.from(certificate, "base64").toString("utf8");
    });
  const agent = (cert: string, key: string): ApiClient => {
    const { url: server, caPem } = clusters.leader;
    const client = new ApiClient(
      kubeconfigYaml({ cluster: "hub", server, caPem, user: "agent", credential: { certificate: { cert, key } } }),
    );
    clients.push(client);
    return client;
  };
  const answered = (answer: ApiAnswer, code: number): void =>
    assert.equal(answer.code, code, JSON.stringify(answer.body.message));

  it("registers a cluster whose certificate then reaches its lease, renews itself and forges nobody", async () => {
    const { key, request } = await keyAndRequest(subjectOf("east"));

    answered(await createCluster(bootstrap, "east"), 201);
    answered(await createRequest(bootstrap, "east-abcde", "east", request), 201);
    const east = agent(await certificateOf("east-abcde"), key);
    await untilAccepted("True");
    const lease = await eventually(systemClock, "the lease", async () => {
      const answer = await east.request("GET", LEASE);
      return answer.code === 200 ? answer : undefined;
    });

    answered(await east.request("PUT", LEASE, lease.body), 200);
    answered(await createRequest(east, "east-forged", "east", subjectOf("west")), 201);
    answered(await createRequest(east, "east-renew", "east"), 201);
    await certificateOf("east-renew");
    assert.deepEqual(await status(`${names.paths.requests}/east-forged`), {});
  });

  it("cuts a denied cluster's rights to the sight of itself, and takes them when it is deleted", async () => {
    const { key, request } = await keyAndRequest(subjectOf("east"));
    await clusters.leader.admin.request("DELETE", `${names.paths.requests}/east-abcde`);
    answered(await createRequest(bootstrap, "east-abcde", "east", request), 201);
    const east = agent(await certificateOf("east-abcde"), key);
    const { admin } = clusters.leader;
    const eventuallyCode = async (path: string, code: number): Promise<void> => {
      await eventually(systemClock, `${path} to answer ${code}`, async () =>
        (await east.request("GET", path)).code === code ? true : undefined,
      );
    };

    answered(await admin.request("PATCH", EAST, { spec: { hubAcceptsClient: false } }, MERGE), 200);
    await untilAccepted("False");
    await eventuallyCode(LEASE, 403);
    await eventuallyCode(EAST, 200);
    answered(await admin.request("DELETE", EAST), 200);
    await eventuallyCode(EAST, 403);

    answered(await admin.request("GET", `${names.paths.namespaces}/east`), 200);
  });
});
