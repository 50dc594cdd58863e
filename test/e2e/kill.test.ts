import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { InvokeCommand, LambdaClient } from "@aws-sdk/client-lambda";
import type { MembershipSummary } from "../../infra/local/world/events.ts";
import type { LocalWorldState } from "../../infra/local/world/state-file.ts";
import type { FleetView } from "../../lib/status/fleet.ts";
import { HawserProcess } from "../support/hawser-process.ts";
import { alive, commandAndEnvironment, descendants } from "../support/processes.ts";

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function dataFolder(): string {
  const made = mkdtempSync(join(tmpdir(), "hawser-kill-"));
  folders.push(made);
  return made;
}

/** The process of the window that holds the baton: its environment wrote that it took it. */
function processOf(holder: string, world: HawserProcess, data: string): number {
  const line = readFileSync(join(data, "functions.log"), "utf8")
    .split("\n")
    .find((text) => text.includes("baton taken") && text.includes(holder));
  const { environment } = JSON.parse(line ?? "{}") as { environment?: string };
  assert.ok(environment !== undefined, `no environment of window ${holder} in the log`);
  const pid = descendants(world.child.pid ?? 0).find((child) => commandAndEnvironment(child).includes(environment));
  assert.ok(pid !== undefined, `no process of environment ${environment}`);
  return pid;
}

/** One more delivery of the schedule's event, which may come at any time. */
async function deliverAgain(data: string): Promise<void> {
  const { region, endpoints, functionPrefix } = JSON.parse(
    readFileSync(join(data, "local.json"), "utf8"),
  ) as LocalWorldState;
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new LambdaClient({ region, endpoint: endpoints.lambda, credentials });
  const Payload = JSON.stringify({ role: "announce", shard: "default-1" });
  await client.send(new InvokeCommand({ FunctionName: `${functionPrefix}announce`, InvocationType: "Event", Payload }));
  client.destroy();
}

describe("a kill", { concurrency: true, timeout: 90_000 }, () => {
  it("of the window that holds the baton loses no connection where a standby is hot", async () => {
    const data = dataFolder();
    const up = new HawserProcess(["up", "--standby", "hot", "--for", "24s", "--json", "--data", data]);
    await up.until((line) => line["event"] === "condition" && line["type"] === "IsLeader", 2);
    const [taken] = await up.until((line) => line["event"] === "window");
    await deliverAgain(data);
    const watch = new HawserProcess(["status", "--watch", "--json", "--data", data]);
    const standbyIn = (line: unknown): string | undefined => (line as FleetView).memberships[0]?.window?.standby;
    const [ready] = await watch.until((line) => standbyIn(line) !== undefined);
    watch.child.kill("SIGINT");

    process.kill(processOf(String(taken?.["holder"]), up, data), "SIGKILL");

    const [relieved] = await up.until((line) => line["event"] === "window" && line["fence"] === 2);
    const { code, stderr } = await up.finished;
    assert.equal(code, 0, stderr);
    assert.equal(relieved?.["holder"], standbyIn(ready));
    const summary = up.lines.at(-1) as unknown as { memberships: MembershipSummary[] };
    assert.equal(summary.memberships.length, 2);
    for (const { cluster, connected, maxGapMs, beats } of summary.memberships) {
      assert.equal(connected, true, cluster);
      assert.ok(maxGapMs <= 25_000, `${cluster}: ${maxGapMs} ms between two beats`);
      assert.ok(beats >= 2, `${cluster}: ${beats} beats`);
    }
  });

  it("of the whole world leaves no function behind, and another may begin in the same folder", async () => {
    const data = dataFolder();
    const up = new HawserProcess(["up", "--json", "--data", data]);
    await up.until((line) => line["event"] === "window");
    const children = descendants(up.child.pid ?? 0);
    assert.ok(alive(children).length >= 2, "a function and the watchdog at least");

    up.child.kill("SIGKILL");
    await up.finished;

    const limit = performance.now() + 10_000;
    while (alive(children).length > 0 && performance.now() < limit);
    assert.deepEqual(alive(children).map(commandAndEnvironment), []);
    const again = new HawserProcess(["up", "--json", "--data", data]);
    await again.until((line) => line["event"] === "joined", 2);
    again.child.kill("SIGINT");
    assert.equal((await again.finished).code, 0);
  });
});
