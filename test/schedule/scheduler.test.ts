import assert from "node:assert/strict";
import { after, describe, test } from "node:test";
import {
  DeleteScheduleCommand,
  GetScheduleCommand,
  type GetScheduleCommandOutput,
  SchedulerClient,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { startLoopbackServer } from "../../infra/local/aws/loopback-server.ts";
import { startScheduler } from "../../infra/local/scheduler/scheduler.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { systemIds } from "../../lib/base/ids.ts";
import { systemRandom } from "../../lib/base/random.ts";
import { type PlannedSchedule, planSchedules } from "../../lib/schedule/plan.ts";
import { SdkScheduler } from "../../lib/schedule/scheduler.ts";
import { FakeClock } from "../support/fake-clock.ts";

const ids = systemIds(systemClock, systemRandom);
// The service's clock stands still: nothing fires.
const service = await startScheduler({
  clock: new FakeClock(),
  random: systemRandom,
  ids,
  invoke: () => "accepted",
});
const client = clientOf(service.url);
const scheduler = new SdkScheduler(client, systemClock, ids);

after(async () => {
  client.destroy();
  await service.stop();
});

function clientOf(endpoint: string): SchedulerClient {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  return new SchedulerClient({ endpoint, region: "local", credentials, maxAttempts: 1 });
}

/** A schedule of a group of its own. */
function planned(stage: string): PlannedSchedule {
  const settings = {
    stage,
    group: `hawser-${stage}`,
    functionArnPrefix: `arn:aws:lambda:us-east-1:000000000000:function:hawser-${stage}-`,
    roleArn: "arn:aws:iam::000000000000:role/scheduler",
    deadLetterArn: "arn:aws:sqs:us-east-1:000000000000:dead-letters",
  };
  return planSchedules(settings, { name: "default-1", generation: 1 }, ["announce"]).schedules[0]!;
}

async function read({ name, group }: PlannedSchedule): Promise<GetScheduleCommandOutput> {
  return await client.send(new GetScheduleCommand({ Name: name, GroupName: group }));
}

/** What a person may do in the console. */
async function edit(schedule: PlannedSchedule, change: Partial<GetScheduleCommandOutput>): Promise<void> {
  const {
    $metadata: _,
    Arn: _arn,
    CreationDate: _made,
    LastModificationDate: _changed,
    ...current
  } = await read(schedule);
  const wanted = { ...current, ...change };
  await client.send(
    new UpdateScheduleCommand({
      ...wanted,
      Name: schedule.name,
      ScheduleExpression: wanted.ScheduleExpression,
      Target: wanted.Target,
      FlexibleTimeWindow: wanted.FlexibleTimeWindow,
    }),
  );
}

describe("ensuring a schedule", () => {
  test("makes the group that is missing and the schedule as planned", async () => {
    const schedule = planned("made");

    const ensured = await scheduler.ensure(schedule);

    assert.deepEqual(ensured, { ok: true, value: { outcome: "created", paused: false } });
    const made = await read(schedule);
    assert.deepEqual([made.ScheduleExpression, made.State], ["rate(1 minute)", "ENABLED"]);
    assert.deepEqual(made.FlexibleTimeWindow, { Mode: "OFF" });
    assert.deepEqual(made.Target, {
      Arn: schedule.targetArn,
      RoleArn: schedule.roleArn,
      Input: '{"role":"announce","shard":"default-1"}',
      DeadLetterConfig: { Arn: schedule.deadLetterArn },
      RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 },
    });
  });

  test("changes nothing the second time", async () => {
    const schedule = planned("twice");
    await scheduler.ensure(schedule);
    const before = await read(schedule);

    const again = await scheduler.ensure(schedule);

    assert.deepEqual(again, { ok: true, value: { outcome: "unchanged", paused: false } });
    assert.deepEqual((await read(schedule)).LastModificationDate, before.LastModificationDate);
  });

  for (const [what, change] of [
    ["its rate", { ScheduleExpression: "rate(5 minutes)" }],
    ["its window", { FlexibleTimeWindow: { Mode: "FLEXIBLE", MaximumWindowInMinutes: 10 } }],
    [
      "its target",
      {
        Target: {
          Arn: "arn:aws:lambda:us-east-1:000000000000:function:x",
          RoleArn: "arn:aws:iam::000000000000:role/x",
        },
      },
    ],
  ] as const) {
    test(`puts right ${what}`, async () => {
      const schedule = planned(`right-${what.split(" ")[1]}`);
      await scheduler.ensure(schedule);
      await edit(schedule, change);

      const ensured = await scheduler.ensure(schedule);

      assert.deepEqual(ensured, { ok: true, value: { outcome: "updated", paused: false } });
      assert.deepEqual(await scheduler.ensure(schedule), { ok: true, value: { outcome: "unchanged", paused: false } });
    });
  }

  test("never switches on again what a person has disabled, and leaves their words alone", async () => {
    const schedule = planned("disabled");
    await scheduler.ensure(schedule);
    await edit(schedule, {
      State: "DISABLED",
      Description: "maintenance until Monday",
      ScheduleExpression: "rate(1 hour)",
    });

    const ensured = await scheduler.ensure(schedule);

    assert.deepEqual(ensured, { ok: true, value: { outcome: "updated", paused: true } });
    const { State, Description, ScheduleExpression } = await read(schedule);
    assert.deepEqual(
      [State, Description, ScheduleExpression],
      ["DISABLED", "maintenance until Monday", "rate(1 minute)"],
    );
  });

  test("by ten joins at once ends with one schedule and no error", async () => {
    const schedule = planned("raced");

    const all = await Promise.all(Array.from({ length: 10 }, async () => await scheduler.ensure(schedule)));

    const created = all.filter((one) => one.ok && one.value.outcome === "created");
    assert.deepEqual([created.length, all.every((one) => one.ok)], [1, true]);
  });
});

