import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { MemberVisits } from "../../lib/antrea/member-visit.ts";
import { CLUSTER_SETS } from "../../lib/antrea/resources.ts";
import { failed, ok } from "../../lib/base/result.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { kubeError, MemoryCluster } from "./memory-cluster.ts";
import { membershipOf, NAMESPACE, never } from "./role-harness.ts";

const VISIT_MS = 8_000;

/** Members of which some hang until they are given up. */
class World {
  readonly clock = new FakeClock();
  readonly hanging = new Set<string>();
  readonly visits: MemberVisits;
  mostOpen = 0;
  readonly #members = new MemoryCluster();

  constructor() {
    this.visits = new MemberVisits(
      this.clock,
      {
        connectMember: async ({ cluster }) => {
          const client = this.#members.client(cluster);
          this.mostOpen = Math.max(this.mostOpen, this.#members.open);
          return ok(client);
        },
      },
      VISIT_MS,
    );
    this.#members.fault = ({ name }) => (this.hanging.has(name) ? "hang" : undefined);
  }

  get open(): number {
    return this.#members.open;
  }

  /** Visits a member; at what moment it was over. */
  async visit(cluster: string, signal: AbortSignal = never): Promise<number> {
    const ref = { type: CLUSTER_SETS, namespace: NAMESPACE, name: cluster };
    await this.visits.visit(membershipOf(cluster), signal, async (member, options) => await member.get(ref, options));
    return this.clock.monotonicMs();
  }

  /** Visits all; at what moments since now each was over. */
  async round(clusters: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const startMs = this.clock.monotonicMs();
    const over = new Map<string, number>();
    const all = Promise.all(clusters.map(async (c) => over.set(c, (await this.visit(c)) - startMs)));
    for (let turns = 0; turns < 200 && over.size < clusters.length; turns += 1) await this.clock.advance(1_000);
    await all;
    return over;
  }
}

describe("visits to 1,000 members of which 100 hang", () => {
  const names = Array.from({ length: 1_000 }, (_, i) => `member-${i}`);

  it("reach every other within the time that a window prepares, and without delay from the second round on", async () => {
    const world = new World();
    for (const name of names.slice(0, 100)) world.hanging.add(name);

    const first = await world.round(names);
    const second = await world.round(names);

    const latest = (over: ReadonlyMap<string, number>): number =>
      Math.max(...[...over].filter(([name]) => !world.hanging.has(name)).map(([, ms]) => ms));
    assert.ok(latest(first) < 8_000, `the last one that answers was reached after ${latest(first)} ms`);
    assert.ok(latest(second) < 1_000, `the last one that answers was reached after ${latest(second)} ms`);
    assert.ok(world.mostOpen <= 64, `${world.mostOpen} connections at a time`);
    assert.equal(world.open, 0);
  });

  it("reach one that has come back as quickly as any other, once it was seen again", async () => {
    const world = new World();
    world.hanging.add("member-1");
    await world.round(["member-1"]);
    world.hanging.clear();
    await world.round(["member-1"]);
    for (const name of names.slice(500, 600)) world.hanging.add(name);
    await world.round(names.slice(500, 600));

    const rest = world.round(names.slice(500, 600));
    const over = await world.visit("member-1");

    assert.equal(over, world.clock.monotonicMs());
    await rest;
  });
});

describe("a visit", () => {
  it("that waits for its turn ends at once when it is told to", async () => {
    const world = new World();
    const hanging = Array.from({ length: 200 }, (_, i) => `member-${i}`);
    for (const name of hanging) world.hanging.add(name);
    const others = world.round(hanging);
    const stop = new AbortController();
    let over = false;
    const waiting = world.visit("east", stop.signal).then(() => {
      over = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    assert.equal(over, false);

    stop.abort();
    await new Promise((resolve) => setImmediate(resolve));

    assert.equal(over, true);
    await waiting;
    await others;
  });

  it("to a slow member is made again with more time, and says what it met then", async () => {
    const clock = new FakeClock();
    const member = new MemoryCluster();
    const visits = new MemberVisits(clock, { connectMember: async () => ok(member.client("east")) }, VISIT_MS);
    const limits: number[] = [];

    const visited = visits.visit(membershipOf("east"), never, async (_member, { timeoutMs, signal }) => {
      limits.push(timeoutMs);
      await clock.sleep(5_000, signal);
      return signal?.aborted === true ? failed(kubeError("timeout")) : ok("read");
    });
    await clock.advance(VISIT_MS);

    assert.deepEqual(await visited, ok(ok("read")));
    assert.deepEqual(limits, [3_000, 8_000]);
  });
});
