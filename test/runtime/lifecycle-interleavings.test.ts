import assert from "node:assert/strict";
import { test } from "node:test";
import type { State } from "../../lib/state/state.ts";
import { must, never, startTestServer } from "../state/test-table.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { seededRandom } from "../support/seeded-random.ts";
import { until } from "../support/until.ts";
import { Busy, Killed, LifecycleWorld } from "./lifecycle-world.ts";

/**
 * Joins, leaves and sweeps side by side, some of them killed: each stops before and after every effect, and chance
 * decides who goes on, so that one at a time does one thing, in every order.
 */

const server = await startTestServer();
const SEEDS = 8;
const SHARD = "p-1";
const CLUSTERS = ["a", "b"];

class Interleaving {
  readonly world: LifecycleWorld;
  readonly state: State;
  readonly random: ReturnType<typeof seededRandom>;
  /** Clusters whose join has come to its end, and whose leave has not begun. */
  readonly served = new Set<string>();
  #waiting: (() => void)[] = [];
  #running = 0;

  constructor(state: State, clock: FakeClock, seed: number) {
    this.state = state;
    this.random = seededRandom(seed);
    this.world = new LifecycleWorld(state, clock, this.random);
    this.world.between = () => new Promise((resolve) => this.#waiting.push(resolve));
  }

  /** Runs all actors to their ends, and looks after every step whether what is needed is there. */
  async run(actors: readonly (() => Promise<void>)[]): Promise<void> {
    const all = Promise.all(
      actors.map(async (actor) => {
        this.#running += 1;
        try {
          await actor();
        } finally {
          this.#running -= 1;
        }
      }),
    );
    while (this.#running > 0) {
      await until(() => this.#waiting.length === this.#running);
      if (this.#running === 0) break;
      await this.#check();
      const [next] = this.#waiting.splice(Math.floor(this.random.next() * this.#waiting.length), 1);
      next?.();
      await until(() => this.#running === 0 || this.#waiting.length === this.#running);
    }
    await all;
  }

  /** At one point of a process, counted from 0, the whole of another one; false when the first has no such point. */
  async within(point: number, one: () => Promise<unknown>, other: () => Promise<unknown>): Promise<boolean> {
    let passed = 0;
    let reached = false;
    this.world.between = async () => {
      if (reached || passed++ !== point) return;
      reached = true;
      await other();
      await this.#check();
    };
    await one();
    await this.#check();
    return reached;
  }

  /** What a cluster that has joined needs is there at every moment. */
  async #check(): Promise<void> {
    if (this.served.size === 0) return;
    const needed = await this.#current();
    const there = [...this.world.schedules.keys()];
    assert.ok(needed !== undefined && there.includes(needed), `${needed} is needed, there is ${there.join(", ")}`);
  }

  async #current(): Promise<string | undefined> {
    const shard = must(await this.state.readShard(SHARD, never));
    if (shard === undefined || shard.count === 0) return undefined;
    return `hawser-dev-announce-${SHARD}${shard.generation > 1 ? `.${shard.generation}` : ""}`;
  }

  /** Nothing is left but what is needed, once nobody is at work and a sweep has looked. */
  async settle(clock: FakeClock): Promise<void> {
    this.world.between = async () => undefined;
    await clock.advance(60_000);
    for (let round = 0; round < 2; round += 1) await this.world.sweep();
    const needed = await this.#current();
    assert.deepEqual([...this.world.schedules.keys()], needed === undefined ? [] : [needed]);
    const members = must(await this.state.readShardMemberships(SHARD, never));
    const shard = must(await this.state.readShard(SHARD, never));
    assert.equal(shard?.count ?? 0, members.length);
    for (const cluster of CLUSTERS) {
      if (members.some((member) => member.cluster === cluster)) continue;
      assert.ok(!this.world.announced.has(cluster), `${cluster} has left, and its announce is there`);
      assert.ok(!this.world.kept.has(cluster), `${cluster} has left, and its leader is kept`);
    }
  }
}

/** One process after the other: what happens to one does not concern the next. */
async function inTurn(turns: number, process: () => Promise<void>): Promise<void> {
  for (let turn = 0; turn < turns; turn += 1) {
    try {
      await process();
    } catch (error) {
      if (!(error instanceof Killed || error instanceof Busy)) throw error;
    }
  }
}

function actorsOf({ world, served, random }: Interleaving): readonly (() => Promise<void>)[] {
  const victim = () => (random.next() < 0.2 ? { killAt: Math.floor(random.next() * 14) } : {});
  const joinsAndLeaves = (cluster: string) => async (): Promise<void> => {
    let joined = false;
    await inTurn(6, async () => {
      joined = !joined;
      if (joined) {
        const answer = await world.join(cluster, "p", victim());
        if (answer.ok) served.add(cluster);
      } else {
        served.delete(cluster);
        await world.leave(cluster, victim());
      }
    });
  };
  const sweeps = async (): Promise<void> => await inTurn(6, async () => void (await world.sweep(victim())));
  return [...CLUSTERS.map(joinsAndLeaves), sweeps];
}

test(`in ${SEEDS} orders no schedule that is needed is ever away, and in the end none is there that is not`, async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const clock = new FakeClock();
    const interleaving = new Interleaving((await server.table()).open({ clock }), clock, seed);
    try {
      await interleaving.run(actorsOf(interleaving));
      await interleaving.settle(clock);
    } catch (error) {
      throw new Error(`seed ${seed}`, { cause: error });
    }
  }
});

test("at every point of a leave, join or sweep the whole of each other one may happen", async () => {
  const processes = {
    "leave a": async ({ world, served }: Interleaving) => {
      served.delete("a");
      await world.leave("a");
    },
    "join b": async ({ world, served }: Interleaving) => {
      if ((await world.join("b", "p")).ok) served.add("b");
    },
    sweep: async ({ world }: Interleaving) => await world.sweep(),
  };
  for (const [first, one] of Object.entries(processes)) {
    for (const [second, other] of Object.entries(processes)) {
      for (let point = 0, more = true; more; point += 1) {
        const clock = new FakeClock();
        const interleaving = new Interleaving((await server.table()).open({ clock }), clock, 1);
        interleaving.world.between = async () => undefined;
        await interleaving.world.join("a", "p");
        interleaving.served.add("a");
        const act = (process: (of: Interleaving) => Promise<unknown>) => async () =>
          await process(interleaving).catch((error: unknown) => assert.ok(error instanceof Busy));
        try {
          more = await interleaving.within(point, act(one), act(other));
          await interleaving.settle(clock);
        } catch (error) {
          throw new Error(`${second} at point ${point} of ${first}`, { cause: error });
        }
      }
    }
  }
});
