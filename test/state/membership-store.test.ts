import assert from "node:assert/strict";
import { test } from "node:test";
import type { MembershipKey } from "../../lib/state/membership.ts";
import { specOf } from "./membership-samples.ts";
import { must, never, settled, startTestServer } from "./test-table.ts";

const server = await startTestServer();
const key = (cluster: string): MembershipKey => ({ cluster, protocol: "antrea" });
const join = (cluster: string, clusterUID?: string) => ({
  spec: specOf(cluster),
  createdBy: "platform",
  ...(clusterUID === undefined ? {} : { clusterUID }),
});

test("a joined membership is read as it was written, in the first shard of its network profile", async () => {
  const state = (await server.table()).open();

  const created = must(await state.createMembership(join("east", "uid-1"), never));
  const read = must(await state.readMembership("east", "antrea", never));
  const shard = must(await state.readShard("default-1", never));

  assert.equal(created.kind, "created");
  assert.deepEqual(read, created.membership);
  assert.equal(read?.phase, "joining");
  assert.equal(read.assignment, 1);
  const fresh = { generation: 1, retired: [], disabledRoles: [] };
  assert.deepEqual(shard, {
    name: "default-1",
    networkProfile: "default",
    revision: 1,
    count: 1,
    capacity: 1000,
    ...fresh,
  });
});

test("the same document again changes nothing, not even the revision", async () => {
  const state = (await server.table()).open();
  await state.createMembership(join("east", "uid-1"), never);

  const again = must(await state.createMembership(join("east", "uid-1"), never));

  assert.equal(again.kind, "unchanged");
  assert.equal(must(await state.readShard("default-1", never))?.revision, 1);
});

test("another document of the same cluster raises the revision, and the assignment when the access changes", async () => {
  const state = (await server.table()).open();
  await state.createMembership(join("east"), never);

  const tuned = must(
    await state.createMembership({ spec: specOf("east", { failureThreshold: 5 }), createdBy: "x" }, never),
  );
  const spec = { ...specOf("east", { failureThreshold: 5 }), access: { kubeconfig: { ssm: "/clusters/east" } } };
  const reached = must(await state.createMembership({ spec, createdBy: "x" }, never));

  assert.equal(tuned.kind, "updated");
  assert.equal(tuned.membership.assignment, 1);
  assert.equal(reached.membership?.assignment, 2);
  assert.deepEqual(must(await state.readMembership("east", "antrea", never)), reached.membership);
  assert.equal(must(await state.readShard("default-1", never))?.revision, 3);
});

test("a name is refused to a cluster with another UID", async () => {
  const state = (await server.table()).open();
  await state.createMembership(join("east", "uid-1"), never);

  const other = must(await state.createMembership(join("east", "uid-2"), never));
  const later = must(await state.updateMembership(key("east"), { clusterUID: "uid-2" }, {}, never));

  assert.deepEqual([other.kind, "because" in other && other.because], ["refused", "OtherCluster"]);
  assert.deepEqual([later.kind, "because" in later && later.because], ["refused", "OtherCluster"]);
});

test("a name that another protocol has bound to a cluster is refused to a second cluster", async () => {
  const state = (await server.table()).open();
  await state.createMembership({ ...join("east", "uid-1"), spec: { ...specOf("east"), protocol: "ocm" } }, never);

  const other = must(await state.createMembership(join("east", "uid-2"), never));
  const same = must(await state.createMembership(join("east", "uid-1"), never));

  assert.deepEqual([other.kind, other.membership], ["refused", undefined]);
  assert.equal(same.kind, "created");
});

test("of a hundred writers that create one membership, one creates it and all others find it", async () => {
  const table = await server.table();
  const states = Array.from({ length: 4 }, () => table.open());

  const outcomes = await Promise.all(
    Array.from(
      { length: 100 },
      async (_, i) => (await settled(() => states[i % 4]!.createMembership(join("east", "uid"), never))).kind,
    ),
  );

  // Whose answer was lost on the way finds its own membership when it asks again.
  assert.ok(outcomes.filter((kind) => kind === "created").length <= 1);
  assert.ok(outcomes.every((kind) => kind === "created" || kind === "unchanged"));
  assert.equal(must(await states[0]!.readShard("default-1", never))?.count, 1);
});

test("many joins at once fill shards to their capacity and no further", async () => {
  const state = (await server.table()).open({ shardCapacity: 4 });

  await Promise.all(
    Array.from({ length: 10 }, async (_, i) => settled(() => state.createMembership(join(`c${i}`), never))),
  );

  const shards = must(await state.listShards("default", never));
  const members = await Promise.all(
    shards.map(async (s) => must(await state.readShardMemberships(s.name, never)).length),
  );
  assert.deepEqual(
    members.toSorted((a, b) => a - b),
    [2, 4, 4],
  );
  assert.deepEqual(
    shards.map((s) => s.count),
    members,
  );
  assert.deepEqual(
    shards.map((s) => s.name),
    ["default-1", "default-2", "default-3"],
  );
});

test("the first connection raises the revision once", async () => {
  const state = (await server.table()).open();
  await state.createMembership(join("east"), never);

  const first = must(await state.updateMembership(key("east"), { connectedOnce: true }, {}, never));
  const second = must(await state.updateMembership(key("east"), { connectedOnce: true }, {}, never));

  assert.deepEqual([first.kind, second.kind], ["updated", "unchanged"]);
  assert.equal(must(await state.readShard("default-1", never))?.revision, 2);
});

