import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clusterSetRef } from "../../lib/antrea/resources.ts";
import { kubeError } from "./memory-cluster.ts";
import { NAMESPACE, RoleHarness } from "./role-harness.ts";

const PASSWORD = "hunter2-canary";
const leaderAt = (server: string) => ({ leaders: [{ clusterID: "north", server, secret: "leader-token" }] });

async function beating(...clusters: readonly string[]): Promise<RoleHarness> {
  const h = new RoleHarness();
  for (const cluster of clusters) h.join(cluster);
  await h.start();
  await h.clock.advance(60_000);
  return h;
}

describe("the role announce tells of a change", () => {
  it("with one line of log and one of history, and of repetitions with counts alone", async () => {
    const h = await beating("east");
    for (let flap = 1; flap <= 3; flap += 1) {
      h.leader().fault = () => kubeError("network", { message: "north is away" });
      await h.clock.advance(600_000);
      assert.ok((h.store.condition("east", "Ready")?.failures ?? 0) >= 3);
      h.leader().fault = () => undefined;
      await h.clock.advance(60_000);
    }

    const kinds = h.store.events.map(({ kind }) => kind);
    assert.deepEqual(kinds, ["Connected", ...[1, 2, 3].flatMap(() => ["Disconnected", "Connected"])]);
    assert.equal(h.transitions.length, kinds.length);
  });

  it("by its own beats, and never infers health from what the leader says of its members", async () => {
    const h = await beating("east");

    assert.deepEqual(new Set(h.leader().requests.map(({ resource }) => resource)), new Set(["memberclusterannounces"]));
  });

  it("in the status of the ClusterSet through its subresource alone, and writes nothing else to the member", async () => {
    const h = await beating("east");
    h.leader().fault = () => kubeError("network");
    await h.clock.advance(60_000);

    const verbs = new Set(h.member("east").requests.map(({ verb, resource }) => `${verb} ${resource}`));
    assert.deepEqual(verbs, new Set(["list clustersets", "get secrets", "patchStatus clustersets"]));
  });
});

describe("the server URL of a leader", () => {
  it("in another spelling is no change: the same connection goes on", async () => {
    const h = await beating("east");

    for (const server of ["https://north:6443/", "https://north:6443//", "HTTPS://NORTH:6443", "north:6443"]) {
      h.clusterSet("east", "north", leaderAt(server));
      await h.clock.advance(60_000);
      assert.equal(h.shown("east")[0], "True", server);
    }

    assert.deepEqual(h.connected, ["https://north:6443"]);
  });

  it("with a path keeps it, with or without a slash at its end", async () => {
    const h = await beating("east");

    for (const server of ["https://north:6443/k8s/clusters/c-1", "https://north:6443/k8s/clusters/c-1/"]) {
      h.clusterSet("east", "north", leaderAt(server));
      await h.clock.advance(60_000);
    }

    assert.deepEqual(h.connected.slice(1), ["https://north:6443/k8s/clusters/c-1"]);
    assert.equal(h.shown("east")[0], "True");
  });

  it("without TLS, or with a password, is refused with the right spelling and without the password", async () => {
    const h = new RoleHarness();
    h.join("plain");
    h.join("secret");
    h.clusterSet("plain", "north", leaderAt("http://north:6443"));
    h.clusterSet("secret", "north", leaderAt(`https://admin:${PASSWORD}@north:6443`));

    await h.start();
    await h.clock.advance(60_000);

    assert.match(h.store.condition("plain", "Ready")?.message ?? "", /plain http.*https:\/\/north:6443/);
    assert.match(h.store.condition("secret", "Ready")?.message ?? "", /user name or password/);
    assert.deepEqual([h.connected, h.leader().requests], [[], []]);
    const written = JSON.stringify([[...h.store.conditions], h.store.events, h.status("secret")]);
    assert.ok(!written.includes(PASSWORD));
  });
});

