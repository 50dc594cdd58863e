import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { stringify } from "yaml";
import { eventually } from "../../infra/local/control-plane/apply.ts";
import { systemClock } from "../../lib/base/clock.ts";
import type { WireStatus } from "../antrea/role-harness.ts";
import { assertRights } from "../infra/local/world/rights.ts";
import { type AntreaClusters, AREA } from "./antrea-clusters.ts";
import { BEAT_MS, changeSecret, MembersUnderTest } from "./members-under-test.ts";

describe("members of an Antrea ClusterSet, on real API servers", { timeout: 240_000 }, () => {
  let members: MembersUnderTest;
  let clusters: AntreaClusters;
  before(async () => {
    members = await MembersUnderTest.start(({ west }) => changeSecret(west, { "ca.crt": null }));
    clusters = members.clusters;
  });
  after(() => members.end());

  it("have the rights of the manifests and nothing more", async () => {
    const [east] = clusters.members;
    const account = { namespace: AREA, name: "member-east" };
    await assertRights({
      hawser: east?.kubeconfig ?? "",
      member: await clusters.leaderCluster.kubeconfigFor({ serviceAccount: account }),
      secret: "leader-token",
      commonArea: AREA,
    });
  });

  it("whose Secret lacks the CA, then the token, are told so, ask nothing of their leader, and join when it is mended", async () => {
    const token = await clusters.leaderCluster.tokenFor(AREA, "member-west");
    const lacks = async (words: RegExp): Promise<void> => {
      await members.beatsUntil(String(words), () => words.test(members.ready("west")?.message ?? ""));
      assert.equal(members.ready("west")?.cause, "ConfigurationInvalid");
      assert.equal((await members.announce("west")).code, 404);
    };
    await lacks(/ca\.crt data not found in Secret leader-token/);
    await changeSecret(clusters.west, { "ca.crt": clusters.leaderCluster.caPem, token: null });
    await lacks(/token not found in Secret leader-token/);

    const overall = async () => (await members.status(clusters.west)).conditions?.[0];
    await members.beatsUntil("shown", async () => (await overall())?.["status"] === "False");
    assert.equal((await overall())?.["message"], "Disconnected from leader");
    const { totalClusters, readyClusters = 0 } = await members.status(clusters.west);
    assert.deepEqual([totalClusters, readyClusters], [1, 0]);
    assert.equal(members.ready("east")?.status, "True");

    await changeSecret(clusters.west, { token });
    await members.beatsUntil("mended", () => members.ready("west")?.status === "True");
  });

  it("are announced with their three IDs by the first beat, and connected by the second", async () => {
    await members.beatsUntil(
      "connected",
      () => members.ready("east")?.status === "True" && members.ready("west")?.status === "True",
    );

    const { body } = await members.announce("east");
    assert.deepEqual([body["clusterID"], body["clusterSetID"], body["leaderClusterID"]], ["east", "set", "north"]);
    await members.pass(BEAT_MS);
    assert.deepEqual([members.ready("east")?.reason, members.ready("east")?.message], ["", ""]);
    const isLeader = members.store.condition("east", "IsLeader");
    assert.deepEqual(
      [isLeader?.status, isLeader?.reason, isLeader?.message],
      ["True", "", "This leader cluster is the leader for local cluster"],
    );
    assert.equal((await members.announce("east")).body.metadata.generation, 1, "a beat changes nothing but metadata");
    assert.deepEqual(members.bugs, []);
  });

  it("show it in their ClusterSets, as the API server gives them", async () => {
    await members.beatsUntil("status", async () => (await members.status(clusters.east)).readyClusters === 1);

    const set = await members.clusterSet(clusters.east);
    const { conditions, clusterStatuses, totalClusters, observedGeneration } = set["status"] as WireStatus & {
      observedGeneration: number;
    };
    assert.deepEqual([totalClusters, observedGeneration], [1, set.metadata.generation]);
    assert.deepEqual(
      conditions?.map(({ type, status }) => `${String(type)}=${String(status)}`),
      ["Ready=True"],
    );
    assert.deepEqual(
      clusterStatuses?.map(({ clusterID, conditions }) => [
        clusterID,
        conditions.map(({ type, status }) => `${String(type)}=${String(status)}`),
      ]),
      [["north", ["Ready=True", "IsLeader=True"]]],
    );
  });

  it("are seen by their leader, which keeps their announces by its finalizer", async () => {
    await members.beatsUntil("seen", () => clusters.leader.members().filter((member) => member.connected).length === 2);

    // It counts a member before it has written.
    const finalizers = await eventually(systemClock, "the finalizer", async () => {
      const { body } = await members.announce("west");
      return body.metadata.finalizers;
    });
    assert.deepEqual(finalizers, ["memberclusterannounce.finalizer.antrea.io/west"]);
  });

  it("write their status when it changes, and leave it alone otherwise", async () => {
    await members.beatsUntil(
      "status",
      async () => (await members.status(clusters.east)).conditions?.[0]?.["status"] === "True",
    );
    const before = await members.clusterSet(clusters.east);

    await members.pass(6 * BEAT_MS);

    const now = await members.clusterSet(clusters.east);
    assert.equal(now.metadata.resourceVersion, before.metadata.resourceVersion);
    assert.deepEqual(now["status"], before["status"]);
  });

  it("are disconnected by a revoked token, and recover with a new one", async () => {
    const { admin } = clusters.leaderCluster;
    const secret = { name: "member-east-token", namespace: AREA };
    const { code } = await admin.request("DELETE", `/api/v1/namespaces/${AREA}/secrets/${secret.name}`);
    assert.equal(code, 200);

    // The API server believes a token for ten seconds more.
    const limit = performance.now() + 30_000;
    while (members.ready("east")?.status !== "False" && performance.now() < limit) await members.pass(BEAT_MS);

    assert.deepEqual([members.ready("east")?.status, members.ready("east")?.cause], ["False", "CredentialRefused"]);
    await members.beatsUntil(
      "shown",
      async () => (await members.status(clusters.east)).conditions?.[0]?.["status"] === "False",
    );
    assert.equal(members.ready("west")?.status, "True", "another member's token is another connection");

    const annotations = { "kubernetes.io/service-account.name": "member-east" };
    await clusters.leaderCluster.applyManifests(
      stringify({
        apiVersion: "v1",
        kind: "Secret",
        metadata: { ...secret, annotations },
        type: "kubernetes.io/service-account-token",
      }),
    );
    const token = await clusters.leaderCluster.tokenFor(AREA, "member-east");
    await changeSecret(clusters.east, { token });
    await members.beatsUntil("recovered", () => members.ready("east")?.status === "True");
  });

  it("tell a leader's webhook that is away from an API server that is", async () => {
    await clusters.leader.stopWebhook();
    await members.beatsUntil(
      "disconnected",
      () => members.ready("east")?.status === "False" && members.ready("west")?.status === "False",
    );
    assert.deepEqual(
      [members.ready("east")?.cause, members.ready("west")?.cause],
      Array(2).fill("LeaderWebhookUnavailable"),
    );

    await clusters.leader.startWebhook();
    await members.beatsUntil(
      "connected",
      () => members.ready("east")?.status === "True" && members.ready("west")?.status === "True",
    );
    assert.deepEqual(members.bugs, []);
  });
});
