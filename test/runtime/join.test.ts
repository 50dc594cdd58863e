import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { failed, ok } from "../../lib/base/result.ts";
import { type JoinAnswer, type JoinSettings, join } from "../../lib/runtime/join.ts";
import type { FirstAnnounce, JoinPorts, Preflight } from "../../lib/runtime/join-ports.ts";
import type { PlannedSchedule } from "../../lib/schedule/plan.ts";
import type { MembershipSpec } from "../../lib/state/membership.ts";
import type { State } from "../../lib/state/state.ts";
import { specOf } from "../state/membership-samples.ts";
import { must, never, startTestServer } from "../state/test-table.ts";

const SETTINGS: JoinSettings = {
  stage: "dev",
  group: "hawser-dev",
  functionArnPrefix: "arn:aws:lambda:eu-west-1:123456789012:function:hawser-dev-",
  roleArn: "arn:aws:iam::123456789012:role/scheduler",
  deadLetterArn: "arn:aws:sqs:eu-west-1:123456789012:dead-letters",
  roles: ["announce"],
  createdBy: "test",
};

/** Nobody else is at work for the cluster. */
const HOLD = { signal: never, mayWrite: () => true };

class Killed extends Error {}

/** What a join meets outside the table. */
class Surroundings {
  readonly announced: string[] = [];
  readonly kept: string[] = [];
  readonly schedules = new Map<string, PlannedSchedule>();
  readonly invoked: string[] = [];
  worked = false;
  paused = false;
  /** Of every cluster; undefined: each has its own. */
  uid: string | undefined;
  announce: FirstAnnounce | { readonly fault: string } = { outcome: "created" };
  /** The process is killed before (even) or after (odd) the effect of a call: 2 * call + 0 or 1. */
  killAt = Number.POSITIVE_INFINITY;
  #point = -1;

  ports(state: State): JoinPorts {
    const keep: Preflight["keep"] = async (membership) =>
      await call(async () => {
        const note = { keptLeaderHash: "hash", leader: { clusterID: "north", server: "https://north" } };
        const known = membership.keptLeaderHash === "hash";
        if (!known) this.kept.push(membership.cluster);
        return ok({ outcome: known ? "unchanged" : "updated", note } as const);
      });
    const call = async <T>(effect: () => Promise<T>): Promise<T> => {
      this.#step();
      const result = await effect();
      this.#step();
      return result;
    };
    return {
      protocol: {
        preflight: async (spec) =>
          await call(async () =>
            ok({
              clusterUID: this.uid ?? `uid-of-${spec.cluster}`,
              keep,
              announce: async () => await call(() => this.#announce(spec)),
            }),
          ),
      },
      memberships: {
        createMembership: async (request, signal) => await call(() => state.createMembership(request, signal)),
        updateMembership: async (...args) => await call(() => state.updateMembership(...args)),
      },
      shards: {
        readShard: async (...args) => await state.readShard(...args),
        forgetRetired: async (...args) => await state.forgetRetired(...args),
      },
      scheduler: {
        ensure: async (planned) => await call(() => this.#ensure(planned)),
        remove: async ({ name }) => ok(this.schedules.delete(name) ? "removed" : "absent"),
      },
      isWorked: async () => await call(async () => ok(this.worked)),
      invoke: async ({ role, shard }) =>
        await call(async () => {
          this.invoked.push(`${role} ${shard}`);
          this.worked = true;
          return ok(undefined);
        }),
    };
  }

  #step(): void {
    this.#point += 1;
    if (this.#point === this.killAt) throw new Killed();
  }

  async #announce(spec: MembershipSpec) {
    if ("fault" in this.announce) return failed({ message: this.announce.fault });
    this.announced.push(spec.cluster);
    return ok(this.announce);
  }

  async #ensure(planned: PlannedSchedule) {
    const outcome = this.schedules.has(planned.name) ? ("unchanged" as const) : ("created" as const);
    this.schedules.set(planned.name, planned);
    return ok({ outcome, paused: this.paused });
  }
}

const state: State = (await (await startTestServer()).table()).open();

/** A cluster in a network profile, and so in a shard, of its own. */
function cluster(name: string): MembershipSpec {
  return specOf(name, { networkProfile: name });
}

function outcomes(answer: JoinAnswer): readonly string[] {
  return answer.steps.map(({ step, outcome }) => `${step} ${outcome}`);
}

