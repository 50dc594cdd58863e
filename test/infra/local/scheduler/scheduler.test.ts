import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import {
  ConflictException,
  CreateScheduleCommand,
  type CreateScheduleCommandInput,
  CreateScheduleGroupCommand,
  DeleteScheduleCommand,
  DeleteScheduleGroupCommand,
  GetScheduleCommand,
  GetScheduleGroupCommand,
  ListScheduleGroupsCommand,
  ListSchedulesCommand,
  type ListSchedulesCommandInput,
  ListTagsForResourceCommand,
  ResourceNotFoundException,
  SchedulerClient,
  TagResourceCommand,
  UntagResourceCommand,
  UpdateScheduleCommand,
  ValidationException,
} from "@aws-sdk/client-scheduler";
import type { Firing, InvokeOutcome } from "../../../../infra/local/scheduler/delivery.ts";
import {
  type LocalScheduler,
  type SchedulerOptions,
  startScheduler,
} from "../../../../infra/local/scheduler/scheduler.ts";
import { systemIds } from "../../../../lib/base/ids.ts";
import { FakeClock } from "../../../support/fake-clock.ts";
import { seededRandom } from "../../../support/seeded-random.ts";

const LAMBDA = "arn:aws:lambda:us-east-1:000000000000:function:announce";
const QUEUE = "arn:aws:sqs:us-east-1:000000000000:dead-letters";
const ROLE = "arn:aws:iam::000000000000:role/scheduler";

interface Call {
  readonly arn: string;
  readonly payload: unknown;
  readonly atMs: number;
}

interface Bench {
  readonly clock: FakeClock;
  readonly scheduler: LocalScheduler;
  readonly client: SchedulerClient;
  readonly calls: Call[];
  readonly firings: Firing[];
  readonly create: (more?: Partial<CreateScheduleCommandInput>) => Promise<string | undefined>;
}

async function bench(
  t: TestContext,
  options: Partial<SchedulerOptions> = {},
  answer: (n: number) => InvokeOutcome = () => "accepted",
): Promise<Bench> {
  const clock = new FakeClock();
  const startMs = clock.now().getTime();
  const random = seededRandom(7);
  const calls: Call[] = [];
  const firings: Firing[] = [];
  const scheduler = await startScheduler({
    clock,
    random,
    ids: systemIds(clock, random),
    invoke: (arn, payload) => {
      calls.push({ arn, payload, atMs: clock.now().getTime() - startMs });
      return answer(calls.length);
    },
    onFiring: (firing) => firings.push(firing),
    duplicateProbability: 0,
    ...options,
  });
  const client = new SchedulerClient({
    endpoint: scheduler.url,
    region: "us-east-1",
    credentials: { accessKeyId: "k", secretAccessKey: "s" },
    maxAttempts: 1,
  });
  t.after(async () => {
    client.destroy();
    await scheduler.stop();
    assert.equal(clock.sleeping, 0, "no timer is left");
  });
  return {
    clock,
    scheduler,
    client,
    calls,
    firings,
    create: async (more = {}) => {
      const { ScheduleArn } = await client.send(new CreateScheduleCommand({ ...described("s1"), ...more }));
      return ScheduleArn;
    },
  };
}

function described(name: string): CreateScheduleCommandInput {
  return {
    Name: name,
    ScheduleExpression: "rate(1 minute)",
    FlexibleTimeWindow: { Mode: "OFF" },
    Target: { Arn: LAMBDA, RoleArn: ROLE, Input: '{"shard":"default"}' },
  };
}

