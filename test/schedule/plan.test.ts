import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { planSchedules, type ScheduledShard, type ScheduleSettings, scheduleName } from "../../lib/schedule/plan.ts";

const SETTINGS: ScheduleSettings = {
  stage: "dev",
  group: "hawser-dev",
  functionArnPrefix: "arn:aws:lambda:eu-west-1:123456789012:function:hawser-dev-",
  roleArn: "arn:aws:iam::123456789012:role/scheduler",
  deadLetterArn: "arn:aws:sqs:eu-west-1:123456789012:dead-letters",
};

function shardOf(name: string, generation = 1): ScheduledShard {
  return { name, generation };
}

test("a shard needs one schedule a minute for each role, delivered once or not at all", () => {
  const { schedules, errors } = planSchedules(SETTINGS, shardOf("default-1"), ["announce"]);

  assert.deepEqual(errors, []);
  assert.equal(schedules.length, 1);
  const { description, ...schedule } = schedules[0]!;
  assert.match(description, /announce/);
  assert.deepEqual(schedule, {
    name: "hawser-dev-announce-default-1",
    group: "hawser-dev",
    expression: "rate(1 minute)",
    targetArn: "arn:aws:lambda:eu-west-1:123456789012:function:hawser-dev-announce",
    roleArn: SETTINGS.roleArn,
    deadLetterArn: SETTINGS.deadLetterArn,
    input: '{"role":"announce","shard":"default-1"}',
    maximumEventAgeSeconds: 60,
    maximumRetryAttempts: 0,
  });
});

test("a name that the service would refuse is the user's mistake, and nothing is planned", () => {
  const { schedules, errors } = planSchedules(SETTINGS, shardOf("s".repeat(50)), ["announce", "watch"]);

  assert.deepEqual(schedules, []);
  assert.equal(errors.length, 2);
  assert.match(errors[0]!.remedy, /59/);
});

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,40}$/);

test("every planned name fits, differs, and tells stage, role and shard", () => {
  fc.assert(
    fc.property(name, name, fc.uniqueArray(name, { maxLength: 6 }), (stage, shard, roles) => {
      const { schedules, errors } = planSchedules({ ...SETTINGS, stage }, shardOf(shard), roles);

      assert.ok(errors.length > 0 || schedules.length === roles.length);
      assert.equal(new Set(schedules.map((one) => one.name)).size, schedules.length);
      for (const [i, planned] of schedules.entries()) {
        assert.ok(planned.name.length <= 64);
        assert.equal(planned.name, scheduleName(stage, roles[i]!, shardOf(shard)));
        assert.deepEqual(JSON.parse(planned.input), { role: roles[i], shard });
      }
    }),
  );
});

test("each generation of a shard has names of its own, which no other shard's schedule can have", () => {
  const number = fc.integer({ min: 1, max: 9_999 });
  fc.assert(
    fc.property(name, name, number, number, (a, b, g, h) => {
      const one = scheduleName("dev", "announce", shardOf(a, g));
      const other = scheduleName("dev", "announce", shardOf(b, h));

      assert.equal(one === other, a === b && g === h);
    }),
  );
  assert.equal(scheduleName("dev", "announce", shardOf("default-1")), "hawser-dev-announce-default-1");
  assert.equal(scheduleName("dev", "announce", shardOf("default-1", 2)), "hawser-dev-announce-default-1.2");
});
