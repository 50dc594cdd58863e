import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { findClusterSet, leaderOf, parseClusterSet } from "../../lib/antrea/cluster-set.ts";
import { clusterSetRef } from "../../lib/antrea/resources.ts";
import type { KubeObject } from "../../lib/kube/client.ts";
import { kubeError, MemoryCluster } from "./memory-cluster.ts";

const leader = { clusterID: "north", server: "https://10.0.0.1:6443", secret: "leader-token" };
const good = { clusterID: "east", leaders: [leader], namespace: "antrea-multicluster" };
const object = (spec: unknown): KubeObject => ({ metadata: { name: "set", namespace: "kube-system" }, spec });

/** The message of the refusal. */
function refusal(spec: unknown): string {
  const parsed = parseClusterSet(object(spec), "east-1");
  assert.ok(!parsed.ok);
  assert.equal(parsed.error.cause, "ConfigurationInvalid");
  return parsed.error.message;
}

describe("a member's ClusterSet", () => {
  it("gives the three IDs, the leader's address, the Secret and the common area", () => {
    const parsed = parseClusterSet(object(good), "east-1");

    assert.deepEqual(parsed.ok && parsed.value, {
      clusterID: "east",
      clusterSetID: "set",
      leaderClusterID: "north",
      server: "https://10.0.0.1:6443",
      secret: "leader-token",
      commonArea: "antrea-multicluster",
    });
  });

  it("tolerates fields that it does not know", () => {
    const parsed = parseClusterSet(object({ ...good, more: 1, leaders: [{ ...leader, more: 2 }] }), "east-1");

    assert.equal(parsed.ok, true);
  });

  for (const [what, spec, words] of [
    [
      "an empty clusterID, as objects from before Antrea 1.13 have",
      { ...good, clusterID: "" },
      /spec\.clusterID is missing/,
    ],
    ["a clusterID of 64 characters", { ...good, clusterID: "a".repeat(64) }, /spec\.clusterID is longer than 63/],
    ["a clusterID that is no DNS label", { ...good, clusterID: "East_1" }, /spec\.clusterID is not a DNS-1123 label/],
    ["a clusterID that is no text", { ...good, clusterID: 7 }, /spec\.clusterID is not a string/],
    ["no leaders", { ...good, leaders: undefined }, /spec\.leaders must name exactly one leader/],
    ["two leaders", { ...good, leaders: [leader, leader] }, /spec\.leaders must name exactly one leader/],
    ["no server", { ...good, leaders: [{ ...leader, server: "" }] }, /spec\.leaders\.0\.server is missing: .*https:/],
    ["no secret", { ...good, leaders: [{ ...leader, secret: undefined }] }, /spec\.leaders\.0\.secret is missing/],
    ["no leader ID", { ...good, leaders: [{ ...leader, clusterID: undefined }] }, /leaders\.0\.clusterID is missing/],
    ["no namespace", { ...good, namespace: "" }, /spec\.namespace is missing: .*antrea-multicluster/],
    ["no spec", undefined, /spec\.clusterID is missing.*spec\.leaders.*spec\.namespace/],
    ["a spec that is a text", "spec", /spec is not an object/],
    ["a plain http server", { ...good, leaders: [{ ...leader, server: "http://h:6443" }] }, /TLS is always verified/],
  ] as const) {
    it(`is refused with the field and the remedy: ${what}`, () => {
      const message = refusal(spec);

      assert.match(message, /^ClusterSet kube-system\/set of member east-1: /);
      assert.match(message, words);
    });
  }

  it("does not repeat a password that stands in the server URL", () => {
    const message = refusal({ ...good, leaders: [{ ...leader, server: "https://u:hunter2@h:6443" }] });

    assert.doesNotMatch(message, /hunter2/);
  });

  it("is the same however the leader's URL is spelled", () => {
    const servers = ["https://h:6443", "https://h:6443/", "https://h:6443//", "HTTPS://H:6443", "h:6443"].map(
      (server) => {
        const parsed = parseClusterSet(object({ ...good, leaders: [{ ...leader, server }] }), "east-1");
        return parsed.ok ? parsed.value.server : undefined;
      },
    );

    assert.deepEqual(new Set(servers), new Set(["https://h:6443"]));
  });

  it("tells its leader's ID also when it is not valid otherwise", () => {
    assert.equal(leaderOf(object({ leaders: [{ clusterID: "north" }] })), "north");
    assert.equal(leaderOf(object({ leaders: [{ clusterID: "" }] })), undefined);
    assert.equal(leaderOf(object({})), undefined);
  });
});

describe("the search for a member's ClusterSet", () => {
  const call = { timeoutMs: 1000 };
  const cluster = (...names: string[]): MemoryCluster => {
    const made = new MemoryCluster();
    for (const name of names) made.put(clusterSetRef("kube-system", name), { metadata: {}, spec: good });
    return made;
  };

  it("finds the one of the Namespace", async () => {
    const found = await findClusterSet(cluster("set").client("east"), { namespace: "kube-system" }, call);

    assert.equal(found.kind === "found" && found.object.metadata.name, "set");
  });

  it("finds the named one among several", async () => {
    const choice = { namespace: "kube-system", clusterSet: "b" };

    const found = await findClusterSet(cluster("a", "b").client("east"), choice, call);

    assert.equal(found.kind === "found" && found.object.metadata.name, "b");
  });

  it("waits where there is none", async () => {
    const one = await findClusterSet(cluster().client("east"), { namespace: "kube-system" }, call);
    const named = await findClusterSet(
      cluster("a").client("east"),
      { namespace: "kube-system", clusterSet: "b" },
      call,
    );

    assert.equal(one.kind === "missing" && one.fault.cause, "ClusterSetMissing");
    assert.match(
      named.kind === "missing" ? named.fault.message : "",
      /ClusterSet b not found in Namespace kube-system/,
    );
  });

  it("waits where the CRD is not installed yet", async () => {
    const bare = cluster();
    bare.fault = () => kubeError("notFound");

    const found = await findClusterSet(bare.client("east"), { namespace: "kube-system" }, call);

    assert.match(found.kind === "missing" ? found.fault.message : "", /does not serve ClusterSets/);
  });

  it("does not choose among several, but names them", async () => {
    const found = await findClusterSet(cluster("b", "a").client("east"), { namespace: "kube-system" }, call);

    assert.equal(found.kind, "ambiguous");
    assert.match(found.kind === "ambiguous" ? found.fault.message : "", /2 ClusterSets \(a, b\).*antrea\.clusterSet/);
  });

  it("does not take an error for an absence", async () => {
    const down = cluster();
    down.fault = () => kubeError("forbidden");

    const found = await findClusterSet(down.client("east"), { namespace: "kube-system" }, call);

    assert.equal(found.kind === "unreadable" && found.fault.cause, "PermissionDenied");
  });
});
