import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { stringify } from "yaml";
import { eventually } from "../../infra/local/control-plane/apply.ts";
import { CLUSTER_ID_ANNOTATION, paths } from "../../infra/local/leader/resources.ts";
import { CONFIGURATION_TYPE } from "../../lib/antrea/names.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { NAMESPACE } from "../antrea/role-harness.ts";
import { assertStatus } from "../contract/kubernetes/assertions.ts";
import { ContractClient } from "../contract/kubernetes/contract-client.ts";
import { clusterSetOf } from "../support/member-manifests.ts";
import { type AntreaClusters, AREA } from "./antrea-clusters.ts";
import { change, changeSecret, MERGE_PATCH, MembersUnderTest } from "./members-under-test.ts";

describe("members whom their leader refuses, on real API servers", { timeout: 240_000 }, () => {
  let members: MembersUnderTest;
  let clusters: AntreaClusters;
  before(async () => {
    members = await MembersUnderTest.start();
    clusters = members.clusters;
    const connected = (id: string): boolean => members.ready(id)?.status === "True";
    await members.beatsUntil("connected", () => connected("east") && connected("west"));
  });
  after(() => members.end());

  /** Whether what west names is in force. */
  const inForce = () => members.store.condition("west", CONFIGURATION_TYPE);

  /**
   * Spoils west, looks at the refusal, mends it, and waits for west to be connected again. What is spoilt in the leader is
   * asked about only for an announce that is made: so the one that is there is deleted. An identity that is spoilt in the
   * member takes its announce back by itself.
   */
  const refused = async (
    words: RegExp,
    spoil: () => Promise<unknown>,
    mend: () => Promise<unknown>,
    where: "leader" | "member" = "leader",
  ): Promise<void> => {
    await spoil();
    if (where === "leader") {
      const { code, body } = await clusters.leaderCluster.admin.request("DELETE", members.announcePath("west"));
      assert.equal(code, 200, body.message);
      // The leader lets it go first.
      await eventually(systemClock, "the announce to be gone", async () =>
        (await members.announce("west")).code === 404 ? true : undefined,
      );
    }
    await members.beatsUntil(
      String(words),
      () =>
        members.ready("west")?.cause === "DeniedByLeaderWebhook" && words.test(members.ready("west")?.message ?? ""),
    );
    assert.equal((await members.announce("west")).code, 404, "not made again");
    assert.equal(members.ready("east")?.status, "True");
    await mend();
    await members.beatsUntil("mended", () => members.ready("west")?.status === "True");
    assert.equal((await members.announce("west")).code, 200);
  };

  it("are refused with a ServiceAccount that has no annotation, or another member's", async () => {
    await refused(
      /ClusterID "west" is not permitted for ServiceAccount "member-west"/,
      () => members.annotate("member-west", null),
      () => members.annotate("member-west", "west"),
    );
    await refused(
      /ClusterID "west" is not permitted for ServiceAccount "member-west"/,
      () => members.annotate("member-west", "other"),
      () => members.annotate("member-west", "west"),
    );
  });

  it("are refused with an ID that begins another member's", async () => {
    const longer = { name: "longer", namespace: AREA, annotations: { [CLUSTER_ID_ANNOTATION]: "west-1" } };
    await refused(
      /ClusterID "west" conflicts with an existing member's ClusterID/,
      () =>
        clusters.leaderCluster.applyManifests(
          stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: longer }),
        ),
      () => members.annotate("longer", null),
    );
  });

  it("go on with their leader while that refuses another leader's ID", async () => {
    const leader = async (clusterID: string): Promise<void> => {
      const set = await members.clusterSet(clusters.west);
      const { leaders } = set["spec"] as { leaders: object[] };
      await change(clusters.west, `${paths.clusterSets(NAMESPACE)}/set`, {
        spec: { leaders: [{ ...leaders[0], clusterID }] },
      });
    };
    const before = (await members.announce("west")).body.metadata.uid;
    await leader("south");
    await members.beatsUntil("refused", () => inForce()?.status === "False");

    assert.match(inForce()?.message ?? "", /Leader cluster ID in the MemberClusterAnnounce does not match/);
    assert.equal(members.ready("west")?.status, "True");
    assert.equal((await members.announce("west")).body.metadata.uid, before, "nothing is taken back");

    await leader("north");
    await members.beatsUntil("mended", () => inForce()?.status === "True");
    assert.equal((await members.announce("west")).body.metadata.uid, before);
  });

  it("are refused with another ClusterSet's ID", async () => {
    const { admin } = clusters.west;
    const { spec } = (await members.clusterSet(clusters.west)) as { spec?: object };
    const replace = async (from: string, to: string): Promise<void> => {
      const gone = await admin.request("DELETE", `${paths.clusterSets(NAMESPACE)}/${from}`);
      assert.equal(gone.code, 200, gone.body.message);
      const made = await admin.request("POST", paths.clusterSets(NAMESPACE), {
        ...clusterSetOf("west", to, AREA),
        spec,
      });
      assert.equal(made.code, 201, made.body.message);
    };
    await refused(
      /Unknown ClusterSet ID/,
      () => replace("set", "another-set"),
      () => replace("another-set", "set"),
      "member",
    );
  });

  it("are refused by their leader whoever they are not", async (t) => {
    const leader = ContractClient.of(clusters.leaderCluster.adminKubeconfig());
    t.after(() => leader.close());
    const ask = async (user: string, name: string, ids: object) => {
      const body = {
        apiVersion: "multicluster.crd.antrea.io/v1alpha1",
        kind: "MemberClusterAnnounce",
        metadata: { name },
        ...ids,
      };
      // Rights are not what is asked about here, who asks is.
      const headers = { "impersonate-user": user, "impersonate-group": "system:masters" };
      return await leader.request("POST", paths.announces(AREA), { body, headers });
    };
    const ids = { clusterID: "south", clusterSetID: "set", leaderClusterID: "north" };
    const account = { name: "member-south", namespace: AREA, annotations: { [CLUSTER_ID_ANNOTATION]: "south" } };
    await clusters.leaderCluster.applyManifests(
      stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: account }),
    );
    const south = `system:serviceaccount:${AREA}:member-south`;

    assertStatus(await ask("alice", "member-announce-from-south", ids), {
      code: 400,
      message: /Username must be in the form/,
    });
    assert.equal((await ask(`system:serviceaccount:${AREA}:nobody`, "member-announce-from-south", ids)).code, 412);
    const named = await ask(south, "south", ids);
    assert.deepEqual([named.code, /MemberClusterAnnounce name must be/.test(named.text)], [403, true], named.text);
    const longer = { name: "member-longer", namespace: AREA, annotations: { [CLUSTER_ID_ANNOTATION]: "south-1" } };
    await clusters.leaderCluster.applyManifests(
      stringify({ apiVersion: "v1", kind: "ServiceAccount", metadata: longer }),
    );
    const begun = { ...ids, clusterID: "south-1" };
    assertStatus(await ask(`system:serviceaccount:${AREA}:member-longer`, "member-announce-from-south-1", begun), {
      code: 403,
      message: /ClusterID "south-1" conflicts with an existing member's ClusterID/,
    });
    await members.annotate("member-longer", null);
    const made = await ask(south, "member-announce-from-south", ids);
    assert.equal(made.code, 201, made.text);
    for (const field of ["clusterID", "clusterSetID", "leaderClusterID"]) {
      const answer = await leader.request("PATCH", members.announcePath("south"), {
        body: { [field]: "other" },
        contentType: MERGE_PATCH,
        headers: { "impersonate-user": south, "impersonate-group": "system:masters" },
      });
      assert.equal(answer.code, 403, answer.text);
    }
    assert.equal((await leader.request("DELETE", members.announcePath("south"))).code, 200);
  });

  it("go on with the credential before, while their leader refuses one of another Namespace", async () => {
    const account = { name: "member-west", namespace: "kube-public" };
    await clusters.leaderCluster.applyManifests(
      [
        { apiVersion: "v1", kind: "ServiceAccount", metadata: account },
        {
          apiVersion: "rbac.authorization.k8s.io/v1",
          kind: "RoleBinding",
          metadata: { name: "from-elsewhere", namespace: AREA },
          roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: "antrea-mc-member-cluster-role" },
          subjects: [{ kind: "ServiceAccount", ...account }],
        },
      ]
        .map((object) => stringify(object))
        .join("---\n"),
    );
    const tokenOf = (namespace: string): Promise<string> => clusters.leaderCluster.tokenFor(namespace, "member-west");
    const before = (await members.announce("west")).body.metadata.uid;
    await changeSecret(clusters.west, { token: await tokenOf("kube-public") });
    await members.beatsUntil("refused", () => inForce()?.status === "False");

    assert.equal(inForce()?.cause, "DeniedByLeaderWebhook");
    assert.match(
      inForce()?.message ?? "",
      /ServiceAccount "kube-public\/member-west" is not in Namespace "antrea-multicluster"/,
    );
    assert.equal(members.ready("west")?.status, "True");
    assert.equal((await members.announce("west")).body.metadata.uid, before);

    await changeSecret(clusters.west, { token: await tokenOf(AREA) });
    await members.beatsUntil("mended", () => inForce()?.status === "True");
    assert.equal(members.ready("west")?.status, "True");
  });
});