test("a change that expects another phase or assignment is refused", async () => {
  const state = (await server.table()).open();
  await state.createMembership(join("east"), never);

  const phase = must(await state.updateMembership(key("east"), { phase: "left" }, { phase: ["leaving"] }, never));
  const assignment = must(await state.updateMembership(key("east"), { phase: "joined" }, { assignment: 2 }, never));
  const missing = must(await state.updateMembership(key("west"), { phase: "joined" }, {}, never));

  assert.deepEqual([phase.kind, assignment.kind, missing.kind], ["refused", "refused", "absent"]);
});

test("a removed membership takes conditions, cursors and imports with it and keeps its history", async () => {
  const state = (await server.table()).open();
  await state.createMembership(join("east"), never);
  const stamp = { assignment: 1, fence: 1 };
  const condition = { status: "True", reason: "", message: "", observedAt: 1, failures: 0, ...stamp } as const;
  const event = { at: Date.now(), protocol: "antrea", kind: "Connected", message: "" } as const;
  await state.writeCondition({ ...key("east"), area: "announce", type: "Ready" }, condition, { event }, never);
  const source = { server: "https://l", namespace: "n", clusterID: "u" };
  await state.writeCursor("east", "resourceimports", { ...source, resourceVersion: "7", listedAt: 1, ...stamp }, never);

  const removed = must(await state.removeMembership(key("east"), {}, never));
  const again = must(await state.removeMembership(key("east"), {}, never));

  assert.deepEqual([removed.kind, again.kind], ["removed", "absent"]);
  assert.deepEqual(must(await state.readConditions("east", "antrea", never)), []);
  assert.equal(must(await state.readCursor("east", "resourceimports", source, never)), undefined);
  assert.equal(must(await state.readEvents("east", { limit: 10 }, never)).events.length, 1);
  assert.deepEqual(must(await state.readShardMemberships("default-1", never)), []);
  assert.equal(must(await state.readShard("default-1", never))?.count, 0);
});

test("a membership moves to another shard under a new assignment, and both shards learn of it", async () => {
  const state = (await server.table()).open({ shardCapacity: 1 });
  await state.createMembership(join("east"), never);
  await state.createMembership(join("west"), never);
  await state.removeMembership(key("west"), {}, never);

  const moved = must(await state.moveMembership(key("east"), "default-2", never));
  const full = must(await state.createMembership(join("north"), never));
  const refused = must(await state.moveMembership(key("north"), "default-2", never));

  assert.equal(moved.kind, "updated");
  assert.deepEqual([moved.membership.shard, moved.membership.assignment], ["default-2", 2]);
  assert.equal(full.membership?.shard, "default-1");
  assert.equal(refused.kind, "shardFull");
  assert.deepEqual(must(await state.readShardMemberships("default-2", never)), [moved.membership]);
  assert.equal(must(await state.moveMembership(key("east"), "nowhere-1", never)).kind, "noSuchShard");
});

test("a document with another network profile moves the membership to a shard of that profile", async () => {
  const state = (await server.table()).open();
  await state.createMembership(join("east"), never);

  const spec = specOf("east", { networkProfile: "vpc-a" });
  const moved = must(await state.createMembership({ spec, createdBy: "x" }, never));

  assert.equal(moved.membership?.shard, "vpc-a-1");
  assert.equal(must(await state.readShard("default-1", never))?.count, 0);
  assert.deepEqual(
    must(await state.listShards(undefined, never)).map((s) => s.name),
    ["default-1", "vpc-a-1"],
  );
});

test("a shard of more memberships than one batch is read in whole, by cluster name", async () => {
  const table = await server.table();
  const state = table.open();
  const names = Array.from({ length: 110 }, (_, i) => `c${String(i).padStart(4, "0")}`);
  for (const name of names) must(await state.createMembership(join(name), never));

  const memberships = must(await state.readShardMemberships("default-1", never));

  assert.deepEqual(
    memberships.map((m) => m.cluster),
    names,
  );
});

test("a listing gives every membership once over its pages, also of one state alone", async () => {
  const state = (await server.table()).open();
  const names = Array.from({ length: 12 }, (_, i) => `c${i}`);
  for (const name of names) must(await state.createMembership(join(name), never));
  for (const name of names.slice(0, 5)) {
    await state.updateMembership(key(name), { summary: { state: "Connected", since: 1 } }, {}, never);
  }

  const seen: string[] = [];
  let startFrom: string | undefined;
  do {
    const page = must(await state.listMemberships({ limit: 5, startFrom }, never));
    assert.ok(page.memberships.length <= 5);
    seen.push(...page.memberships.map((m) => m.cluster));
    startFrom = page.next;
  } while (startFrom !== undefined);
  const connected = must(await state.listMemberships({ state: "Connected" }, never));

  assert.deepEqual(seen.toSorted(), names.toSorted());
  assert.deepEqual(connected.memberships.map((m) => m.cluster).toSorted(), names.slice(0, 5).toSorted());
});

test("a made-up page token is refused", async () => {
  const state = (await server.table()).open();

  const answer = await state.listMemberships({ startFrom: "nonsense" }, never);

  assert.equal(answer.ok, false);
  assert.equal(!answer.ok && answer.error.kind, "invalid");
});
