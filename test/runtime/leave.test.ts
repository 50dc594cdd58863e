import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { LeaveAnswer } from "../../lib/runtime/leave-answer.ts";
import { RETIRED_MS } from "../../lib/state/shard.ts";
import type { State } from "../../lib/state/state.ts";
import { must, never, startTestServer } from "../state/test-table.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { Killed, LifecycleWorld } from "./lifecycle-world.ts";

const server = await startTestServer();

interface Stage {
  readonly world: LifecycleWorld;
  readonly state: State;
  readonly clock: FakeClock;
}

async function stage(): Promise<Stage> {
  const clock = new FakeClock();
  const state = (await server.table()).open({ clock });
  return { world: new LifecycleWorld(state, clock, seededRandom(1)), state, clock };
}

function outcomes(answer: LeaveAnswer): readonly string[] {
  return answer.steps.map(({ step, outcome }) => `${step} ${outcome}`);
}

const key = (cluster: string) => ({ cluster, protocol: "antrea" as const });

async function kinds(state: State, cluster: string): Promise<readonly string[]> {
  const { events } = must(await state.readEvents(cluster, { limit: 50 }, never));
  // Those of one millisecond have no order.
  return events.map(({ kind }) => kind).toSorted();
}

describe("a leave", () => {
  test("stops beats, cleans the member, leaves the hub, forgets the credential, the schedules and the membership", async () => {
    const { world, state } = await stage();
    await world.join("whole", "whole");
    world.imported.add("whole");

    const answer = await world.leave("whole");
    const again = await world.leave("whole");

    assert.ok(answer.ok && answer.changed, JSON.stringify(answer));
    assert.deepEqual(outcomes(answer), [
      "leaving done",
      "stop done",
      "member done",
      "hub done",
      "credential done",
      "shard done",
      "schedules done",
      "table done",
    ]);
    assert.deepEqual(again, { ok: true, cluster: "whole", changed: false, orphans: [], steps: [] });
    assert.deepEqual(
      [world.announced, world.imported, world.kept, world.schedules].map(({ size }) => size),
      [0, 0, 0, 0],
    );
    assert.equal(must(await state.readMembership("whole", "antrea", never)), undefined);
    assert.deepEqual(await kinds(state, "whole"), ["Leaving", "Left"].toSorted());
  });

  test("that is killed before or after any effect comes to the end of one that is not, by the sweep alone", async () => {
    const { world: undisturbed } = await stage();
    await undisturbed.join("undisturbed", "undisturbed");
    undisturbed.effects = 0;
    await undisturbed.leave("undisturbed");
    const points = 2 * undisturbed.effects;
    assert.ok(points >= 14);

    for (let killAt = 0; killAt < points; killAt += 1) {
      const { world, state, clock } = await stage();
      const cluster = `killed-${killAt}`;
      await world.join(cluster, cluster);
      await assert.rejects(world.leave(cluster, { killAt }), Killed);
      // Before the first effect nobody knows that the cluster was to be left.
      if (killAt === 0) assert.ok((await world.leave(cluster)).ok);
      await clock.advance(60_000);

      await world.sweep();

      const left = [world.announced, world.kept, world.schedules].map(({ size }) => size);
      assert.deepEqual(left, [0, 0, 0], `killed at ${killAt}`);
      assert.equal(must(await state.readMembership(cluster, "antrea", never)), undefined, `killed at ${killAt}`);
      const shard = must(await state.readShard(`${cluster}-1`, never));
      assert.deepEqual([shard?.count, shard?.generation], [0, 2], `killed at ${killAt}`);
      assert.deepEqual(await kinds(state, cluster), ["Leaving", "Left"].toSorted(), `killed at ${killAt}`);
      assert.ok(must(await state.listUnderWay(never)).every((of) => of.cluster !== cluster));
    }
  });

  test("that is killed again and again, and its sweeps too, still comes to its end", async () => {
    const { world, state, clock } = await stage();
    await world.join("harried", "harried");
    await assert.rejects(world.leave("harried", { killAt: 1 }), Killed);
    for (let killAt = 0; killAt < 12; killAt += 1) {
      await clock.advance(60_000);
      await world.sweep({ killAt }).catch((error: unknown) => assert.ok(error instanceof Killed));
    }

    await world.sweep();

    assert.equal(must(await state.readMembership("harried", "antrea", never)), undefined);
    assert.deepEqual([world.announced.size, world.kept.size, world.schedules.size], [0, 0, 0]);
  });

  test("keeps the schedules of a shard that is not empty", async () => {
    const { world } = await stage();
    await world.join("stays", "shared");
    await world.join("goes", "shared");

    const answer = await world.leave("goes");

    assert.ok(answer.ok && outcomes(answer).includes("schedules unchanged"));
    assert.deepEqual([...world.schedules.keys()], ["hawser-dev-announce-shared-1"]);
  });

  test("cleans the member and stops beats while the leader is down for an hour, and is done soon after it is back", async () => {
    const { world, state, clock } = await stage();
    await world.join("patient", "patient");
    world.imported.add("patient");
    world.hubFault = "delete memberclusterannounces at leader of patient: connection refused";

    const first = await world.leave("patient");
    for (let minute = 0; minute < 60; minute += 1) {
      await clock.advance(60_000);
      await world.sweep();
    }
    const during = must(await state.readMembership("patient", "antrea", never));
    const attempts = during?.leave?.attempts ?? 0;
    world.hubFault = undefined;
    let minutes = 0;
    while (must(await state.readMembership("patient", "antrea", never)) !== undefined) {
      minutes += 1;
      await clock.advance(60_000);
      await world.sweep();
    }

    assert.ok(!first.ok && first.underWay);
    assert.deepEqual(outcomes(first), ["leaving done", "stop done", "member done", "hub failed"]);
    assert.equal(world.imported.size, 0);
    assert.deepEqual(
      [during?.phase, during?.summary.state, during?.summary.cause],
      ["leaving", "Leaving", "APIServerUnreachable"],
    );
    assert.match(during?.leave?.problem ?? "", /connection refused/);
    assert.ok(attempts >= 12 && attempts <= 25, `${attempts} attempts`);
    assert.ok(minutes <= 6, `${minutes} minutes`);
    assert.deepEqual(await kinds(state, "patient"), ["LeaveDelayed", "Leaving", "Left"].toSorted());
    assert.deepEqual([world.announced.size, world.kept.size, world.schedules.size], [0, 0, 0]);
  });

  test("leaves the hub although the member is gone, and comes to an end with force, which names what stays", async () => {
    const { world, state } = await stage();
    await world.join("wrecked", "wrecked");
    world.memberFault = "list services of wrecked: no route to host";

    const first = await world.leave("wrecked");
    const announced = world.announced.size;
    const forced = await world.leave("wrecked", { force: true });

    assert.ok(!first.ok && first.underWay);
    assert.equal(announced, 0);
    assert.ok(forced.ok);
    assert.deepEqual(forced.orphans, ["what wrecked has there"]);
    const { events } = must(await state.readEvents("wrecked", { limit: 9 }, never));
    const left = events.find(({ kind }) => kind === "Left");
    assert.match(left?.message ?? "", /stays behind: what wrecked has there/);
  });

  test("deletes nothing while a window may still beat by an older view, and goes on when that one is gone", async () => {
    const { world, state, clock } = await stage();
    await world.join("beaten", "beaten");
    const revision = must(await state.readShard("beaten-1", never))?.revision ?? 0;
    const baton = { role: "announce", scope: "beaten-1" };
    const expiresAt = clock.now().getTime() + 25_000;
    const held = { fence: 1, renewals: 1, holder: "w", expiresAt, seenRevision: revision, writeId: "1" };
    must(await state.batons.change(baton, "absent", held, never));

    const early = await world.leave("beaten");
    const announced = world.announced.size;
    must(await state.batons.change(baton, { fence: 1 }, { seenRevision: revision + 1, writeId: "2" }, never));
    const seen = await world.leave("beaten");

    assert.ok(!early.ok);
    assert.deepEqual(outcomes(early), ["leaving done", "stop failed"]);
    assert.deepEqual([announced, world.announced.size], [1, 0]);
    assert.ok(seen.ok);

    await world.join("abandoned", "beaten");
    must(await state.batons.change(baton, { fence: 1 }, { seenRevision: 0, writeId: "3" }, never));
    await clock.advance(30_000);
    assert.ok((await world.leave("abandoned")).ok);
  });

  test("after which a ClusterSet is gone leaves a membership that waits for the next one, and can be joined again", async () => {
    const { world, state, clock } = await stage();
    await world.join("reborn", "reborn");
    const change = { phase: "leaving", leaveReason: "ClusterSetDeleted" } as const;
    const before = must(await state.updateMembership(key("reborn"), change, {}, never));
    assert.equal(before.kind, "updated");
    await clock.advance(60_000);

    const swept = await world.sweep();

    const after = must(await state.readMembership("reborn", "antrea", never));
    assert.deepEqual(swept.left, ["reborn"]);
    assert.deepEqual(
      [after?.phase, after?.leaveReason, after?.leave, after?.keptLeaderHash, after?.leader, after?.summary.state],
      ["joining", undefined, undefined, undefined, undefined, "Pending"],
    );
    assert.deepEqual([world.announced.size, world.kept.size, world.schedules.size], [0, 0, 1]);
    assert.equal(after?.assignment, 2);
    const joined = await world.join("reborn", "reborn");
    assert.ok(joined.ok && world.announced.has("reborn"));
  });

  test("on request takes a membership whose ClusterSet was deleted out of the table as well", async () => {
    const { world, state } = await stage();
    await world.join("final", "final");
    await state.updateMembership(key("final"), { phase: "leaving", leaveReason: "ClusterSetDeleted" }, {}, never);

    const answer = await world.leave("final");

    assert.ok(answer.ok);
    assert.equal(must(await state.readMembership("final", "antrea", never)), undefined);
  });
});