describe("the scheduler's API", () => {
  it("creates a schedule in the default group and shows it with the service's defaults", async (t) => {
    const { client, create, clock } = await bench(t);

    const arn = await create();

    assert.equal(arn, "arn:aws:scheduler:us-east-1:000000000000:schedule/default/s1");
    const got = await client.send(new GetScheduleCommand({ Name: "s1" }));
    assert.equal(got.GroupName, "default");
    assert.equal(got.State, "ENABLED");
    assert.equal(got.ScheduleExpressionTimezone, "UTC");
    assert.equal(got.ActionAfterCompletion, "NONE");
    assert.deepEqual(got.Target?.RetryPolicy, { MaximumEventAgeInSeconds: 86_400, MaximumRetryAttempts: 185 });
    assert.equal(got.Target?.Input, '{"shard":"default"}');
    assert.deepEqual(got.CreationDate, clock.now());
    assert.deepEqual(got.LastModificationDate, clock.now());
  });

  it("replaces everything with an update: what is left out goes back to its default", async (t) => {
    const { client, create, clock } = await bench(t);
    await create({ Description: "old", State: "DISABLED", ScheduleExpressionTimezone: "Europe/Berlin" });
    await clock.advance(5000);

    await client.send(new UpdateScheduleCommand({ ...described("s1"), ScheduleExpression: "rate(5 minutes)" }));

    const got = await client.send(new GetScheduleCommand({ Name: "s1" }));
    assert.equal(got.ScheduleExpression, "rate(5 minutes)");
    assert.equal(got.Description, undefined);
    assert.equal(got.State, "ENABLED");
    assert.equal(got.ScheduleExpressionTimezone, "UTC");
    assert.equal(got.LastModificationDate?.getTime(), (got.CreationDate?.getTime() ?? 0) + 5000);
  });

  it("knows conflicts and what does not exist", async (t) => {
    const { client, create } = await bench(t);
    await create();

    await assert.rejects(create(), ConflictException);
    await assert.rejects(create({ GroupName: "nowhere" }), ResourceNotFoundException);
    await assert.rejects(client.send(new GetScheduleCommand({ Name: "other" })), ResourceNotFoundException);
    await assert.rejects(client.send(new UpdateScheduleCommand(described("other"))), ResourceNotFoundException);
    await client.send(new DeleteScheduleCommand({ Name: "s1" }));
    await assert.rejects(client.send(new DeleteScheduleCommand({ Name: "s1" })), ResourceNotFoundException);
  });

  it("answers the same request with the same token again, and refuses another one", async (t) => {
    const { create, client } = await bench(t);

    const first = await create({ ClientToken: "token-1" });
    assert.equal(await create({ ClientToken: "token-1" }), first);
    await assert.rejects(create({ ClientToken: "token-1", State: "DISABLED" }), ConflictException);
    await assert.rejects(create({ ClientToken: "token-2" }), ConflictException);

    const gone = new DeleteScheduleCommand({ Name: "s1", ClientToken: "token-3" });
    await client.send(gone);
    await client.send(gone);
  });

  const target = { Arn: LAMBDA, RoleArn: ROLE };
  const wrong: Record<string, Partial<CreateScheduleCommandInput>> = {
    "a rate of nothing": { ScheduleExpression: "rate(0 minutes)" },
    "a rate in seconds": { ScheduleExpression: "rate(10 seconds)" },
    "a cron of five fields": { ScheduleExpression: "cron(* * * * *)" },
    "an unknown time zone": { ScheduleExpressionTimezone: "Mars/Olympus" },
    "no flexible time window": { FlexibleTimeWindow: undefined },
    "a flexible window without its length": { FlexibleTimeWindow: { Mode: "FLEXIBLE" } },
    "a name with a blank": { Name: "not%20good" },
    "no role": { Target: { Arn: LAMBDA, RoleArn: undefined } },
    "a role that is none": { Target: { Arn: LAMBDA, RoleArn: "arn:aws:iam::1:user/x" } },
    "too many retries": { Target: { ...target, RetryPolicy: { MaximumRetryAttempts: 186 } } },
    "too young an event age": { Target: { ...target, RetryPolicy: { MaximumEventAgeInSeconds: 59 } } },
    "a dead-letter topic": { Target: { ...target, DeadLetterConfig: { Arn: "arn:aws:sns:us-east-1:000000000000:x" } } },
    "a start long ago": { StartDate: new Date("2020-01-01") },
    "an end in the past": { EndDate: new Date("2020-01-01") },
    "an end before the start": { StartDate: new Date("2027-01-02"), EndDate: new Date("2027-01-01") },
  };
  for (const [what, more] of Object.entries(wrong)) {
    it(`refuses ${what}`, async (t) => {
      const { create } = await bench(t);

      await assert.rejects(create(more), ValidationException);
    });
  }

  it("says which field is wrong", async (t) => {
    const { create } = await bench(t);

    await assert.rejects(
      create({ Target: { Arn: LAMBDA, RoleArn: undefined } }),
      /1 validation error detected: Value null at 'target.roleArn' failed to satisfy constraint: Member must not be null/,
    );
  });

  it("lists by group, prefix and state, page by page", async (t) => {
    const { client, create } = await bench(t);
    await client.send(new CreateScheduleGroupCommand({ Name: "hawser" }));
    for (const name of ["b2", "a1", "b1"]) await create({ Name: name, GroupName: "hawser" });
    await create({ Name: "b3", GroupName: "hawser", State: "DISABLED" });
    await create({ Name: "b9" });
    const names = async (query: ListSchedulesCommandInput) => {
      const got = await client.send(new ListSchedulesCommand(query));
      return [got.Schedules?.map((s) => s.Name).join(), got.NextToken] as const;
    };

    assert.deepEqual(await names({}), ["b9,a1,b1,b2,b3", undefined]);
    assert.deepEqual(await names({ GroupName: "hawser", NamePrefix: "b" }), ["b1,b2,b3", undefined]);
    assert.deepEqual(await names({ State: "DISABLED" }), ["b3", undefined]);
    const [first, token] = await names({ GroupName: "hawser", MaxResults: 3 });
    assert.equal(first, "a1,b1,b2");
    assert.deepEqual(await names({ GroupName: "hawser", MaxResults: 3, NextToken: token }), ["b3", undefined]);
    await assert.rejects(names({ GroupName: "nowhere" }), ResourceNotFoundException);
    await assert.rejects(names({ MaxResults: 101 }), ValidationException);
  });

  it("deletes a group with its schedules, but never the default one", async (t) => {
    const { client, create } = await bench(t);
    await client.send(new CreateScheduleGroupCommand({ Name: "hawser" }));
    await create({ GroupName: "hawser" });

    await assert.rejects(client.send(new CreateScheduleGroupCommand({ Name: "hawser" })), ConflictException);
    await client.send(new DeleteScheduleGroupCommand({ Name: "hawser" }));

    await assert.rejects(client.send(new GetScheduleGroupCommand({ Name: "hawser" })), ResourceNotFoundException);
    await assert.rejects(
      client.send(new GetScheduleCommand({ Name: "s1", GroupName: "hawser" })),
      ResourceNotFoundException,
    );
    await assert.rejects(client.send(new DeleteScheduleGroupCommand({ Name: "default" })), ValidationException);
    const { ScheduleGroups } = await client.send(new ListScheduleGroupsCommand({}));
    assert.deepEqual(
      ScheduleGroups?.map((g) => g.Name),
      ["default"],
    );
  });

  it("keeps tags of groups", async (t) => {
    const { client } = await bench(t);
    const { ScheduleGroupArn } = await client.send(
      new CreateScheduleGroupCommand({ Name: "hawser", Tags: [{ Key: "stage", Value: "dev" }] }),
    );

    const ResourceArn = ScheduleGroupArn;
    await client.send(new TagResourceCommand({ ResourceArn, Tags: [{ Key: "team", Value: "x" }] }));
    await client.send(new UntagResourceCommand({ ResourceArn, TagKeys: ["stage"] }));

    const { Tags } = await client.send(new ListTagsForResourceCommand({ ResourceArn }));
    assert.deepEqual(Tags, [{ Key: "team", Value: "x" }]);
    await assert.rejects(
      client.send(new ListTagsForResourceCommand({ ResourceArn: `${ScheduleGroupArn}-other` })),
      ResourceNotFoundException,
    );
  });
});