describe("removing a schedule", () => {
  test("may be repeated", async () => {
    const schedule = planned("removed");
    await scheduler.ensure(schedule);

    assert.deepEqual(await scheduler.remove(schedule), { ok: true, value: "removed" });
    assert.deepEqual(await scheduler.remove(schedule), { ok: true, value: "absent" });
  });

  test("finds nothing to do when the schedule went away by itself", async () => {
    const schedule = planned("gone");
    await scheduler.ensure(schedule);
    await client.send(new DeleteScheduleCommand({ Name: schedule.name, GroupName: schedule.group }));

    assert.deepEqual(await scheduler.remove(schedule), { ok: true, value: "absent" });
  });
});

describe("an error of the service", () => {
  for (const [status, name, kind] of [
    [429, "ThrottlingException", "throttled"],
    [403, "AccessDeniedException", "denied"],
    [402, "ServiceQuotaExceededException", "quota"],
    [400, "ValidationException", "invalid"],
    [500, "InternalServerException", "unavailable"],
  ] as const) {
    test(`${name} is ${kind}, with the schedule's name and what to do`, async (t) => {
      const body = JSON.stringify({ Message: "no" });
      const headers = { "content-type": "application/json", "x-amzn-errortype": name };
      const server = await startLoopbackServer(async () => ({ status, headers, body }));
      const broken = clientOf(server.url);
      t.after(async () => {
        broken.destroy();
        await server.stop();
      });

      const ensured = await new SdkScheduler(broken, systemClock, ids).ensure(planned("broken"));

      assert.ok(!ensured.ok);
      assert.equal(ensured.error.kind, kind);
      assert.match(ensured.error.message, new RegExp(`hawser-broken-announce-default-1: ${name}: no \\S`));
    });
  }

  test("that is no answer at all is a timeout by the given clock", async (t) => {
    const asked = Promise.withResolvers<void>();
    const server = await startLoopbackServer(async ({ signal }) => {
      asked.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return "reset";
    });
    const silent = clientOf(server.url);
    t.after(async () => {
      silent.destroy();
      await server.stop();
    });
    const clock = new FakeClock();

    const ensuring = new SdkScheduler(silent, clock, ids).ensure(planned("silent"));
    await asked.promise;
    await clock.advance(10_000);
    const ensured = await ensuring;

    assert.ok(!ensured.ok);
    assert.equal(ensured.error.kind, "timeout");
  });
});

describe("reading a schedule", () => {
  test("tells whether it is there, and whether a person has disabled it", async () => {
    const schedule = planned("read");
    const before = await scheduler.read(schedule);
    await scheduler.ensure(schedule);
    const made = await scheduler.read(schedule);
    await edit(schedule, { State: "DISABLED" });
    const disabled = await scheduler.read(schedule);

    assert.deepEqual(before, { ok: true, value: undefined });
    assert.deepEqual(made, { ok: true, value: { enabled: true, expression: "rate(1 minute)" } });
    assert.deepEqual(disabled, { ok: true, value: { enabled: false, expression: "rate(1 minute)" } });
  });

  test("is a failure where the service does not answer", async () => {
    const away = await startLoopbackServer(() => Promise.resolve("reset"));
    const other = clientOf(away.url);

    const read = await new SdkScheduler(other, systemClock, ids).read(planned("away"));

    other.destroy();
    await away.stop();
    assert.ok(!read.ok);
    assert.match(read.error.message, /^read schedule hawser-away-announce-default-1: /);
  });
});
