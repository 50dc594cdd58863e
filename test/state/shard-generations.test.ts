import assert from "node:assert/strict";
import { test } from "node:test";
import type { Membership } from "../../lib/state/membership.ts";
import type { Shard } from "../../lib/state/shard.ts";
import { specOf } from "./membership-samples.ts";
import { must, never, settled, startTestServer } from "./test-table.ts";

const state = (await (await startTestServer()).table()).open();

async function join(cluster: string, networkProfile: string): Promise<Membership> {
  const spec = specOf(cluster, { networkProfile });
  const created = await settled(() => state.createMembership({ spec, createdBy: "test" }, never));
  assert.equal(created.kind, "created");
  assert.ok(created.membership !== undefined);
  return created.membership;
}

const key = (cluster: string) => ({ cluster, protocol: "antrea" as const });

async function leave(cluster: string): Promise<void> {
  await settled(() => state.updateMembership(key(cluster), { phase: "leaving" }, {}, never));
  await settled(() => state.detachMembership(key(cluster), { phase: ["leaving", "left"] }, never));
}

async function shardOf(networkProfile: string): Promise<Shard> {
  const shard = must(await state.readShard(`${networkProfile}-1`, never));
  assert.ok(shard !== undefined);
  return shard;
}

test("the last membership that goes retires the shard's schedules, one that is not the last does not", async () => {
  await join("a1", "a");
  await join("a2", "a");

  await leave("a1");
  const one = await shardOf("a");
  await leave("a2");
  const none = await shardOf("a");
  await join("a3", "a");
  const again = await shardOf("a");

  assert.deepEqual([one.count, one.generation, one.retired], [1, 1, []]);
  assert.deepEqual([none.count, none.generation, none.retired.map(({ generation }) => generation)], [0, 2, [1]]);
  assert.deepEqual([again.count, again.generation], [1, 2]);
});

test("a membership that has left its shard stays in the table until it is removed, and is counted once", async () => {
  await join("b1", "b");
  await leave("b1");
  await leave("b1");

  const left = must(await state.readMembership("b1", "antrea", never));
  const members = must(await state.readShardMemberships("b-1", never));
  const before = await shardOf("b");
  await settled(() => state.removeMembership(key("b1"), { phase: ["left"] }, never));
  const after = await shardOf("b");

  assert.deepEqual([left?.phase, members], ["left", []]);
  assert.deepEqual([before.count, after.count, after.generation, after.revision], [0, 0, 2, before.revision]);
  assert.equal(must(await state.readMembership("b1", "antrea", never)), undefined);
});

test("a membership that is on its way is found without reading the others", async () => {
  await join("c1", "c");
  await join("c2", "c");
  await settled(() => state.updateMembership(key("c1"), { phase: "joined" }, {}, never));
  const underWay = async (): Promise<readonly string[]> =>
    must(await state.listUnderWay(never))
      .map(({ cluster, phase }) => `${cluster} ${phase}`)
      .filter((line) => line.startsWith("c"))
      .toSorted();

  const joining = await underWay();
  await settled(() => state.updateMembership(key("c1"), { phase: "leaving" }, {}, never));
  const leaving = await underWay();
  await settled(() => state.detachMembership(key("c1"), {}, never));
  const left = await underWay();
  await settled(() => state.removeMembership(key("c1"), {}, never));

  assert.deepEqual([joining, leaving, left], [["c2 joining"], ["c1 leaving", "c2 joining"], ["c1 left", "c2 joining"]]);
  assert.deepEqual(await underWay(), ["c2 joining"]);
});

test("twelve that come while twelve go leave a shard whose count and generation are those of who is in it", async () => {
  const names = Array.from({ length: 12 }, (_, i) => `d${i}`);
  for (const name of names) await join(name, "d");

  await Promise.all([...names.map(leave), ...names.map((name) => join(`${name}-new`, "d"))]);
  const full = await shardOf("d");
  const members = must(await state.readShardMemberships("d-1", never));
  await Promise.all(members.map(({ cluster }) => leave(cluster)));
  const empty = await shardOf("d");

  assert.deepEqual([full.count, members.length], [12, 12]);
  assert.equal(empty.count, 0);
  assert.equal(empty.generation, full.generation + 1);
  assert.equal(empty.retired.length, empty.generation - 1);
});

test("the last one that moves away retires the schedules of the shard it came from", async () => {
  await join("e1", "e");
  const small = (await (await startTestServer()).table()).open({ shardCapacity: 1 });
  for (const cluster of ["e1", "e2"]) {
    await small.createMembership({ spec: specOf(cluster), createdBy: "test" }, never);
  }
  await small.detachMembership(key("e2"), {}, never);

  const moved = must(await small.moveMembership(key("e1"), "default-2", never));

  assert.equal(moved.kind, "updated");
  const [first, second] = must(await small.listShards("default", never));
  assert.deepEqual([first?.count, first?.generation, first?.retired.length], [0, 2, 1]);
  assert.deepEqual([second?.count, second?.generation], [1, 2]);
});

test("retired schedules are forgotten once, and not when another generation ended meanwhile", async () => {
  await join("f1", "f");
  await leave("f1");
  const seen = await shardOf("f");
  await join("f2", "f");
  await leave("f2");

  const outdated = must(await state.forgetRetired(seen, new Set([1]), never));
  const written = must(await state.forgetRetired(await shardOf("f"), new Set([1]), never));

  assert.deepEqual([outdated, written], ["outdated", "written"]);
  assert.deepEqual(
    (await shardOf("f")).retired.map(({ generation }) => generation),
    [2],
  );
});

test("what a person has disabled is noted without making any window read its memberships again", async () => {
  await join("g1", "g");
  const before = await shardOf("g");

  must(await state.noteDisabledRoles(before, ["announce"], never));

  const after = await shardOf("g");
  assert.deepEqual([after.disabledRoles, after.revision], [["announce"], before.revision]);
});

test("pause, leader and kept credential can be taken away again; only the pause concerns a window", async () => {
  await join("h1", "h");
  const leader = { clusterID: "north", server: "https://north:6443" };
  const revisions: number[] = [];
  for (const change of [
    { leader, keptLeaderHash: "hash" },
    { paused: true },
    { leader: null, keptLeaderHash: null },
    { paused: false },
  ]) {
    must(await state.updateMembership(key("h1"), change, {}, never));
    revisions.push((await shardOf("h")).revision);
  }

  const membership = must(await state.readMembership("h1", "antrea", never));
  assert.deepEqual(
    [membership?.paused, membership?.leader, membership?.keptLeaderHash],
    [undefined, undefined, undefined],
  );
  assert.deepEqual(
    revisions.map((revision) => revision - (revisions[0] ?? 0)),
    [0, 1, 1, 2],
  );
});