const FIRST = [
  "identify done",
  "membership created",
  "keep updated",
  "announce created",
  "schedules created",
  "start done",
  "complete updated",
];
const AGAIN = FIRST.filter((line) => !line.startsWith("keep")).map((line) =>
  line === "identify done" ? line : `${line.split(" ")[0]} unchanged`,
);

describe("a join", () => {
  test("says what it did, and the second time that nothing was to do", async () => {
    const world = new Surroundings();
    const spec = cluster("first");

    const first = await join(spec, SETTINGS, world.ports(state), HOLD);
    const second = await join(spec, SETTINGS, world.ports(state), HOLD);

    assert.ok(first.ok && second.ok);
    assert.deepEqual([first.changed, first.shard, outcomes(first)], [true, "first-1", FIRST]);
    assert.deepEqual([second.changed, second.shard, outcomes(second)], [false, "first-1", AGAIN]);
    assert.deepEqual(world.invoked, ["announce first-1"]);
    assert.deepEqual(world.announced, ["first"]);
    const membership = must(await state.readMembership("first", "antrea", never));
    assert.deepEqual(
      [membership?.phase, membership?.clusterUID, membership?.createdBy],
      ["joined", `uid-of-${membership?.cluster}`, "test"],
    );
  });

  test("that was killed between any two steps comes to the same end when it is repeated", async () => {
    const points = 2 * FIRST.length + 2;
    for (let killAt = 0; killAt < points; killAt += 1) {
      const world = new Surroundings();
      const spec = cluster(`killed-${killAt}`);
      world.killAt = killAt;
      await assert.rejects(join(spec, SETTINGS, world.ports(state), HOLD), Killed, `killed at ${killAt}`);
      world.killAt = Number.POSITIVE_INFINITY;

      const repeated = await join(spec, SETTINGS, world.ports(state), HOLD);
      const checked = await join(spec, SETTINGS, world.ports(state), HOLD);

      assert.ok(repeated.ok, `killed at ${killAt}`);
      assert.ok(checked.ok && !checked.changed, `killed at ${killAt}: ${outcomes(checked).join(", ")}`);
      const shard = must(await state.readShard(repeated.shard, never));
      assert.deepEqual([shard?.count, [...world.schedules.keys()]], [1, [`hawser-dev-announce-${repeated.shard}`]]);
      assert.ok(world.announced.length >= 1 && world.invoked.length >= 1);
      assert.equal(must(await state.readMembership(spec.cluster, "antrea", never))?.phase, "joined");
    }
  });

  test("leaves the role alone when a window works it", async () => {
    const world = new Surroundings();
    world.worked = true;

    const answer = await join(cluster("held"), SETTINGS, world.ports(state), HOLD);

    assert.ok(answer.ok);
    assert.deepEqual(world.invoked, []);
  });

  test("starts nothing that a person has paused, and says so", async () => {
    const world = new Surroundings();
    world.paused = true;

    const answer = await join(cluster("paused"), SETTINGS, world.ports(state), HOLD);

    assert.ok(answer.ok);
    assert.deepEqual(world.invoked, []);
    assert.match(
      answer.steps.map(({ message }) => message ?? "").join(),
      /is disabled, and stays so.*announce is paused/,
    );
  });

  test("writes nothing for a cluster that does not say who it is", async () => {
    const world = new Surroundings();
    const ports = world.ports(state);
    const protocol: JoinPorts["protocol"] = {
      preflight: async () => failed({ message: "get namespaces kube-system of silent: no answer" }),
    };

    const answer = await join(cluster("silent"), SETTINGS, { ...ports, protocol }, HOLD);

    assert.ok(!answer.ok);
    assert.deepEqual(outcomes(answer), ["identify failed"]);
    assert.match(answer.errors[0]!.problem, /no answer/);
    assert.equal(must(await state.readMembership("silent", "antrea", never)), undefined);
  });

  test("goes on when the hub does not answer, tells of it, and is complete when repeated", async () => {
    const world = new Surroundings();
    world.announce = { fault: "patch memberclusterannounces at leader of late: 401" };
    const spec = cluster("late");

    const answer = await join(spec, SETTINGS, world.ports(state), HOLD);
    const phase = must(await state.readMembership("late", "antrea", never))?.phase;
    world.announce = { outcome: "created" };
    const repeated = await join(spec, SETTINGS, world.ports(state), HOLD);

    assert.ok(!answer.ok);
    assert.deepEqual(outcomes(answer).slice(1), [
      "membership created",
      "keep updated",
      "announce failed",
      "schedules created",
      "start done",
    ]);
    assert.equal(phase, "joining");
    assert.ok(repeated.ok);
    assert.ok(outcomes(repeated).includes("announce created"));
  });

  test("of a cluster that does not name its hub yet is complete, and says what it waits for", async () => {
    const world = new Surroundings();
    world.announce = { outcome: "waiting", message: "no ClusterSet in kube-system" };

    const answer = await join(cluster("waits"), SETTINGS, world.ports(state), HOLD);

    assert.ok(answer.ok);
    assert.match(JSON.stringify(answer.steps), /"waiting".*no ClusterSet/);
  });

  test("refuses a name that another cluster has", async () => {
    const world = new Surroundings();
    await join(cluster("taken"), SETTINGS, world.ports(state), HOLD);
    world.uid = "uid-2";

    const answer = await join(cluster("taken"), SETTINGS, world.ports(state), HOLD);

    assert.ok(!answer.ok);
    assert.equal(answer.errors[0]!.path, "cluster");
    assert.match(answer.errors[0]!.problem, /another cluster/);
  });

  test("refuses a cluster that has joined under another name, names that, and lets it in once that has left", async () => {
    const world = new Surroundings();
    world.uid = "uid-of-both";
    await join(cluster("one-name"), SETTINGS, world.ports(state), HOLD);

    const answer = await join(cluster("other-name"), SETTINGS, world.ports(state), HOLD);

    assert.ok(!answer.ok);
    assert.deepEqual(
      answer.errors.map(({ path, problem }) => [path, problem]),
      [["cluster", "this cluster has joined already, under another name: one-name"]],
    );
    await state.updateMembership({ cluster: "one-name", protocol: "antrea" }, { phase: "leaving" }, {}, never);
    await state.removeMembership({ cluster: "one-name", protocol: "antrea" }, {}, never);
    const again = await join(cluster("other-name"), SETTINGS, world.ports(state), HOLD);
    assert.ok(again.ok, JSON.stringify(again));
  });

  test("of one cluster at a time or ten at once fills one shard and makes one schedule", async () => {
    const world = new Surroundings();
    const specs = Array.from({ length: 10 }, (_, i) => specOf(`many-${i}`, { networkProfile: "many" }));

    const answers = await Promise.all(specs.map((spec) => join(spec, SETTINGS, world.ports(state), HOLD)));

    assert.deepEqual(new Set(answers.map((answer) => answer.ok && answer.shard)), new Set(["many-1"]));
    assert.equal(must(await state.readShard("many-1", never))?.count, 10);
    assert.equal(world.schedules.size, 1);
  });

  test("that meets a change is an update, and announces again", async () => {
    const world = new Surroundings();
    await join(cluster("changed"), SETTINGS, world.ports(state), HOLD);
    const spec = { ...cluster("changed"), antrea: { namespace: "antrea-multicluster" } };

    const answer = await join(spec, SETTINGS, world.ports(state), HOLD);

    assert.ok(answer.ok);
    assert.deepEqual(outcomes(answer).slice(1, 4), ["membership updated", "announce created", "keep unchanged"]);
  });

  test("keeps what it takes to leave before it announces, and replaces that only by what took an announce", async () => {
    const world = new Surroundings();
    world.announce = { fault: "401" };
    const spec = cluster("keeps");
    await join(spec, SETTINGS, world.ports(state), HOLD);
    const before = [...world.kept];
    const key = { cluster: "keeps", protocol: "antrea" } as const;
    must(await state.updateMembership(key, { keptLeaderHash: "older" }, {}, never));

    await join(spec, SETTINGS, world.ports(state), HOLD);
    const refused = [...world.kept];
    world.announce = { outcome: "updated" };
    await join(spec, SETTINGS, world.ports(state), HOLD);

    assert.deepEqual([before, refused, world.kept], [["keeps"], ["keeps"], ["keeps", "keeps"]]);
    const membership = must(await state.readMembership("keeps", "antrea", never));
    assert.deepEqual([membership?.keptLeaderHash, membership?.leader?.clusterID], ["hash", "north"]);
  });

  test("makes nothing in the hub once another may be at work for the cluster", async () => {
    const world = new Surroundings();
    const hold = { signal: never, mayWrite: () => false };

    const answer = await join(cluster("slow"), SETTINGS, world.ports(state), hold);

    assert.ok(!answer.ok);
    assert.deepEqual([world.kept, world.announced], [[], []]);
    assert.match(answer.errors[0]!.problem, /another may be at work/);
  });
});