describe("a ClusterSet that cannot be used", () => {
  for (const [what, spec, words] of [
    ["without leaders", { leaders: [] }, /spec\.leaders must name exactly one leader/],
    ["with an empty server", leaderAt(""), /spec\.leaders\.0\.server is missing/],
    ["with an empty namespace", { namespace: "" }, /spec\.namespace is missing/],
    ["with an empty ID, as before Antrea 1.13", { clusterID: "" }, /spec\.clusterID is missing/],
    ["with an ID of 64 characters", { clusterID: "e".repeat(64) }, /spec\.clusterID is longer than 63/],
  ] as const) {
    it(`${what} asks nothing of any leader, is named with its field, and connects within a minute once it is mended`, async () => {
      const h = new RoleHarness();
      h.join("east");
      h.join("west");
      h.clusterSet("east", "north", spec);
      await h.start();
      await h.clock.advance(60_000);

      const ready = h.store.condition("east", "Ready");
      assert.deepEqual([ready?.status, ready?.cause], ["False", "ConfigurationInvalid"]);
      assert.match(ready?.message ?? "", words);
      assert.equal(h.requests("east").length, 0);
      assert.equal(h.shown("west")[0], "True");

      h.clusterSet("east");
      await h.clock.advance(60_000);
      assert.equal(h.shown("east")[0], "True");
    });
  }

  it("after one that could leaves the connection at work, and is named beside it", async () => {
    const h = new RoleHarness();
    h.join("east");
    const hold = await h.start();
    await h.clock.advance(20_000);

    h.clusterSet("east", "north", { namespace: "" });
    await h.clock.advance(60_000);

    assert.equal(h.shown("east")[0], "True");
    assert.equal(hold.rounds.at(-1)?.exceptions["east"]?.kind, "ConfigurationInvalid");
    assert.match(h.store.condition("east", "Ready")?.message ?? "", /^$/);
  });
});

describe("another ClusterSet of the same Namespace", () => {
  it("stops no beat when it comes, and makes nobody leave when it goes", async () => {
    const h = await beating("east");
    const other = clusterSetRef(NAMESPACE, "other");
    h.member("east").put(other, { metadata: {}, spec: { clusterID: "other" } });
    await h.clock.advance(120_000);
    const sent = h.requests("east").length;
    h.member("east").remove(other);
    await h.clock.advance(120_000);

    assert.ok(h.requests("east").length >= sent + 12);
    assert.equal(h.shown("east")[0], "True");
    assert.equal(h.store.memberships.get("east")?.phase, "joined");
  });

  it("is not followed by a membership that names its own", async () => {
    const h = new RoleHarness();
    h.join("east", { antrea: { namespace: NAMESPACE, clusterSet: "set" } });
    await h.start();
    h.member("east").put(clusterSetRef(NAMESPACE, "other"), { metadata: {}, spec: { clusterID: "other" } });
    await h.clock.advance(60_000);
    assert.equal(h.shown("east")[0], "True");

    h.member("east").remove(clusterSetRef(NAMESPACE, "set"));
    await h.clock.advance(120_000);
    assert.equal(h.store.memberships.get("east")?.leaveReason, "ClusterSetDeleted");
  });
});

describe("a Secret that goes while a ClusterSet is changed to it and back", () => {
  it("leaves the member connected throughout: what runs is compared, not what was once concluded", async () => {
    const h = await beating("east");
    const missing = { leaders: [{ clusterID: "north", server: "https://north:6443", secret: "not-there" }] };
    h.clusterSet("east", "north", missing);
    await h.clock.advance(60_000);
    assert.equal(h.shown("east")[0], "True");

    h.clusterSet("east");
    const sent = h.requests("east").length;
    await h.clock.advance(60_000);

    assert.ok(h.requests("east").length >= sent + 6);
    assert.equal(h.shown("east")[0], "True");
  });
});

describe("another common area", () => {
  it("is in force within a minute, and the announce in the old one is taken back", async () => {
    const h = await beating("east");
    const announces = () => h.requests("east").filter(({ verb }) => verb === "create" || verb === "delete");
    h.clusterSet("east", "north", { namespace: "other-area" });

    await h.clock.advance(60_000);

    assert.deepEqual(
      announces().map(({ verb }) => verb),
      ["create", "delete", "create"],
    );
    assert.equal(h.announce("east"), undefined);
    assert.equal(h.shown("east")[0], "True");
  });
});
