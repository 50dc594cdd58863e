import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { CommandError, EXIT } from "../../../infra/cli/exit-codes.ts";
import { hubAccept } from "../../../infra/cli/hub-accept.ts";
import { until } from "../../support/until.ts";
import { createCluster, createRequest, HubUnderTest, subjectOf } from "../local/hub/hub-under-test.ts";

function adminFile(t: TestContext, hub: HubUnderTest): string {
  const folder = mkdtempSync(join(tmpdir(), "hawser-hub-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "hub.kubeconfig");
  writeFileSync(file, hub.cluster.adminKubeconfig(), { mode: 0o600 });
  return file;
}

describe("hawser hub accept", { timeout: 60_000 }, () => {
  it("accepts a waiting cluster and approves its request, and does nothing when it is repeated", async (t) => {
    t.mock.method(console, "log", () => undefined);
    const hub = await HubUnderTest.start(t, false);
    const bootstrap = await hub.bootstrap();
    await createCluster(bootstrap, "east");
    await createRequest(bootstrap, "east-abcde", "east");
    const kubeconfig = adminFile(t, hub);

    const first = await hubAccept("east", { kubeconfig });
    const second = await hubAccept("east", { kubeconfig });
    await until(() => hub.request("east-abcde").certificate !== undefined && hub.accepted("east") !== undefined);

    assert.deepEqual([first, second], [EXIT.ok, EXIT.ok]);
    assert.equal(hub.accepted("east")?.["status"], "True");
    assert.deepEqual(
      hub.request("east-abcde").conditions?.map(({ reason }) => reason),
      ["ApprovedByHubAdmin"],
    );
  });

  it("approves no request for another cluster's subject, and says so", async (t) => {
    t.mock.method(console, "log", () => undefined);
    const hub = await HubUnderTest.start(t, false);
    const bootstrap = await hub.bootstrap();
    await createCluster(bootstrap, "east");
    await createRequest(bootstrap, "east-forged", "east", subjectOf("west"));

    assert.equal(await hubAccept("east", { kubeconfig: adminFile(t, hub) }), EXIT.degraded);
    assert.deepEqual(hub.request("east-forged"), {});
  });

  it("names a cluster that the hub does not know", async (t) => {
    const hub = await HubUnderTest.start(t, false);

    await assert.rejects(
      hubAccept("north", { kubeconfig: adminFile(t, hub) }),
      (error) => error instanceof CommandError && /the hub has no ManagedCluster north/.test(error.message),
    );
  });
});
