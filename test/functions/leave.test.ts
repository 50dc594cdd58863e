import assert from "node:assert/strict";
import { after, test } from "node:test";
import { DynamoDBClient, ScanCommand } from "@aws-sdk/client-dynamodb";
import { GetParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { handler as bootstrap } from "../../functions/bootstrap.ts";
import { handler as leave } from "../../functions/leave.ts";
import { handler as sweep } from "../../functions/sweep.ts";
import { startAntreaWorld } from "../antrea/antrea-world.ts";
import { COMMON_AREA } from "../antrea/role-harness.ts";
import { captureOutput } from "../support/captured-output.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { startDeployedEnvironment } from "./deployed-environment.ts";

const deployed = await startDeployedEnvironment();
Object.assign(process.env, deployed.env);
const world = await startAntreaWorld("east", "west");
for (const { cluster, kubeconfig } of world.members) await deployed.putParameter(`/clusters/${cluster}`, kubeconfig);
const ssm = new SSMClient({ endpoint: deployed.env["AWS_ENDPOINT_URL_SSM"] ?? "" });
const table = new DynamoDBClient({ endpoint: deployed.env["AWS_ENDPOINT_URL_DYNAMODB"] ?? "" });

after(async () => {
  ssm.destroy();
  table.destroy();
  await world.end();
  await deployed.stop();
});

const context = () => lambdaContext({ remainingMs: () => 120_000 });

async function join(cluster: string): Promise<void> {
  const access = { kubeconfig: { ssm: `/clusters/${cluster}` } };
  const document = { cluster, protocol: "antrea", access, antrea: { namespace: "kube-system" } };
  const answer = await bootstrap(document, context());
  assert.ok(answer.ok, JSON.stringify(answer));
}

function announced(cluster: string): boolean {
  const name = `member-announce-from-${cluster}`;
  const group = "multicluster.crd.antrea.io";
  const found = world.leaderCluster.engine.readOne(group, "memberclusterannounces", COMMON_AREA, name);
  return found !== undefined && found.metadata["deletionTimestamp"] === undefined;
}

const kept = (cluster: string) =>
  ssm.send(new GetParameterCommand({ Name: `/hawser/test/leaders/${cluster}`, WithDecryption: true }));

test("leaves with what the join kept, although the member's Secret is gone, and shows no secret anywhere", async () => {
  const answers: unknown[] = [];
  let token = "";
  const lines = await captureOutput(async () => {
    await join("east");
    const parameter = (await kept("east")).Parameter;
    assert.equal(parameter?.Type, "SecureString");
    token = (JSON.parse(parameter.Value ?? "{}") as { token: string }).token;
    assert.match(token, /^eyJ/);
    const secret = world.memberClusters.get("east")?.engine.readOne("", "secrets", "kube-system", "leader-token");
    await world.memberClusters.get("east")?.engine.apply({ ...secret, data: {} });

    answers.push(await leave({ cluster: "east" }, context()));
    answers.push(await leave({ cluster: "east" }, context()));
  });

  const { Items = [] } = await table.send(new ScanCommand({ TableName: "hawser-test" }));
  assert.deepEqual(
    answers.map((answer) => (answer as { ok: boolean; changed: boolean }).changed),
    [true, false],
  );
  assert.equal(announced("east"), false);
  await assert.rejects(kept("east"), { name: "ParameterNotFound" });
  const used = world.leaderCluster.requestLog.entries(
    ({ verb, user }) => verb === "delete" && user?.endsWith(":member-east") === true,
  );
  assert.equal(used.length, 1, "the kept token was seen on the wire");
  assert.doesNotMatch(JSON.stringify([answers, Items, lines]), /eyJ[A-Za-z0-9_-]{8,}\./);
  assert.ok(!JSON.stringify([answers, Items, lines]).includes(token));
});

test("of two deliveries of one leave one works, and the other says that it is under way or that nothing was to do", async () => {
  await captureOutput(async () => {
    for (let round = 0; round < 5; round += 1) {
      await join("west");

      const answers = await Promise.all([leave({ cluster: "west" }, context()), leave({ cluster: "west" }, context())]);

      const worked = answers.filter((answer) => answer.ok && answer.changed);
      const others = answers.filter((answer) => !(answer.ok && answer.changed));
      assert.deepEqual([worked.length, others.length], [1, 1]);
      for (const answer of others) {
        if (!answer.ok) assert.match(answer.errors[0]?.problem ?? "", /under way/);
      }
      assert.equal(announced("west"), false);
    }
  });
});

test("of two deliveries of one minute one sweeps, and the other ends at once without an error", async () => {
  const lines = await captureOutput(async () => {
    for (let round = 0; round < 20; round += 1) {
      const answers = await Promise.all([sweep({ role: "sweep" }, context()), sweep({ role: "sweep" }, context())]);
      const kinds = answers.map(({ kind }) => kind).toSorted();
      // The first may have ended before the second began.
      assert.ok(kinds.includes("worked"));
    }
  });

  assert.ok(lines.every((line) => !line.includes('"ERROR"')));
});

test("a leave that cannot reach its leader is taken further by the sweep", async () => {
  await captureOutput(async () => {
    await join("west");
    const down = world.leaderCluster.faults.add({ action: { kind: "reset" } });

    const first = await leave({ cluster: "west" }, context());
    const swept = await sweep({}, context());
    down.remove();

    assert.ok(!first.ok && first.underWay);
    assert.match(first.errors[0]?.remedy ?? "", /tried again.*--force/);
    assert.ok(swept.kind === "worked" && swept.leaving === 1);
    assert.ok(announced("west"));
    const again = await leave({ cluster: "west" }, context());
    assert.ok(again.ok && !announced("west"));
  });
});

test("answers what is wrong with an event, and repeats nothing of it", async () => {
  const answer = await leave({ cluster: "Canary!", force: "yes", extra: 1 }, context());

  assert.ok(!answer.ok && !answer.underWay);
  assert.deepEqual(answer.errors.map(({ path }) => path).toSorted(), ["cluster", "extra", "force"]);
  assert.doesNotMatch(JSON.stringify(answer), /Canary/);
});
