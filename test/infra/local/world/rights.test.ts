import { test } from "node:test";
import { BeatLedger } from "../../../../infra/local/world/beats.ts";
import { startSimulated } from "../../../../infra/local/world/simulated.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { memberManifests } from "../../../support/member-manifests.ts";
import { seededRandom } from "../../../support/seeded-random.ts";
import { assertRights } from "./rights.ts";

test("identities in a simulated world have the rights of the manifests and nothing more", async (t) => {
  const world = await startSimulated({
    manifests: { leader: [], members: [memberManifests("east", "ns")] },
    clock: new FakeClock(),
    random: seededRandom(1),
    ledger: new BeatLedger(() => undefined),
    progress: () => undefined,
  });
  t.after(() => world.stop());
  const [east] = world.members;
  const account = { namespace: "ns", name: "member-east" };

  await assertRights({
    hawser: east?.kubeconfig ?? "",
    member: await world.leaderCluster.kubeconfigFor({ serviceAccount: account }),
    secret: "leader-token",
    commonArea: "ns",
  });
});
