import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { planSchedules, type ScheduleSettings, scheduleName } from "../../lib/schedule/plan.ts";

const SETTINGS: ScheduleSettings = {
  stage: "dev",
  group: "hawser-dev",
  functionArnPrefix: "arn:aws:lambda:eu-west-1:123456789012:function:hawser-dev-",
  roleArn: "arn:aws:iam::123456789012:role/scheduler",
  deadLetterArn: "arn:aws:sqs:eu-west-1:123456789012:dead-letters",
};

test("a shard needs one schedule a minute for each role, delivered once or not at all", () => {
  const { schedules, errors } = planSchedules(SETTINGS, "default-1", ["announce"]);

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
  const { schedules, errors } = planSchedules(SETTINGS, "s".repeat(50), ["announce", "watch"]);

  assert.deepEqual(schedules, []);
  assert.equal(errors.length, 2);
  assert.match(errors[0]!.remedy, /64/);
});

const name = fc.stringMatching(/^[a-z][a-z0-9-]{0,40}$/);

test("every planned name fits, differs, and tells stage, role and shard", () => {
  fc.assert(
    fc.property(name, name, fc.uniqueArray(name, { maxLength: 6 }), (stage, shard, roles) => {
      const { schedules, errors } = planSchedules({ ...SETTINGS, stage }, shard, roles);

      assert.ok(errors.length > 0 || schedules.length === roles.length);
      assert.equal(new Set(schedules.map((one) => one.name)).size, schedules.length);
      for (const [i, planned] of schedules.entries()) {
        assert.ok(planned.name.length <= 64);
        assert.equal(planned.name, scheduleName(stage, { role: roles[i]!, shard }));
        assert.deepEqual(JSON.parse(planned.input), { role: roles[i], shard });
      }
    }),
  );
});
