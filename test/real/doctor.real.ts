import assert from "node:assert/strict";
import { after, before, beforeEach, describe, it } from "node:test";
import { AREA, type DoctorWorld, MANIFESTS, startDoctorWorld } from "../e2e/doctor/doctor-world.ts";
import { FAULTS } from "../e2e/doctor/faults.ts";
import { mustTell } from "../e2e/doctor/must-tell.ts";
import { type AntreaClusters, furnishAntreaClusters } from "./antrea-clusters.ts";

describe("a doctor, on real API servers", { timeout: 240_000 }, () => {
  let clusters: AntreaClusters;
  let world: DoctorWorld;
  before(async () => {
    clusters = await furnishAntreaClusters(MANIFESTS);
    world = await startDoctorWorld({
      leader: clusters.leaderCluster,
      member: clusters.east,
      controllers: clusters.leader,
      memberKubeconfig: clusters.members[0]?.kubeconfig ?? "",
      leaderToken: await clusters.leaderCluster.tokenFor(AREA, "member-east"),
    });
    await world.settle();
  });
  beforeEach(async () => await world.beat());
  after(async () => {
    await world.stop();
    await clusters.end();
  });

  it("finds nothing wrong with a healthy membership", async () => {
    const { checks } = await world.examine();

    const others = checks.filter(({ outcome }) => outcome !== "passed");
    assert.deepEqual(others, []);
  });

  for (const fault of FAULTS) it(`tells that ${fault.name}`, async () => await mustTell(world, fault));
});