describe("the ticker", () => {
  it("fires once in each minute, at a moment of its own, so that two firings are 1 to 119 s apart", async (t) => {
    const { clock, create, calls } = await bench(t);
    await create();

    await clock.advance(500 * 60_000);

    assert.ok(calls.length === 500 || calls.length === 501);
    assert.deepEqual(calls[0]?.payload, { shard: "default" });
    assert.equal(calls[0]?.arn, LAMBDA);
    calls.forEach((call, i) => assert.equal(Math.floor(call.atMs / 60_000), i));
    const gaps = calls.slice(1).map((call, i) => call.atMs - (calls[i]?.atMs ?? 0));
    assert.ok(Math.min(...gaps) < 15_000 && Math.max(...gaps) > 105_000);
    assert.ok(Math.min(...gaps) > 0 && Math.max(...gaps) < 120_000);
  });

  it("fires sometimes twice, within the minute and with an execution id of its own", async (t) => {
    const { clock, create, firings } = await bench(t, { duplicateProbability: 0.1 });
    await create();

    await clock.advance(300 * 60_000);

    const twice = firings.filter((f) => f.duplicate);
    assert.ok(twice.length > 10 && twice.length < 60);
    assert.equal(new Set(firings.map((f) => f.executionId)).size, firings.length);
    for (const firing of firings) {
      const lateMs = firing.firedAt.getTime() - firing.scheduledTime.getTime();
      assert.ok(lateMs >= 0 && lateMs < 60_000);
    }
  });

  it("leaves a disabled schedule alone and goes on when it is enabled, without making up for what was missed", async (t) => {
    const { clock, create, client, calls } = await bench(t);
    await create({ State: "DISABLED" });
    await clock.advance(10 * 60_000);
    assert.equal(calls.length, 0);

    await client.send(new UpdateScheduleCommand(described("s1")));
    await clock.advance(3 * 60_000);
    assert.ok(calls.length >= 2 && calls.length <= 4);

    const before = calls.length;
    await client.send(new UpdateScheduleCommand({ ...described("s1"), State: "DISABLED" }));
    await clock.advance(5 * 60_000);
    assert.equal(calls.length, before);
  });

  it("loses no firing to an update in the minute in which it is due", async (t) => {
    const { clock, create, client, firings } = await bench(t);
    await create();

    for (let minute = 0; minute < 30; minute += 1) {
      await clock.advance(30_000);
      await client.send(new UpdateScheduleCommand({ ...described("s1"), Description: String(minute) }));
      await clock.advance(30_000);
    }
    await clock.advance(60_000);

    const due = firings.map((f) => f.scheduledTime.getTime());
    assert.ok(due.length >= 30);
    due.slice(1).forEach((at, i) => assert.equal(at - (due[i] ?? 0), 60_000));
  });

  it("stops with the schedule", async (t) => {
    const { clock, create, client, calls } = await bench(t);
    await create();

    await client.send(new DeleteScheduleCommand({ Name: "s1" }));
    await clock.advance(5 * 60_000);

    assert.equal(calls.length, 0);
  });

  it("fires a one-time schedule once and deletes it when asked to", async (t) => {
    const { clock, create, client, calls } = await bench(t);
    await create({ ScheduleExpression: "at(2026-01-01T00:10:00)", ActionAfterCompletion: "DELETE" });

    await clock.advance(60 * 60_000);

    assert.equal(calls.length, 1);
    assert.ok((calls[0]?.atMs ?? 0) >= 600_000 && (calls[0]?.atMs ?? 0) < 660_000);
    await assert.rejects(client.send(new GetScheduleCommand({ Name: "s1" })), ResourceNotFoundException);
  });

  it("keeps to the start and the end", async (t) => {
    const { clock, create, calls } = await bench(t);
    await create({ StartDate: new Date("2026-01-01T01:00:00Z"), EndDate: new Date("2026-01-01T01:04:30Z") });

    await clock.advance(3 * 3_600_000);

    assert.deepEqual(
      calls.map((c) => Math.floor(c.atMs / 60_000)),
      [60, 61, 62, 63, 64],
    );
  });

  it("can make a minute last five seconds", async (t) => {
    const { clock, create, calls } = await bench(t, { minuteMs: 5000 });
    await create();

    await clock.advance(60_000);

    assert.ok(calls.length >= 11 && calls.length <= 13);
  });

  it("fills in the context attributes", async (t) => {
    const { clock, create, calls, firings } = await bench(t);
    const Input = JSON.stringify({
      id: "<aws.scheduler.execution-id>",
      due: "<aws.scheduler.scheduled-time>",
      schedule: "<aws.scheduler.schedule-arn>",
      attempt: "<aws.scheduler.attempt-number>",
    });
    const arn = await create({
      ScheduleExpression: "at(2026-01-01T00:01:00)",
      Target: { ...described("").Target!, Input },
    });

    await clock.advance(120_000);

    assert.deepEqual(calls[0]?.payload, {
      id: firings[0]?.executionId,
      due: "2026-01-01T00:01:00Z",
      schedule: arn,
      attempt: "1",
    });
  });
});

