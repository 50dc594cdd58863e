import assert from "node:assert/strict";
import { afterEach, beforeEach, describe, it } from "node:test";
import { DEFAULT_WATCH_TIMING } from "../../../lib/antrea/imports/sync-ports.ts";
import { startTestServer } from "../../state/test-table.ts";
import { serviceSpec, specOf } from "./import-world.ts";
import { SyncWorld } from "./sync-world.ts";

const server = await startTestServer();

describe("a member's imports", { timeout: 120_000 }, () => {
  let world: SyncWorld;
  beforeEach(async () => {
    world = await SyncWorld.start(server);
  });
  afterEach(async () => {
    await world.end();
    assert.deepEqual(world.bugs, []);
  });

  const state = async (name: string): Promise<string | undefined> => (await world.records()).get(name)?.state;
  const applied = async (...names: string[]): Promise<void> => {
    await world.until(`${names.join()} to be applied`, async () => {
      const records = await world.records();
      return names.every((name) => records.get(name)?.state === "Applied");
    });
  };
  const ports = (name: string): unknown =>
    (specOf(world.service(name))["ports"] as { port: number }[] | undefined)?.map(({ port }) => port);
  const kinds = async (): Promise<readonly string[]> => (await world.events()).map(({ kind }) => kind);

  it("are applied from a list and from a watch, changed, and removed, with one line for each transition", async () => {
    await world.put("a", serviceSpec("a"));
    await world.open();
    await applied("a");
    await world.put("b", serviceSpec("b"));
    await applied("b");
    await world.put("b", serviceSpec("b", [80, 443]));
    await world.until("the ports", () => JSON.stringify(ports("b")) === "[80,443]");
    await world.remove("a");
    await world.until("a to be gone", async () => (await world.records()).get("a") === undefined);

    assert.equal(world.service("a"), undefined);
    await world.until("the condition", async () => (await world.condition())?.status === "True");
    assert.deepEqual(
      (await kinds()).filter((kind) => kind !== "ImportsWatched"),
      ["ImportApplied", "ImportApplied", "ImportRemoved"],
    );
  });

  it("go on where the last window stopped, with a watch and no list, and nothing that was missed is lost", async () => {
    await world.put("a", serviceSpec("a"));
    await world.put("b", serviceSpec("b"));
    await world.open();
    await applied("a", "b");
    await world.close();
    await world.put("a", serviceSpec("a", [81]));
    await world.remove("b");
    await world.put("c", serviceSpec("c"));
    world.requests();
    await world.open();
    await applied("c");
    await world.until("b to be gone", async () => (await state("b")) === undefined);
    await world.until("a to be changed", () => JSON.stringify(ports("a")) === "[81]");

    assert.ok(world.requests().leader.every((request) => request.startsWith("watch")));
    assert.equal(world.service("b"), undefined);
  });

  it("that the leader deleted while no window ran, and forgot, are removed by what the table knows of them", async () => {
    await world.put("a", serviceSpec("a"));
    await world.put("kept", serviceSpec("kept"));
    await world.open();
    await applied("a", "kept");
    await world.close();
    await world.remove("a");
    world.leader.engine.compact();
    await world.clock.advance(2_400_000);
    world.requests();
    await world.open();
    await world.until("a to be gone", async () => (await state("a")) === undefined);

    assert.equal(world.service("a"), undefined);
    assert.deepEqual(
      world.requests().member.filter((request) => /^(create|update|patch|delete)/.test(request)),
      ["delete services/antrea-mc-a", "delete serviceimports/a"],
    );
    assert.equal((await kinds()).filter((kind) => kind === "ImportRemoved").length, 1);
  });

  it("of a leader that was restored from a backup are listed and compared within ten minutes", async () => {
    await world.put("a", serviceSpec("a"));
    const backup = world.leader.engine.snapshot();
    await world.put("b", serviceSpec("b"));
    await world.open();
    await applied("a", "b");
    await world.close();
    world.leader.engine.restore(backup);
    await world.open();
    await world.pass(600_000);
    await world.until("b to be gone", async () => (await state("b")) === undefined);

    assert.deepEqual([world.service("b"), await state("a")], [undefined, "Applied"]);
  });

  it("write nothing to table, member or leader while nothing changes", async () => {
    await world.put("a", serviceSpec("a"));
    await world.open();
    await applied("a");
    await world.pass(10_000);
    world.requests();
    const before = await world.records();
    await world.pass(60_000);
    const { member, leader } = world.requests();

    assert.ok(
      [...member, ...leader].every((request) => /^(get|list|watch) /.test(request)),
      [...member, ...leader].join(),
    );
    assert.deepEqual(await world.records(), before);
  });

  it("that somebody changed or deleted are put right by the next compare, ten minutes later at most", async () => {
    await world.put("a", serviceSpec("a"));
    await world.put("b", serviceSpec("b"));
    await world.open();
    await applied("a", "b");
    await world.member.engine.apply({
      ...world.service("a"),
      spec: { ...specOf(world.service("a")), ports: [{ name: "p-80", port: 8080, protocol: "TCP" }] },
    } as never);
    await world.member.engine.apply({
      ...world.service("b"),
      metadata: { name: "antrea-mc-b", namespace: "shop", annotations: {} },
    } as never);
    await world.pass(600_000);
    await world.until("a to be put right", () => JSON.stringify(ports("a")) === "[80]");

    await world.until("b to be its user's", async () => (await state("b")) === "Conflicted");
  });

  it("go over half at once only when a second list, a minute later, agrees", async () => {
    for (let i = 0; i < 12; i += 1) await world.put(`s-${i}`, serviceSpec(`s-${i}`));
    await world.open();
    await applied(...Array.from({ length: 12 }, (_, i) => `s-${i}`));
    await world.close();
    for (let i = 0; i < 12; i += 1) await world.remove(`s-${i}`);
    world.leader.engine.compact();
    await world.open();
    await world.until("the brake", async () => (await world.condition())?.reason === "RemovalHeld");
    assert.ok(world.service("s-3"));
    await world.put("s-3", serviceSpec("s-3"));
    await world.pass(62_000);
    await world.until("the others to go", async () => (await world.records()).size === 1);

    assert.ok(world.service("s-3"), "it came back in time");
    assert.equal(world.service("s-4"), undefined);
    assert.ok((await kinds()).includes("ManyImportsRemoved"));
    await world.until("the condition", async () => (await world.condition())?.status === "True");
  });

  it("that fail wait for their own time, and no other one waits for them", async () => {
    const fault = world.member.faults.add({
      match: { verbs: ["create"], resource: "services" },
      times: 3,
      action: { kind: "status", code: 500, reason: "InternalError", message: "no" },
    });
    await world.put("bad", serviceSpec("bad"));
    await world.open();
    await world.until("bad to fail", async () => (await state("bad")) === "Failed");
    await world.put("good", serviceSpec("good"));
    await world.until("both", async () => (await state("bad")) === "Applied" && (await state("good")) === "Applied");
    fault.remove();

    assert.ok((await kinds()).includes("ImportFailed"));
  });

  it("wait while the member is away, and are brought when it is back", async () => {
    await world.put("a", serviceSpec("a"));
    await world.open();
    await applied("a");
    const fault = world.member.faults.add({ match: {}, action: { kind: "reset" } });
    await world.remove("a");
    await world.put("b", serviceSpec("b"));
    await world.pass(10_000);
    await world.until("the condition", async () => (await world.condition())?.reason === "ImportsNotApplied");
    assert.equal(await state("a"), "Removing");
    fault.remove();
    await applied("b");
    await world.until("a to be gone", async () => (await state("a")) === undefined);

    assert.equal(world.service("a"), undefined);
  });

  it("are not written by a window that may not write, and are when it may", async () => {
    await world.put("a", serviceSpec("a"));
    world.mayWrite = false;
    await world.open();
    await world.pass(5_000);
    assert.deepEqual([world.service("a"), (await world.records()).size], [undefined, 0]);
    world.mayWrite = true;
    await applied("a");
  });

  it("are followed at another leader within a minute, where everything is listed anew", async () => {
    await world.put("a", serviceSpec("a"));
    await world.open();
    await applied("a");
    await world.pass(3_000);
    await world.nameLeader("south");
    world.requests();
    await world.pass(60_000);
    await world.until("a list", () => world.requests().leader.some((request) => request.startsWith("list")));
  });

  it("are watched again and again while the leader refuses, with the reason in the condition", async () => {
    const fault = world.leader.faults.add({
      match: { resource: "resourceimports" },
      action: { kind: "status", code: 403, reason: "Forbidden", message: "no rights" },
    });
    await world.put("a", serviceSpec("a"));
    await world.open();
    await world.pass(20_000);
    await world.until("the condition", async () => (await world.condition())?.status === "False");
    assert.equal((await world.condition())?.cause, "PermissionDenied");
    fault.remove();
    await applied("a");
    await world.until("the condition", async () => (await world.condition())?.status === "True");
  });

  it("are taken in by a windowed sync that ends by itself, and the next one goes on", async () => {
    world.pollMs = 1_000;
    await world.put("a", serviceSpec("a"));
    await world.open();
    await world.until("the first to end", () => world.ended());
    assert.equal(await state("a"), "Applied");
    await world.put("b", serviceSpec("b"));
    world.requests();
    await world.open();
    await world.until("the second to end", () => world.ended());

    assert.equal(await state("b"), "Applied");
    assert.ok(world.requests().leader.every((request) => !request.startsWith("list")));
  });

  it("are left alone by a holder that another one has succeeded", async () => {
    await world.put("a", serviceSpec("a"));
    world.timing = { ...DEFAULT_WATCH_TIMING, rereadMs: 3_600_000 };
    await world.open();
    await applied("a");
    const record = (await world.records()).get("a");
    assert.ok(record !== undefined);
    await world.state.writeImport("east", { ...record, fence: 9 }, undefined, new AbortController().signal);
    await world.put("a", serviceSpec("a", [81]));
    await world.until("the sync to end", () => world.ended());

    assert.equal((await world.records()).get("a")?.fence, 9);
  });
});
