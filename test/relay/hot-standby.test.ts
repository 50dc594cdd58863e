import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { Story } from "./story.ts";

const HOT = { standby: "hot" } as const;

describe("a hot standby", () => {
  test("is one: the others end at once", async () => {
    const story = new Story(HOT);
    const { platform } = story;
    platform.invoke(0);
    await story.until(60);
    const standby = platform.invoke(0);
    await story.until(100);

    const third = platform.invoke(0);
    await story.until(101);

    assert.equal(standby.result, undefined);
    assert.equal(standby.prepared, 1);
    assert.equal(third.result?.kind, "heldByOther");
    assert.equal(platform.record?.fence, 1);
  });

  test("takes over within seconds when the holder is killed", async () => {
    const story = new Story(HOT);
    const { platform } = story;
    const holder = platform.invoke(0);
    await story.until(60);
    const standby = platform.invoke(0);
    await story.until(100);

    holder.process.kill();
    await story.until(110);

    assert.equal(platform.record?.fence, 2);
    assert.equal(platform.record?.holder, standby.hold?.holder);
    assert.equal(platform.record?.standby, undefined);
    await story.until(140);
    assert.ok(story.longestGap(3, 140) <= 20);
    assert.ok(standby.hold?.mayWrite());
    assert.deepEqual(platform.violations, []);
  });

  test("does not take a baton whose holder renews, nor after its own pause", async () => {
    const story = new Story(HOT);
    const { platform } = story;
    platform.invoke(0);
    await story.until(60);
    const standby = platform.invoke(0);
    await story.until(100);

    standby.process.pause(false);
    await story.until(120);
    standby.process.resume();
    await story.until(200);

    assert.equal(platform.record?.fence, 1);
  });

  test("does not take the baton because the store was away for both", async () => {
    const story = new Story(HOT);
    const { platform } = story;
    platform.invoke(0);
    await story.until(60);
    platform.invoke(0);
    await story.until(100);

    platform.store.outage = true;
    await story.until(160);
    platform.store.outage = false;
    await story.until(190);

    assert.equal(platform.record?.fence, 1);
    assert.ok(story.longestGap(3, 190) <= 10.2);
  });

  test("takes a yielding baton at once, and the old holder stays as standby until it is relieved", async () => {
    const story = new Story(HOT);
    const { platform } = story;
    const old = platform.invoke(0);
    await story.until(300);
    const next = platform.invoke(0);
    await story.until(630);

    const afterHandover = platform.record;
    const oldId = old.hold?.holder;
    const oldAlive = old.result;
    await story.until(840);
    const fresh = platform.invoke(0);
    await story.until(850);

    assert.equal(afterHandover?.holder, next.hold?.holder);
    assert.equal(afterHandover?.standby?.id, oldId);
    assert.equal(oldAlive, undefined);
    assert.deepEqual(old.result, { kind: "worked", fence: 1, ended: "yielded" });
    assert.equal(fresh.result, undefined);
    assert.notEqual(platform.record?.standby?.id, oldId);
    assert.ok(story.longestGap(3, 850) <= 10.2);
    assert.deepEqual(platform.violations, []);
  });

  test("that was the old holder takes the baton again when the new one dies", async () => {
    const story = new Story(HOT);
    const { platform } = story;
    const old = platform.invoke(0);
    await story.until(300);
    const next = platform.invoke(0);
    await story.until(630);

    next.process.kill();
    await story.until(645);

    assert.equal(platform.record?.fence, 3);
    assert.equal(old.worked, 2);
    assert.ok(story.longestGap(3, 645) <= 20);
  });

  test("that is dead is replaced by a later firing", async () => {
    const story = new Story(HOT);
    const { platform } = story;
    platform.invoke(0);
    await story.until(60);
    const standby = platform.invoke(0);
    await story.until(100);
    standby.process.kill();

    await story.until(165);
    const next = platform.invoke(0);
    await story.until(166);

    assert.equal(next.result, undefined);
    assert.equal(platform.record?.fence, 1);
  });

  test("of a newer deployment relieves the older one and takes over", async () => {
    const story = new Story(HOT);
    const { platform } = story;
    const holder = platform.invoke(0);
    await story.until(60);
    const standby = platform.invoke(0);
    await story.until(100);

    platform.deployedAt += 50_000;
    const next = platform.invoke(0);
    await story.until(110);

    assert.equal(platform.record?.holder, next.hold?.holder);
    assert.deepEqual(standby.result, { kind: "stoodBy", because: "relieved" });
    assert.equal(platform.record?.standby?.id, holder.hold?.holder);
    assert.ok(story.longestGap(3, 110) <= 10.2);
    assert.deepEqual(platform.violations, []);
  });
});
