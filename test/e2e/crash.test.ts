import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { CrashWorld, type Effect, type Traces } from "./crash-world.ts";

const DOCUMENT = {
  cluster: "east",
  protocol: "antrea",
  access: { kubeconfig: { ssm: "/clusters/east" } },
  antrea: { namespace: "kube-system" },
};

/** Numbers of the effects that changed something. */
function pointsOf(effects: readonly Effect[]): readonly number[] {
  return effects.flatMap(({ done }, i) => (done ? [i] : []));
}

describe("a process that is killed after any of its effects", { timeout: 240_000 }, () => {
  let world: CrashWorld;
  let joined: Traces;
  let left: Traces;
  let joining: readonly Effect[];
  let leaving: readonly Effect[];

  async function join(): Promise<readonly Effect[]> {
    const run = await world.run("bootstrap", DOCUMENT);
    assert.ok(!run.killed && run.answer["ok"] === true, JSON.stringify(run));
    return run.effects;
  }

  async function leave(): Promise<readonly Effect[]> {
    const run = await world.run("leave", { cluster: "east" });
    assert.ok(!run.killed && run.answer["ok"] === true, JSON.stringify(run));
    return run.effects;
  }

  async function sweep(): Promise<void> {
    const run = await world.run("sweep", { role: "sweep" });
    assert.ok(!run.killed && run.answer["kind"] === "worked", JSON.stringify(run));
    assert.deepEqual(run.answer["faults"], []);
  }

  /** The events of earlier runs stay, and are not compared; those of one run are. */
  async function tracesSince(events: readonly string[]): Promise<Traces> {
    const traces = await world.traces();
    return { ...traces, events: traces.events.slice(events.length).toSorted() };
  }

  async function imports(): Promise<void> {
    await world.antrea.memberClusters.get("east")?.engine.apply({
      apiVersion: "v1",
      kind: "Service",
      metadata: {
        name: "antrea-mc-web",
        namespace: "default",
        annotations: { "multicluster.antrea.io/imported-service": "true" },
      },
      spec: { ports: [{ port: 80 }] },
    });
  }

  before(async () => {
    world = await CrashWorld.start();
    // The first of all makes what stays for good: schema, shard, schedule group, batons.
    await join();
    await leave();
    await sweep();
    const { events } = await world.traces();
    joining = await join();
    joined = await tracesSince(events);
    await imports();
    const atJoin = (await world.traces()).events;
    leaving = await leave();
    await sweep();
    left = await tracesSince(atJoin);
  });
  after(() => world.stop());

  it("has many to be killed after, in leader, member, table, scheduler, credential store and Lambda", () => {
    const whats = [...joining, ...leaving].filter(({ done }) => done).map(({ what }) => what);
    for (const part of ["leader create", "leader delete", "east delete", "dynamodb", "scheduler", "ssm", "lambda"]) {
      assert.ok(
        whats.some((what) => what.startsWith(part)),
        `${part}: ${whats.join(", ")}`,
      );
    }
    assert.ok(pointsOf(joining).length >= 8 && pointsOf(leaving).length >= 9, whats.join(", "));
    assert.deepEqual([joined.memberships, joined.announces], [["east joined kept"], ["east"]]);
    assert.deepEqual([left.memberships, left.announces, left.imported, left.schedules], [[], [], [], []]);
    assert.deepEqual(left.parameters, ["/clusters/east"]);
  });

  it("while it joins, is joined by the next try as by an undisturbed one, and leaves without a trace", async () => {
    for (const point of pointsOf(joining)) {
      const { what } = joining[point] ?? { what: "" };
      const { events } = await world.traces();
      const run = await world.run("bootstrap", DOCUMENT, point);
      assert.ok(run.killed, what);
      await world.batonsExpire();
      await join();

      const traces = await tracesSince(events);

      assert.deepEqual(traces, joined, `killed after ${point}: ${what}`);
      await leave();
      await sweep();
      assert.deepEqual({ ...(await world.traces()), events: [] }, { ...left, events: [] }, `killed after ${what}`);
    }
  });

  it("while it leaves, is taken to the end of an undisturbed leave by the sweep alone", async () => {
    for (const point of pointsOf(leaving)) {
      await join();
      await imports();
      const { what } = leaving[point] ?? { what: "" };
      const { events } = await world.traces();
      const run = await world.run("leave", { cluster: "east" }, point);
      assert.ok(run.killed, what);
      await world.batonsExpire();
      // Killed before anything was noted: nobody knows of a leave, and the next try is the first.
      if (what.includes("UpdateItem") && point === pointsOf(leaving)[0]) await leave();

      await sweep();

      assert.deepEqual(await tracesSince(events), left, `killed after ${point}: ${what}`);
    }
  });
});
