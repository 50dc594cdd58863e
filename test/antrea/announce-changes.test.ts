import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { announceRef, clusterSetRef } from "../../lib/antrea/resources.ts";
import { kubeError, type MemoryRequest } from "./memory-cluster.ts";
import { COMMON_AREA, certificatePem, NAMESPACE, RoleHarness } from "./role-harness.ts";

const CLUSTER_UID = "11111111-1111-4111-8111-111111111111";

/** A member that beats, with a token that the leader refuses when it is told to. */
async function beating(): Promise<{ h: RoleHarness; refuse: (...tokens: string[]) => void }> {
  const h = new RoleHarness();
  h.join("east", { clusterUID: CLUSTER_UID });
  await h.start();
  await h.clock.advance(60_000);
  const refused = new Set<string>();
  h.leader().fault = ({ credential }) =>
    refused.has(credential) ? kubeError("unauthorized", { status: 401 }) : undefined;
  return { h, refuse: (...tokens) => tokens.forEach((token) => refused.add(token)) };
}

function useToken(h: RoleHarness, token: string): void {
  h.secret("east", { "ca.crt": certificatePem, token });
}

const wire = (requests: readonly MemoryRequest[]): readonly string[] =>
  requests.map(({ verb, credential }) => `${verb} ${credential}`);

