import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { LeaveAnswer } from "../../lib/runtime/leave-answer.ts";
import type { FleetView } from "../../lib/status/fleet.ts";
import { HawserProcess, hawser } from "../support/hawser-process.ts";

describe("in a world whose windows beat", { timeout: 120_000 }, () => {
  let data: string;
  let up: HawserProcess;
  before(async () => {
    data = mkdtempSync(join(tmpdir(), "hawser-lifecycle-"));
    up = new HawserProcess(["up", "--json", "--data", data]);
    await up.until(
      (line) => line["event"] === "condition" && line["type"] === "IsLeader" && line["status"] === "True",
      2,
    );
  });
  after(async () => {
    up.child.kill("SIGINT");
    await up.finished;
    rmSync(data, { recursive: true, force: true });
  });

  const ask = async (...args: string[]) => await hawser(...args, "--data", data);
  const beats = (cluster: string): number => beatsOf(cluster).length;
  const beatsOf = (cluster: string) =>
    up.lines.filter((line) => line["event"] === "beat" && line["cluster"] === cluster);
  const another = async (cluster: string, count = 1): Promise<void> => {
    const wanted = beats(cluster) + count;
    await up.until((line) => line["event"] === "beat" && line["cluster"] === cluster, wanted);
  };

  it("a cluster moves to another shard, and its beats go on", async () => {
    const moved = await ask("move", "west");
    const again = await ask("move", "west", "--to", "default-2");

    assert.deepEqual([moved.code, moved.stdout], [0, "west: moved from shard default-1 to default-2\n"]);
    assert.equal(again.stdout, "west: is in shard default-2 already\n");
    await another("west");
    const wrong = await ask("move", "west", "--to", "nowhere");
    assert.equal(wrong.code, 1);
    assert.match(wrong.stdout, /west: not moved\nshard: there is no such shard/);
  });

  it("a cluster that is paused is shown so and sends nothing, and beats again when it is resumed", async () => {
    const paused = await ask("pause", "east");
    const status = await ask("status", "--json");
    // The window sees it at its next look, a beat later at most.
    await another("west");
    const quiet = beats("east");
    await another("west");

    assert.equal(paused.code, 0, paused.stderr);
    const fleet = JSON.parse(status.stdout) as FleetView;
    assert.equal(fleet.memberships.find(({ cluster }) => cluster === "east")?.state, "Paused");
    assert.equal(status.code, 3);
    assert.equal(beats("east"), quiet);
    assert.equal((await ask("resume", "east")).code, 0);
    await another("east");
  });

  it("a cluster that leaves is gone from table and leader, and no window makes its announce again", async () => {
    const left = await ask("leave", "west", "--json");
    const count = beats("west");
    const again = await ask("leave", "west");
    await another("east");

    const answer = JSON.parse(left.stdout) as LeaveAnswer;
    assert.ok(answer.ok, left.stdout);
    assert.deepEqual([left.code, answer.orphans], [0, []]);
    assert.ok(answer.steps.some(({ step, outcome }) => step === "schedules" && outcome === "done"));
    assert.deepEqual([again.code, again.stdout], [0, "west: there is no such membership, nothing was to do\n"]);
    assert.equal(beats("west"), count);
    const fleet = JSON.parse((await ask("status", "--json")).stdout) as FleetView;
    assert.deepEqual(
      fleet.memberships.map(({ cluster }) => cluster),
      ["east"],
    );
  });
});
