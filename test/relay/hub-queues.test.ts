import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { HubQueues } from "../../lib/relay/hub-queues.ts";

function places(counts: Readonly<Record<string, number>>, concurrency: number) {
  const targets = Object.entries(counts).flatMap(([hub, count]) => Array.from({ length: count }, () => ({ hub })));
  const queues = new HubQueues(concurrency);
  queues.share(targets);
  const running: Record<string, number> = {};
  const ends: (() => void)[] = [];
  for (const { hub } of targets) {
    queues.push(hub, async () => {
      running[hub] = (running[hub] ?? 0) + 1;
      await new Promise<void>((resolve) => {
        ends.push(resolve);
      });
    });
  }
  return { queues, running, ends };
}

describe("the places of hubs", () => {
  test("are shared out by the number of targets, at least one each", () => {
    const { running } = places({ big: 900, small: 99, tiny: 1 }, 100);

    assert.deepEqual(running, { big: 90, small: 10, tiny: 1 });
  });

  test("are never more than a hub has targets", () => {
    const { running } = places({ a: 1, b: 1 }, 100);

    assert.deepEqual(running, { a: 1, b: 1 });
  });

  test("pass to the next that waits, first come first served", async () => {
    const queues = new HubQueues(1);
    queues.share([{ hub: "a" }]);
    const order: number[] = [];
    for (let i = 0; i < 4; i += 1) {
      queues.push("a", async () => {
        order.push(i);
      });
    }

    await queues.idle();

    assert.deepEqual(order, [0, 1, 2, 3]);
  });

  test("forget what waits, and are idle when the last under way has ended", async () => {
    const { queues, running, ends } = places({ a: 10 }, 2);

    queues.clear();
    for (const end of ends) end();
    await queues.idle();

    assert.deepEqual(running, { a: 2 });
  });
});
