import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import type { MembershipSummary } from "../../infra/local/world/events.ts";
import type { LocalWorldState } from "../../infra/local/world/state-file.ts";
import type { FleetView } from "../../lib/status/fleet.ts";
import { HawserProcess, hawser } from "../support/hawser-process.ts";
import { alive, descendants } from "../support/processes.ts";

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), "hawser-e2e-"));
  folders.push(made);
  return made;
}

async function answers(url: string): Promise<boolean> {
  const { hostname, port } = new URL(url);
  return await new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.on("connect", () => {
      socket.destroy();
      resolve(true);
    });
    socket.on("error", () => resolve(false));
  });
}

describe("the local world", { concurrency: true }, () => {
  it("joins both members, beats on the grid and counts at the leader", async () => {
    const up = new HawserProcess(["up", "--for", "22s", "--json", "--data", folder()]);

    const { code, stderr } = await up.finished;

    assert.equal(code, 0, stderr);
    const summary = up.lines.at(-1) as { event: string; memberships: MembershipSummary[] };
    assert.equal(summary.event, "summary");
    assert.deepEqual(summary.memberships.map((m) => m.cluster).sort(), ["east", "west"]);
    for (const m of summary.memberships) {
      assert.equal(m.connected, true);
      assert.equal(m.missed, 0);
      assert.ok(m.beats >= 2, `${m.cluster}: ${m.beats} beats`);
      const conditions = m.conditions as { type: string; status: string }[];
      assert.deepEqual(
        conditions.map((c) => `${c.type}=${c.status}`),
        ["Ready=True", "IsLeader=True", "ImportsWatched=True"],
      );
    }
  });

  it("hands over from window to window without a missed beat", async () => {
    const up = new HawserProcess(["up", "--window", "45s", "--for", "42s", "--json", "--data", folder()]);

    const { code, stderr } = await up.finished;

    assert.equal(code, 0, stderr);
    const fences = new Set(up.lines.filter((line) => line["event"] === "window").map((line) => line["fence"]));
    assert.ok(fences.size >= 2, "the baton went from one window to the next");
    const summary = up.lines.at(-1) as { event: string; memberships: MembershipSummary[] };
    assert.deepEqual(
      summary.memberships.map((m) => [m.cluster, m.connected, m.missed]),
      [
        ["east", true, 0],
        ["west", true, 0],
      ],
    );
  });

  it("answers status and join while it runs, ends clean on Ctrl-C, and starts again", async () => {
    const data = folder();
    const up = new HawserProcess(["up", "--json", "--data", data]);
    await up.until(
      (line) => line["event"] === "condition" && line["type"] === "IsLeader" && line["status"] === "True",
      2,
    );
    const world = JSON.parse(readFileSync(join(data, "local.json"), "utf8")) as LocalWorldState;

    const status = await hawser("status", "--json", "--data", data);
    const again = await rejoin(data, world);
    const second = await hawser("up", "--for", "1s", "--data", data);
    const children = descendants(up.child.pid ?? 0);
    up.child.kill("SIGINT");
    const began = performance.now();
    const ended = await up.finished;

    assert.equal(status.code, 0, status.stderr);
    const fleet = JSON.parse(status.stdout) as FleetView;
    assert.deepEqual(
      fleet.memberships.map((m) => [m.cluster, m.state]),
      [
        ["east", "Connected"],
        ["west", "Connected"],
      ],
    );
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /east: nothing was to do/);
    assert.equal(second.code, 1);
    assert.match(second.stderr, /a local world runs already in/);
    assert.equal(ended.code, 0, ended.stderr);
    assert.ok(performance.now() - began < 5_000, "took longer than 5 s to end");
    assert.ok(children.length > 0, "the functions ran in processes of their own");
    assert.deepEqual(alive(children), []);
    for (const url of Object.values(world.endpoints)) assert.equal(await answers(url), false, `${url} still answers`);
    const restarted = new HawserProcess(["up", "--json", "--data", data]);
    await restarted.until((line) => line["event"] === "joined", 2);
    restarted.child.kill("SIGINT");
    assert.equal((await restarted.finished).code, 0);
  });
});

/** Joins `east` once more with the document that the world has used. */
async function rejoin(data: string, world: LocalWorldState): ReturnType<typeof hawser> {
  const document = join(data, "east.json");
  writeFileSync(
    document,
    JSON.stringify({
      cluster: "east",
      protocol: "antrea",
      access: { kubeconfig: { file: world.kubeconfigs["east"] } },
      antrea: { namespace: "kube-system", clusterSet: "test-clusterset" },
    }),
  );
  return await hawser("join", "-f", document, "--data", data);
}

describe("the hawser command", () => {
  it("explains itself and its subcommands", async () => {
    for (const args of [["--help"], ["up", "--help"], ["join", "--help"], ["status", "--help"]]) {
      const { code, stdout } = await hawser(...args);
      assert.equal(code, 0);
      assert.match(stdout, /Usage: hawser/);
    }
  });

  it("exits 2 and says what is wrong when it is called wrongly", async () => {
    const cases: [string[], RegExp][] = [
      [["up", "--for", "soon"], /a duration is a number/],
      [["up", "--window", "5s"], /from 45s to 15m/],
      [["up", "--manifests", "x", "--config", "y"], /exclude each other/],
      [["join"], /--file/],
      [["nonsense"], /unknown command/],
      [["status", "--region", "eu-central-1"], /--region needs --stage/],
    ];
    for (const [args, words] of cases) {
      const { code, stderr } = await hawser(...args);
      assert.equal(code, 2, args.join(" "));
      assert.match(stderr, words);
      assert.doesNotMatch(stderr, /\n\s+at /, "a user's mistake shows no stack");
    }
  });

  it("says where no local world runs, and how to get one", async () => {
    const { code, stderr } = await hawser("status", "--data", folder());

    assert.equal(code, 1);
    assert.match(stderr, /no local world runs in .* "npm start"/);
  });

  it("says which folder it cannot write", async () => {
    const file = join(folder(), "file");
    writeFileSync(file, "");

    const { code, stderr } = await hawser("up", "--data", file);

    assert.equal(code, 1);
    assert.match(stderr, /^hawser: .*file cannot be written \(EEXIST\)\. Name another folder with --data\n$/);
  });

  it("names the field of a wrong membership document", async () => {
    const file = join(folder(), "wrong.yaml");
    writeFileSync(file, "cluster: East\nprotocol: antrea\naccess: {}\nantrea: {namespace: kube-system}\n");

    const { code, stderr } = await hawser("join", "-f", file);

    assert.equal(code, 2);
    assert.match(stderr, /cluster/);
    assert.match(stderr, /access/);
  });

  it("names the fault of manifests that hold no member", async () => {
    const manifests = folder();
    writeFileSync(join(manifests, "x.yaml"), "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n");

    const { code, stderr } = await hawser("up", "--manifests", manifests, "--data", folder());

    assert.equal(code, 1);
    assert.match(stderr, /holds no member/);
    assert.doesNotMatch(stderr, /\n\s+at /);
  });
});
