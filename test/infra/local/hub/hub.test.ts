import assert from "node:assert/strict";
import { X509Certificate } from "node:crypto";
import { describe, it } from "node:test";
import * as names from "../../../../infra/local/hub/resources.ts";
import { until } from "../../../support/until.ts";
import { createCluster, createRequest, HubUnderTest, subjectOf } from "./hub-under-test.ts";

const MERGE = "application/merge-patch+json";
const east = `${names.paths.managedClusters}/east`;
const lease = `${names.paths.leases("east")}/${names.LEASE_NAME}`;

describe("the simulated hub, over HTTPS", { timeout: 60_000 }, () => {
  it("accepts a new cluster, gives it its rights and lease, and signs its first certificate", async (t) => {
    const hub = await HubUnderTest.start(t, true);
    const bootstrap = await hub.bootstrap();

    const made = await createCluster(bootstrap, "east");
    const asked = await createRequest(bootstrap, "east-abcde", "east");
    await until(
      () => hub.accepted("east")?.["status"] === "True" && hub.request("east-abcde").certificate !== undefined,
    );

    assert.deepEqual([made.code, asked.code], [201, 201], made.body.message);
    assert.equal(hub.accepted("east")?.["reason"], "HubClusterAdminAccepted");
    const { labels, annotations, finalizers } = hub.managedCluster("east")?.metadata ?? {};
    assert.equal(labels?.[names.CLUSTER_SET_LABEL], "default");
    assert.match(annotations?.[names.ACCEPTED_ON] ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
    assert.deepEqual(finalizers, [names.CLEANUP_FINALIZER]);
    const pem = Buffer.from(hub.request("east-abcde").certificate ?? "", "base64");
    assert.match(new X509Certificate(pem).subject, /CN=system:open-cluster-management:east:agent/);
    const agent = await hub.agent("east");
    const read = await agent.request("GET", lease);
    assert.equal(read.code, 200, read.body.message);
    assert.equal((await agent.request("PUT", lease, read.body)).code, 200);
  });

  it("leaves acceptance and the first request to a person when approval is not automatic", async (t) => {
    const hub = await HubUnderTest.start(t, false);
    const bootstrap = await hub.bootstrap();
    await createCluster(bootstrap, "east");
    await createRequest(bootstrap, "east-abcde", "east");
    const agent = await hub.agent("east");

    assert.equal((await agent.request("GET", east)).code, 403);
    assert.equal(hub.accepted("east"), undefined);
    assert.deepEqual(hub.request("east-abcde"), {});
    await hub.admin().request("PATCH", east, { spec: { hubAcceptsClient: true } }, MERGE);
    await until(() => hub.accepted("east")?.["status"] === "True");

    assert.equal((await agent.request("GET", east)).code, 200);
    assert.deepEqual(hub.request("east-abcde"), {});
  });

  it("renews the certificate of an accepted cluster for itself, and for no other agent", async (t) => {
    const hub = await HubUnderTest.start(t, false);
    await createCluster(hub.admin(), "east", { hubAcceptsClient: true });
    await until(() => hub.accepted("east")?.["status"] === "True");
    const agent = await hub.agent("east");

    await createRequest(agent, "east-other", "east", subjectOf("east", "another"));
    await createRequest(agent, "east-own", "east");
    await until(() => hub.request("east-own").certificate !== undefined);

    assert.equal(hub.request("east-own").conditions?.[0]?.["reason"], "AutoApprovedByHubCSRApprovingController");
    assert.deepEqual(hub.request("east-other"), {});
  });

  it("leaves a denied cluster only the sight of itself, and does not accept it again by itself", async (t) => {
    const hub = await HubUnderTest.start(t, true);
    await createCluster(await hub.bootstrap(), "east");
    await until(() => hub.accepted("east")?.["status"] === "True");
    const agent = await hub.agent("east");

    await hub.admin().request("PATCH", east, { spec: { hubAcceptsClient: false } }, MERGE);
    await until(() => hub.accepted("east")?.["status"] === "False");

    assert.equal(hub.accepted("east")?.["reason"], "HubClusterAdminDenied");
    assert.equal((await agent.request("GET", east)).code, 200);
    assert.equal((await agent.request("GET", lease)).code, 403);
    assert.equal((await createRequest(agent, "east-late", "east")).code, 403);
  });

  it("takes the rights of a deleted cluster, and keeps its Namespace", async (t) => {
    const hub = await HubUnderTest.start(t, true);
    await createCluster(await hub.bootstrap(), "east");
    await until(() => hub.accepted("east")?.["status"] === "True");
    const agent = await hub.agent("east");

    assert.equal((await hub.admin().request("DELETE", east)).code, 200);
    await until(() => hub.managedCluster("east") === undefined);

    assert.equal((await agent.request("GET", east)).code, 403);
    assert.equal((await hub.admin().request("GET", `${names.paths.namespaces}/east`)).code, 200);
  });

  it("goes on with other clusters while one cannot be accepted, and accepts that one once it can", async (t) => {
    t.mock.method(console, "error", () => undefined);
    const hub = await HubUnderTest.start(t, true);
    const [admin, bootstrap] = [hub.admin(), await hub.bootstrap()];
    const held = { name: "held", finalizers: ["example.com/hold"] };
    const maps = `${names.paths.namespaces}/alpha/configmaps`;
    await admin.request("POST", names.paths.namespaces, { metadata: { name: "alpha" } });
    await admin.request("POST", maps, { metadata: held });
    await admin.request("DELETE", `${names.paths.namespaces}/alpha`);

    await createCluster(bootstrap, "alpha");
    await createCluster(bootstrap, "beta");
    await until(() => hub.accepted("beta")?.["status"] === "True");
    assert.equal(hub.accepted("alpha"), undefined);
    await admin.request("PATCH", `${maps}/held`, { metadata: { finalizers: null } }, MERGE);
    await until(() => hub.accepted("alpha")?.["status"] === "True");
  });

  it("lets nobody accept, or join a set, without the right to", async (t) => {
    const hub = await HubUnderTest.start(t, false);
    await hub.cluster.applyManifests(SET_LESS);
    const poor = hub.client(await hub.cluster.kubeconfigFor({ user: "poor" }));

    const self = await createCluster(await hub.bootstrap(), "east", { hubAcceptsClient: true });
    const joined = await createCluster(poor, "east");
    const plain = await createCluster(await hub.bootstrap(), "east", {
      managedClusterClientConfigs: [{ url: "http://10.0.0.1" }],
    });

    assert.deepEqual([self.code, joined.code, plain.code], [403, 403, 400]);
    assert.match(self.body.message ?? "", /managedclusters\/accept/);
    assert.match(joined.body.message ?? "", /managedclustersets\/join/);
    assert.match(plain.body.message ?? "", /url "http:\/\/10\.0\.0\.1" is invalid in client configs/);
    assert.equal(hub.managedCluster("east"), undefined);
  });
});

/** A user who may create ManagedClusters, and nothing else. */
const SET_LESS = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: { name: poor }
rules: [{ apiGroups: [cluster.open-cluster-management.io], resources: [managedclusters], verbs: [create] }]
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: { name: poor }
roleRef: { apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: poor }
subjects: [{ apiGroup: rbac.authorization.k8s.io, kind: User, name: poor }]
`;