describe("a target that cannot be invoked", () => {
  const once = { ScheduleExpression: "at(2026-01-01T00:01:00)" };
  const toQueue = (retries: number) => ({
    ...once,
    Target: {
      Arn: LAMBDA,
      RoleArn: ROLE,
      Input: '{"attempt":"<aws.scheduler.attempt-number>"}',
      DeadLetterConfig: { Arn: QUEUE },
      RetryPolicy: { MaximumRetryAttempts: retries, MaximumEventAgeInSeconds: 60 },
    },
  });

  it("is tried again until it answers", async (t) => {
    const { clock, create, calls, firings, scheduler } = await bench(t, {}, (n) =>
      n < 3 ? "unavailable" : "accepted",
    );
    await create(toQueue(5));

    await clock.advance(10 * 60_000);

    assert.deepEqual(
      calls.map((c) => c.payload),
      [{ attempt: "1" }, { attempt: "2" }, { attempt: "3" }],
    );
    assert.equal(firings[0]?.outcome, "accepted");
    assert.deepEqual(scheduler.deadLetters(), []);
  });

  it("goes to the dead-letter queue when its retries are used up", async (t) => {
    const { clock, create, calls, scheduler } = await bench(t, {}, () => "unavailable");
    await create(toQueue(1));

    await clock.advance(10 * 60_000);

    assert.equal(calls.length, 2);
    const [letter] = scheduler.deadLetters(QUEUE);
    assert.equal(letter?.body, '{"attempt":"2"}');
    assert.equal(letter?.attributes.EXHAUSTED_RETRY_CONDITION, "MaximumRetryAttempts");
    assert.equal(letter?.attributes.RETRY_ATTEMPTS, "1");
    assert.equal(letter?.attributes.SCHEDULED_TIME, "2026-01-01T00:01:00Z");
    assert.equal(letter?.attributes.TARGET_ARN, LAMBDA);
  });

  it("goes to the dead-letter queue when the event is too old", async (t) => {
    const { clock, create, scheduler } = await bench(t, {}, () => "unavailable");
    await create(toQueue(185));

    await clock.advance(30 * 60_000);

    assert.equal(scheduler.deadLetters()[0]?.attributes.EXHAUSTED_RETRY_CONDITION, "MaximumEventAgeInSeconds");
  });

  it("is not tried again when there is no such function, and is dropped without a queue", async (t) => {
    const { clock, create, calls, firings } = await bench(t, {}, () => "notFound");
    await create(once);

    await clock.advance(10 * 60_000);

    assert.equal(calls.length, 1);
    assert.equal(firings[0]?.outcome, "dropped");
  });
});
