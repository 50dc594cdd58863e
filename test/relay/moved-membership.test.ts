import assert from "node:assert/strict";
import { test } from "node:test";
import { ok } from "../../lib/base/result.ts";
import type { RoleWork } from "../../lib/relay/ports.ts";
import { type BeatTarget, Ticker } from "../../lib/relay/ticker.ts";
import { runWindow } from "../../lib/relay/window.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { InMemoryBatonStore } from "../support/in-memory-baton-store.ts";
import { seededRandom } from "../support/seeded-random.ts";

interface Shard {
  revision: number;
  members: readonly string[];
}

function workOf(shard: Shard, clock: FakeClock, beat: (name: string) => void): RoleWork {
  const ticker = new Ticker<BeatTarget>({
    clock,
    intervalMs: 10_000,
    concurrency: 10,
    beat: async ({ name }) => beat(name),
  });
  return {
    prepare: async () => {
      ticker.setTargets(shard.members.map((name) => ({ name, hub: "hub" })));
      return ok(undefined);
    },
    work: (hold) => ticker.run(hold.signal, hold.previousRoundAt),
    close: async () => {},
  };
}

test("a membership that moves to another shard is beaten without a gap, and within a tick by the new one alone", async () => {
  const clock = new FakeClock();
  const store = new InMemoryBatonStore();
  const shards: Record<string, Shard> = {
    a: { revision: 1, members: ["east", "west"] },
    b: { revision: 1, members: ["north"] },
  };
  const beats: { shard: string; name: string; atMs: number }[] = [];
  const end = new AbortController();
  let ids = 0;
  const windows = Object.entries(shards).map(async ([name, shard]) =>
    runWindow({
      key: { role: "announce", scope: name },
      shard: name,
      store,
      revisions: { readRevision: async (asked) => ok(shards[asked]?.revision ?? 0) },
      work: workOf(shard, clock, (target) => beats.push({ shard: name, name: target, atMs: clock.monotonicMs() })),
      clock,
      random: seededRandom(1),
      ids: { uuid: () => `id-${++ids}` },
      remainingMs: () => 900_000 - clock.monotonicMs(),
      deployedAt: 1,
      standby: "cold",
      repeatable: true,
      signal: end.signal,
    }),
  );
  await clock.advance(43_000);

  shards["a"] = Object.assign(shards["a"]!, { revision: 2, members: ["west"] });
  shards["b"] = Object.assign(shards["b"]!, { revision: 2, members: ["north", "east"] });
  await clock.advance(60_000);
  end.abort();
  await clock.advance(100);
  await Promise.all(windows);

  const east = beats.filter(({ name }) => name === "east");
  const gaps = east.map(({ atMs }, i) => atMs - (east[i - 1]?.atMs ?? atMs));
  assert.ok(Math.max(...gaps) <= 10_005, `${Math.max(...gaps)} ms`);
  assert.deepEqual(new Set(east.filter(({ atMs }) => atMs > 53_000).map(({ shard }) => shard)), new Set(["b"]));
  assert.equal(store.peek({ role: "announce", scope: "a" })?.seenRevision, 2);
  assert.equal(clock.sleeping, 0);
});