describe("a join", () => {
  test("that is killed before or after any effect is completed by the sweep once its role has connected", async () => {
    const { world: undisturbed } = await stage();
    await undisturbed.join("whole-join", "whole-join");
    const points = 2 * undisturbed.effects;

    for (let killAt = 0; killAt < points; killAt += 1) {
      const { world, state, clock } = await stage();
      const cluster = `cut-${killAt}`;
      await assert.rejects(world.join(cluster, cluster, { killAt }), Killed);
      if (must(await state.readMembership(cluster, "antrea", never)) === undefined) continue;
      await clock.advance(60_000);
      await world.sweep();
      assert.deepEqual([...world.schedules.keys()], [`hawser-dev-announce-${cluster}-1`], `killed at ${killAt}`);
      await state.updateMembership(key(cluster), { connectedOnce: true }, {}, never);

      await world.sweep();

      assert.equal(must(await state.readMembership(cluster, "antrea", never))?.phase, "joined", `killed at ${killAt}`);
      assert.ok((await world.leave(cluster)).ok);
      assert.deepEqual([world.announced.size, world.kept.size, world.schedules.size], [0, 0, 0], `killed at ${killAt}`);
    }
  });

  test("that was cut off and never connected is left without a trace", async () => {
    for (let killAt = 2; killAt < 12; killAt += 1) {
      const { world, state } = await stage();
      const cluster = `gone-${killAt}`;
      await assert.rejects(world.join(cluster, cluster, { killAt }), Killed);

      const answer = await world.leave(cluster);

      assert.ok(answer.ok, `killed at ${killAt}: ${JSON.stringify(answer)}`);
      assert.deepEqual([world.announced.size, world.kept.size, world.schedules.size], [0, 0, 0], `killed at ${killAt}`);
      assert.equal(must(await state.readMembership(cluster, "antrea", never)), undefined);
    }
  });
});

test("retired schedules are looked for as long as an invocation may live that could still make them", async () => {
  const { world, state, clock } = await stage();
  await world.join("late", "late");
  await world.leave("late");
  const name = "hawser-dev-announce-late-1";
  await world.join("late", "late");
  const made = world.schedules.get(`${name}.2`);
  assert.ok(made !== undefined);
  await clock.advance(10 * 60_000);
  world.schedules.set(name, { ...made, name });

  await world.sweep();
  const remembered = must(await state.readShard("late-1", never))?.retired.length;
  await clock.advance(RETIRED_MS);
  await world.sweep();

  assert.deepEqual([...world.schedules.keys()], [`${name}.2`]);
  assert.deepEqual([remembered, must(await state.readShard("late-1", never))?.retired.length], [1, 0]);
});