describe("a membership that changes", () => {
  it("proves another token by a dry run before the old one goes", async () => {
    const { h } = await beating();
    const from = h.leader().requests.length;

    useToken(h, "token-2");
    await h.clock.advance(60_000);

    const sent = wire(h.requests("east", from));
    const proof = sent.indexOf("dryRun token-2");
    assert.ok(proof > 0, sent.join());
    assert.ok(sent.slice(0, proof).every((request) => request === "patch token-1"));
    assert.ok(sent.slice(proof + 1).every((request) => request === "patch token-2"));
    assert.equal(h.leader().open, 1);
  });

  it("goes on with the connection that works while the other one does not, says so, and takes it when it does", async () => {
    const { h, refuse } = await beating();
    refuse("token-2");
    const hold = await h.start(2);
    useToken(h, "token-2");

    await h.clock.advance(60_000);

    assert.equal(h.shown("east")[0], "True");
    assert.equal(h.requests("east").at(-1)?.credential, "token-1");
    assert.equal(hold.rounds.at(-1)?.exceptions["east"]?.kind, "CredentialRefused");
    assert.equal(h.store.condition("east", "Ready")?.failures, 0);

    useToken(h, "token-3");
    await h.clock.advance(20_000);
    assert.equal(h.requests("east").at(-1)?.credential, "token-3");
    assert.deepEqual(hold.rounds.at(-1)?.exceptions, {});
    assert.equal(h.leader().open, 1);
  });

  it("changes to another address without a proof when the old one does not work any more", async () => {
    const { h } = await beating();
    h.leader().fault = () => kubeError("network", { message: "north is away" });
    await h.clock.advance(60_000);
    assert.equal(h.shown("east")[0], "False");

    const before = h.store.condition("east", "IsLeader");
    h.clusterSet("east", "north", {
      leaders: [{ clusterID: "north", server: "https://north-2:6443", secret: "leader-token" }],
    });
    await h.clock.advance(60_000);

    assert.equal(h.shown("east")[0], "True");
    assert.deepEqual(h.store.condition("east", "IsLeader"), before, "it is the same leader");
  });

  it("pays for a token that was revoked early with one 401, reads it again and beats within the same beat", async () => {
    const { h, refuse } = await beating();
    useToken(h, "token-2");
    refuse("token-1");
    const from = h.leader().requests.length;

    await h.toGridPoint("east");
    await h.clock.advance(1);

    assert.deepEqual(wire(h.requests("east", from)), ["patch token-1", "dryRun token-2", "patch token-2"]);
    await h.clock.advance(30_000);
    assert.deepEqual([h.shown("east")[0], h.store.condition("east", "Ready")?.failures], ["True", 0]);
  });

  it("is Disconnected at the threshold when its token is refused and there is no other", async () => {
    const { h, refuse } = await beating();
    refuse("token-1");
    const from = h.leader().requests.length;

    await h.clock.advance(20_001);
    assert.equal(h.shown("east")[0], "True");
    await h.clock.advance(10_000);

    const ready = h.store.condition("east", "Ready");
    assert.deepEqual([ready?.status, ready?.cause, ready?.failures], ["False", "CredentialRefused", 3]);
    assert.deepEqual(wire(h.requests("east", from)), Array(3).fill("patch token-1"));
  });

  it("keeps its leader once that has taken a beat, and again only when what is kept has changed", async () => {
    const { h } = await beating();
    const { keptLeaderHash, leader } = h.store.memberships.get("east") ?? {};
    assert.deepEqual(
      h.kept.map(([cluster, { token }]) => [cluster, token]),
      [["east", "token-1"]],
    );
    assert.deepEqual([typeof keptLeaderHash, leader?.clusterID], ["string", "north"]);

    await h.clock.advance(600_000);
    assert.equal(h.kept.length, 1);

    useToken(h, "token-2");
    await h.clock.advance(60_000);
    assert.deepEqual(
      h.kept.map(([, { token }]) => token),
      ["token-1", "token-2"],
    );
    assert.notEqual(h.store.memberships.get("east")?.keptLeaderHash, keptLeaderHash);
    assert.doesNotMatch(JSON.stringify([...h.store.memberships.values(), ...h.store.events]), /token-[12]/);
  });

  it("keeps no leader that never took a beat, and tries again when the store was away", async () => {
    const h = new RoleHarness();
    h.join("east", { clusterUID: CLUSTER_UID });
    h.leader().fault = () => kubeError("network");
    h.mayKeep = false;
    await h.start();
    await h.clock.advance(60_000);
    assert.equal(h.kept.length, 0);

    h.leader().fault = () => undefined;
    await h.clock.advance(30_000);
    assert.deepEqual([h.shown("east")[0], h.store.memberships.get("east")?.keptLeaderHash], ["True", undefined]);

    h.mayKeep = true;
    await h.clock.advance(10_000);
    assert.equal(h.kept.length, 1);
  });

  it("begins to leave when its ClusterSet was deleted, and not for one look that missed it", async () => {
    const { h } = await beating();
    const set = h.member("east").read(clusterSetRef(NAMESPACE, "set"));
    h.member("east").remove(clusterSetRef(NAMESPACE, "set"));
    const looks = h.member("east").requests.length;
    while (h.member("east").requests.length === looks) await h.clock.advance(1_000);
    if (set !== undefined) h.member("east").put(clusterSetRef(NAMESPACE, "set"), set);
    await h.clock.advance(60_000);
    assert.equal(h.store.memberships.get("east")?.phase, "joined");

    h.member("east").remove(clusterSetRef(NAMESPACE, "set"));
    await h.clock.advance(70_000);

    const { phase, leaveReason } = h.store.memberships.get("east") ?? {};
    assert.deepEqual([phase, leaveReason], ["leaving", "ClusterSetDeleted"]);
  });

  it("notices in a later window that the ClusterSet was deleted between two", async () => {
    const { h } = await beating();
    const hold = await h.start(2);
    await h.stop(hold);
    h.member("east").remove(clusterSetRef(NAMESPACE, "set"));

    await h.start(3);
    await h.clock.advance(30_000);

    assert.equal(h.store.memberships.get("east")?.leaveReason, "ClusterSetDeleted");
  });

  it("sends nothing to its leader while it is paused, shows it everywhere, and beats again when it is resumed", async () => {
    const { h } = await beating();
    const membership = h.store.memberships.get("east");
    assert.ok(membership);

    h.store.add({ ...membership, paused: true });
    await h.prepare();
    const from = h.leader().requests.length;
    await h.clock.advance(60_000);
    assert.equal(h.requests("east", from).length, 0);
    assert.equal(h.leader().open, 0);
    const ready = h.store.condition("east", "Ready");
    assert.deepEqual([ready?.status, ready?.reason, ready?.cause], ["Unknown", "Paused", undefined]);
    assert.equal(h.shown("east")[2], "Paused");
    assert.equal(h.status("east").clusterStatuses?.[0]?.conditions[0]?.["reason"], "Paused");
    assert.equal(h.status("east").conditions?.[0]?.["status"], "False");

    const writes = h.store.writes;
    const later = await h.start(2);
    await h.clock.advance(60_000);
    assert.deepEqual([h.requests("east", from).length, h.shown("east")[2]], [0, "Paused"]);
    assert.equal(h.store.writes, writes, "a later window has nothing to add");
    assert.deepEqual(later.rounds.at(-1)?.exceptions, {});

    h.store.add({ ...membership });
    await h.prepare();
    await h.clock.advance(10_000);
    assert.deepEqual([h.requests("east", from).length > 0, h.shown("east")[2]], [true, "Connected"]);
    assert.deepEqual(
      h.store.events.map(({ kind }) => kind),
      ["Connected", "Connected"],
    );
    assert.deepEqual(h.bugs, []);
  });

  it("has no beat under way once a pause counts as seen", async () => {
    const { h } = await beating();
    h.leader().fault = () => "hang";
    await h.toGridPoint("east");
    const membership = h.store.memberships.get("east");
    assert.ok(membership);
    h.store.add({ ...membership, paused: true });

    await h.prepare();

    assert.equal(h.leader().open, 0);
    const from = h.leader().requests.length;
    await h.clock.advance(30_000);
    assert.equal(h.leader().requests.length, from);
  });

  it("takes its announce back from the old leader before it announces itself to another", async () => {
    const { h } = await beating();
    h.clusterSet("east", "south");

    await h.clock.advance(60_000);

    assert.equal(h.announce("east"), undefined);
    assert.equal(h.announce("east", "south")?.["leaderClusterID"], "south");
    assert.equal(h.shown("east")[0], "True");
    assert.deepEqual([h.leader().open, h.leader("south").open], [0, 1]);
    assert.deepEqual(
      h.store.events.map(({ kind }) => kind),
      ["Connected", "AnnounceWithdrawn", "Connected"],
    );
  });

  it("leaves the announce of a former identity, and beats under the new one, when the old leader does not answer", async () => {
    const { h } = await beating();
    h.leader().fault = () => kubeError("network", { message: "north is away" });
    h.clusterSet("east", "south");

    await h.clock.advance(60_000);

    assert.equal(h.announce("east", "south")?.["leaderClusterID"], "south");
    const left = h.store.events.filter(({ kind }) => kind === "AnnounceLeftBehind");
    assert.match(
      left.map(({ message }) => message).join(),
      /member-announce-from-east in leader north stays behind .*away/,
    );

    h.leader().fault = () => undefined;
    await h.clock.advance(90_000);
    assert.equal(h.announce("east"), undefined);
    assert.equal(h.store.events.filter(({ kind }) => kind === "AnnounceLeftBehind").length, 1);
    assert.equal(h.leader().open, 0);
  });

  it("announces itself under another cluster ID, and takes the announce of the former one back", async () => {
    const { h } = await beating();
    h.clusterSet("east", "north", { clusterID: "east-2" });

    await h.clock.advance(60_000);

    assert.equal(h.announce("east"), undefined);
    assert.equal(h.announce("east-2")?.["clusterID"], "east-2");
  });

  it("makes its announce anew for a ClusterSet of another name: the old one carries the old name for ever", async () => {
    const { h } = await beating();
    const set = h.member("east").read(clusterSetRef(NAMESPACE, "set"));
    assert.ok(set !== undefined);
    const from = h.leader().requests.length;
    h.member("east").remove(clusterSetRef(NAMESPACE, "set"));
    h.member("east").put(clusterSetRef(NAMESPACE, "other"), { metadata: {}, spec: set["spec"] });

    await h.clock.advance(60_000);

    const verbs = h.requests("east", from).map(({ verb }) => verb);
    assert.deepEqual(verbs.slice(verbs.indexOf("delete"), verbs.indexOf("create") + 1), ["delete", "patch", "create"]);
    assert.equal(h.announce("east")?.["clusterSetID"], "other");
    assert.equal(h.shown("east")[0], "True");
    assert.equal(h.store.memberships.get("east")?.phase, "joined");
  });

  it("keeps the announce of a ClusterSet that was made again with the same IDs", async () => {
    const { h } = await beating();
    const before = h.announce("east")?.metadata.uid;
    h.member("east").remove(clusterSetRef(NAMESPACE, "set"));
    h.clusterSet("east");

    await h.clock.advance(60_000);

    assert.equal(h.announce("east")?.metadata.uid, before);
    assert.equal(h.shown("east")[0], "True");
    assert.equal(h.store.memberships.get("east")?.phase, "joined");
    assert.ok(h.leader().requests.every(({ verb }) => verb !== "delete"));
  });

  it("names an in-cluster agent that still announces the member, once, and forgets it when it has stopped", async () => {
    const h = new RoleHarness();
    h.join("east");
    const hold = await h.start();
    const rival = async (stamp: string): Promise<void> => {
      const before = h.announce("east");
      const annotations = { "touch-ts": stamp };
      h.leader().put(announceRef(COMMON_AREA, "east"), { ...before, metadata: { ...before?.metadata, annotations } });
      await h.toGridPoint("east");
    };

    for (let minute = 10; minute < 16; minute += 1) await rival(`2026-01-01T00:${minute}:00Z`);

    const named = h.store.events.filter(({ kind }) => kind === "InClusterAgentRunning");
    assert.equal(named.length, 1);
    assert.match(named[0]?.message ?? "", /is also written by another agent.*stop its Deployment antrea-mc-controller/);
    assert.equal(hold.rounds.at(-1)?.exceptions["east"]?.kind, "InClusterAgentRunning");
    assert.equal(h.shown("east")[0], "True", "two that beat harm nobody");

    await h.clock.advance(700_000);
    assert.deepEqual(hold.rounds.at(-1)?.exceptions, {});
  });

  it("takes one foreign stamp for chance", async () => {
    const h = new RoleHarness();
    h.join("east");
    const hold = await h.start();
    const before = h.announce("east");
    const annotations = { "touch-ts": "2026-01-01T00:00:00Z" };
    h.leader().put(announceRef(COMMON_AREA, "east"), { ...before, metadata: { ...before?.metadata, annotations } });

    await h.clock.advance(60_000);

    assert.deepEqual(
      h.store.events.filter(({ kind }) => kind === "InClusterAgentRunning"),
      [],
    );
    assert.deepEqual(hold.rounds.at(-1)?.exceptions, {});
  });
});
