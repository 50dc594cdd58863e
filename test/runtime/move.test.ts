import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../lib/base/result.ts";
import { type MovePorts, move, parseMoveEvent } from "../../lib/runtime/move.ts";
import type { PlannedSchedule } from "../../lib/schedule/plan.ts";
import type { State } from "../../lib/state/state.ts";
import { specOf } from "../state/membership-samples.ts";
import { must, never, startTestServer } from "../state/test-table.ts";
import { SETTINGS } from "./lifecycle-world.ts";

const server = await startTestServer();
const HOLD = { signal: never };

class Place {
  readonly schedules = new Map<string, PlannedSchedule>();
  readonly invoked: string[] = [];
  readonly worked = new Set<string>();
  readonly state: State;

  constructor(state: State) {
    this.state = state;
  }

  ports(): MovePorts {
    return {
      memberships: this.state,
      shards: this.state,
      scheduler: {
        ensure: async (planned) => {
          this.schedules.set(planned.name, planned);
          return ok({ outcome: "created", paused: false });
        },
        remove: async ({ name }) => ok(this.schedules.delete(name) ? "removed" : "absent"),
      },
      isWorked: async ({ shard }) => ok(this.worked.has(shard)),
      invoke: async ({ shard }) => {
        this.invoked.push(shard);
        return ok(undefined);
      },
      now: () => 1,
    };
  }

  async join(cluster: string, networkProfile = "default"): Promise<void> {
    const spec = specOf(cluster, { networkProfile });
    must(await this.state.createMembership({ spec, createdBy: "test" }, never));
  }
}

async function place(): Promise<Place> {
  return new Place((await server.table()).open({ shardCapacity: 2 }));
}

const request = (cluster: string, shard?: string) => ({
  cluster,
  protocol: "antrea" as const,
  ...(shard === undefined ? {} : { shard }),
});

test("a move gives the new shard its schedule and a window at once, and takes those of an emptied one away", async () => {
  const world = await place();
  await world.join("east");
  const old = "hawser-dev-announce-default-1";
  const planned = { name: old } as PlannedSchedule;
  world.schedules.set(old, planned);

  const moved = await move(request("east"), SETTINGS, world.ports(), HOLD);

  assert.deepEqual(moved, { ok: true, cluster: "east", from: "default-1", to: "default-2" });
  assert.deepEqual([...world.schedules.keys()], ["hawser-dev-announce-default-2"]);
  assert.deepEqual(world.invoked, ["default-2"]);
  assert.equal(must(await world.state.readMembership("east", "antrea", never))?.assignment, 2);
});

test("a move to a shard that is at work starts no second window, and the same move again does nothing", async () => {
  const world = await place();
  for (const cluster of ["a", "b", "c"]) await world.join(cluster);
  world.worked.add("default-2");

  const first = await move(request("a", "default-2"), SETTINGS, world.ports(), HOLD);
  const again = await move(request("a", "default-2"), SETTINGS, world.ports(), HOLD);

  assert.ok(first.ok && again.ok);
  assert.deepEqual([again.from, again.to], ["default-2", "default-2"]);
  assert.deepEqual(world.invoked, []);
  assert.equal(must(await world.state.readMembership("a", "antrea", never))?.assignment, 2);
});

test("nothing is moved to a shard that is full, unknown, or of another network profile", async () => {
  const world = await place();
  for (const cluster of ["a", "b", "c", "d", "e"]) await world.join(cluster);
  await world.join("other", "edge");

  for (const [shard, why] of [
    ["default-2", /full/],
    ["default-9", /no such shard/],
    ["edge-1", /no such shard/],
  ] as const) {
    const moved = await move(request("a", shard), SETTINGS, world.ports(), HOLD);

    assert.ok(!moved.ok);
    assert.match(moved.errors[0]?.problem ?? "", why);
  }
  const unknown = await move(request("nobody"), SETTINGS, world.ports(), HOLD);
  assert.ok(!unknown.ok && unknown.errors[0]?.path === "cluster");
});

test("an event that asks for no move is none, and one that asks wrongly is told what to send", () => {
  assert.equal(parseMoveEvent({ cluster: "east" }), undefined);
  assert.deepEqual(parseMoveEvent({ move: { cluster: "east" } }), {
    ok: true,
    value: { cluster: "east", protocol: "antrea" },
  });
  const wrong = parseMoveEvent({ move: { cluster: "CANARY", shard: 1 } });
  assert.ok(wrong !== undefined && !wrong.ok);
  assert.deepEqual(wrong.error.map(({ path }) => path).toSorted(), ["move.cluster", "move.shard"]);
  assert.doesNotMatch(JSON.stringify(wrong), /CANARY/);
});
