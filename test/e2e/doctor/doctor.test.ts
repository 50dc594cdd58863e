import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, it } from "node:test";
import { ApiClient } from "../../../infra/local/api-client/api-client.ts";
import { BeatLedger } from "../../../infra/local/world/beats.ts";
import { type SimulatedWorld, startSimulated } from "../../../infra/local/world/simulated.ts";
import { writeLocalWorld } from "../../../infra/local/world/state-file.ts";
import { systemClock } from "../../../lib/base/clock.ts";
import type { DoctorReport } from "../../../lib/doctor/doctor.ts";
import { hawser } from "../../support/hawser-process.ts";
import { seededRandom } from "../../support/seeded-random.ts";
import { ANNOUNCE, AREA, type DoctorWorld, MANIFESTS, startDoctorWorld } from "./doctor-world.ts";
import { AT, FUNCTIONS, STAGE, TABLE } from "./embedded-aws.ts";
import { FAULTS } from "./faults.ts";
import { mustTell } from "./must-tell.ts";

describe("a doctor", { timeout: 110_000 }, () => {
  let clusters: SimulatedWorld;
  let world: DoctorWorld;
  const admins: ApiClient[] = [];
  before(async () => {
    clusters = await startClusters();
    const { leaderCluster, leader: controllers, members } = clusters;
    const member = clusters.memberClusters.get("east");
    assert.ok(member);
    const furnish = (cluster: { url: string; caPem: string; adminKubeconfig(): string }) => {
      const admin = new ApiClient(cluster.adminKubeconfig());
      admins.push(admin);
      return { url: cluster.url, caPem: cluster.caPem, admin };
    };
    world = await startDoctorWorld({
      leader: furnish(leaderCluster),
      member: furnish(member),
      controllers,
      memberKubeconfig: members[0]?.kubeconfig ?? "",
      leaderToken: leaderCluster.tokenFor(AREA, "member-east"),
    });
    await world.settle();
  });
  beforeEach(async () => await world.beat());
  after(async () => {
    await world.stop();
    for (const admin of admins) await admin.close();
    await clusters.stop();
  });

  it("finds nothing wrong with a healthy membership, and changes nothing", async () => {
    const announce = async () => (await world.leader.admin.request("GET", ANNOUNCE)).body.metadata.resourceVersion;
    const before = await announce();

    const report = await world.examine();

    const others = report.checks.filter(({ outcome }) => outcome !== "passed");
    assert.deepEqual(others, []);
    assert.equal(report.checks.length, 31);
    assert.equal(report.healthy, true);
    assert.equal(await announce(), before);
  });

  it("sends nothing that makes an announce where there is none", async () => {
    const { admin } = world.leader;
    await admin.request("DELETE", ANNOUNCE);
    while ((await admin.request("GET", ANNOUNCE)).code !== 404);

    const report = await world.examine();

    const webhook = report.checks.find(({ side, check }) => side === "leader" && check === "webhook");
    assert.equal(webhook?.outcome, "passed");
    assert.match(webhook?.tried ?? "", /^create MemberClusterAnnounce .* as a dry run$/);
    assert.equal((await admin.request("GET", ANNOUNCE)).code, 404);
  });

  it("speaks by the command line, for people and for programs, and exits with 1 when something fails", async () => {
    const data = mkdtempSync(join(tmpdir(), "hawser-doctor-"));
    const { endpoints, state } = world.aws;
    const signal = new AbortController().signal;
    const event = { at: Date.now(), protocol: "antrea", kind: "Connected", message: "Connected to north" } as const;
    await state.writeEvent("east", event, signal);
    const names = { region: AT.region, stage: STAGE, table: TABLE, functionPrefix: FUNCTIONS };
    writeLocalWorld(data, { pid: process.pid, ...names, endpoints, kubeconfigs: {} });

    const well = await hawser("doctor", "east", "--data", data);
    const events = await hawser("events", "east", "--since", "1h", "--json", "--data", data);
    await world.aws.expireBaton(Date.now() - 90_000);
    const ill = await hawser("doctor", "east", "--data", data);
    const asJson = await hawser("doctor", "east", "--json", "--data", data);
    await world.aws.expireBaton(Date.now() + 3_600_000);
    rmSync(data, { recursive: true });

    assert.equal(well.code, 0, well.stdout + well.stderr);
    assert.match(well.stdout, /^east in the local world, asked from this machine:\n {2}ok {8}aws table +it answers\n/);
    assert.match(well.stdout, /31 checks in \d\.\d s: nothing failed\n$/);
    assert.equal((JSON.parse(events.stdout) as { message: string }).message, "Connected to north");
    assert.equal(ill.code, 1);
    assert.match(
      ill.stdout,
      /FAILED {4}aws baton +TimedOut\n {12}tried: .*\n {12}came back: .*stale.*\n {12}do: .*aws logs tail/,
    );
    assert.match(ill.stdout, /1 failed, 1 not asked\n$/);
    assert.equal(asJson.code, 1);
    assert.equal((JSON.parse(asJson.stdout) as DoctorReport).healthy, false);
  });

  it("asks nothing of a cluster that nobody has joined", async () => {
    const { checks } = await world.examine("south");

    const failed = checks.filter(({ outcome }) => outcome === "failed");
    assert.deepEqual(
      failed.map(({ side, check }) => `${side} ${check}`),
      ["aws membership"],
    );
    assert.ok(failed[0]?.outcome === "failed");
    assert.equal(failed[0].remedy, "hawser join -f FILE");
    assert.equal(checks.filter(({ outcome }) => outcome === "notAsked").length, 27);
  });

  for (const fault of FAULTS) it(`tells that ${fault.name}`, async () => await mustTell(world, fault));
});

async function startClusters(): Promise<SimulatedWorld> {
  const ledger = new BeatLedger(() => undefined);
  const random = seededRandom(7);
  return await startSimulated({ manifests: MANIFESTS, clock: systemClock, random, ledger, progress: () => undefined });
}
