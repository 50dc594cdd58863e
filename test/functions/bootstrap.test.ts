import assert from "node:assert/strict";
import { after, test } from "node:test";
import { GetScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { handler as announce } from "../../functions/announce.ts";
import { handler } from "../../functions/bootstrap.ts";
import { handler as watch } from "../../functions/watch.ts";
import type { JoinAnswer } from "../../lib/runtime/join.ts";
import { startAntreaWorld } from "../antrea/antrea-world.ts";
import { captureOutput } from "../support/captured-output.ts";
import { lambdaContext } from "../support/lambda-context.ts";
import { startDeployedEnvironment } from "./deployed-environment.ts";

const deployed = await startDeployedEnvironment();
Object.assign(process.env, deployed.env);
const world = await startAntreaWorld("east");
for (const { cluster, kubeconfig } of world.members) await deployed.putParameter(`/clusters/${cluster}`, kubeconfig);

/** Windows that were started by an invocation of the role, as Lambda would. */
const windows: Promise<unknown>[] = [];
const ended = new AbortController();

after(async () => {
  await Promise.all(windows);
  await world.end();
  await deployed.stop();
});

const DOCUMENT = {
  cluster: "east",
  protocol: "antrea",
  access: { kubeconfig: { ssm: "/clusters/east" } },
  antrea: { namespace: "kube-system" },
};

async function bootstrap(document: unknown): Promise<JoinAnswer> {
  const answer = await handler(document, lambdaContext({ remainingMs: () => 120_000 }));
  assert.ok("steps" in answer);
  return answer;
}

function outcomes(answer: JoinAnswer): readonly string[] {
  return answer.steps.map(({ step, outcome }) => `${step} ${outcome}`);
}

test("joins a cluster from its document to the first beats of its role, and then finds nothing to do", async () => {
  const events: unknown[] = [];
  deployed.onInvoke = (name, event) => {
    events.push([name, event]);
    const endsAt = performance.now() + 13_000;
    const remainingMs = (): number => (ended.signal.aborted ? 0 : endsAt - performance.now());
    const role = name.endsWith("-watch") ? watch : announce;
    windows.push(role(event, lambdaContext({ remainingMs })));
  };
  const lines = await captureOutput(async () => {
    const first = await bootstrap(DOCUMENT);
    const second = await bootstrap(DOCUMENT);
    ended.abort();
    await Promise.all(windows);

    assert.ok(first.ok, JSON.stringify(first));
    assert.deepEqual(outcomes(first), [
      "identify done",
      "membership created",
      "keep updated",
      "announce created",
      "schedules created",
      "schedules created",
      "start done",
      "start done",
      "complete updated",
    ]);
    assert.ok(second.ok && !second.changed, JSON.stringify(second));
  });

  assert.deepEqual(events, [
    ["hawser-test-announce", { role: "announce", shard: "default-1" }],
    ["hawser-test-watch", { role: "watch", shard: "default-1" }],
  ]);
  assert.ok(world.leader.members().some(({ clusterId }) => clusterId === "east"));
  const canary = world.members.map(({ kubeconfig }) => kubeconfig.slice(-200));
  for (const line of lines) assert.ok(canary.every((secret) => !line.includes(secret)) && !/eyJ/.test(line));
  const client = new SchedulerClient({ endpoint: deployed.schedulerUrl });
  const schedule = await client.send(
    new GetScheduleCommand({ Name: "hawser-test-announce-default-1", GroupName: "hawser-test" }),
  );
  client.destroy();
  assert.equal(schedule.State, "ENABLED");
});

test("answers a user's mistakes with the fields' paths and no stack", async () => {
  const answer = await bootstrap({ ...DOCUMENT, antrea: { nameSpace: "kube-system" }, protocl: "antrea" });

  assert.ok(!answer.ok);
  assert.deepEqual(answer.errors.map((error) => error.path).toSorted(), ["antrea.nameSpace", "protocl"]);
  assert.doesNotMatch(JSON.stringify(answer), /stack|\.ts:/);
});

test("answers for an access that leads nowhere, and writes no membership", async () => {
  const nowhere = { ...DOCUMENT, cluster: "west", access: { kubeconfig: { ssm: "/clusters/west" } } };
  const lines = await captureOutput(async () => {
    const answer = await bootstrap(nowhere);

    assert.ok(!answer.ok);
    assert.deepEqual(outcomes(answer), ["identify failed"]);
    assert.match(answer.errors[0]!.problem, /\/clusters\/west: there is no such parameter/);
  });

  assert.ok(lines.every((line) => !line.includes('"ERROR"')));
});

test("refuses a file of the user's machine, which no deployed function has", async () => {
  await captureOutput(async () => {
    const answer = await bootstrap({ ...DOCUMENT, access: { kubeconfig: { file: "/etc/passwd" } } });

    assert.ok(!answer.ok);
    assert.match(answer.errors[0]!.problem, /no files of yours/);
  });
});

test("takes two parameters, as the runtime demands", () => {
  assert.ok(handler.length <= 2);
});
