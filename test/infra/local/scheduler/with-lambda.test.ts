import assert from "node:assert/strict";
import { join } from "node:path";
import { it } from "node:test";
import { CreateScheduleCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import { startLambda } from "../../../../infra/local/lambda/lambda.ts";
import { startScheduler } from "../../../../infra/local/scheduler/scheduler.ts";
import { systemClock } from "../../../../lib/base/clock.ts";
import { systemIds } from "../../../../lib/base/ids.ts";
import { systemRandom } from "../../../../lib/base/random.ts";

it("a schedule invokes a real function with its input", async (t) => {
  const ids = systemIds(systemClock, systemRandom);
  const common = { clock: systemClock, random: systemRandom, ids };
  const heard = Promise.withResolvers<string>();
  const lambda = await startLambda({
    ...common,
    onLog: ({ line }) => {
      if (line.includes("said")) heard.resolve(line);
    },
  });
  const scheduler = await startScheduler({
    ...common,
    invoke: (arn, payload) => lambda.invokeEvent(arn, payload),
    minuteMs: 200,
  });
  const client = new SchedulerClient({
    endpoint: scheduler.url,
    region: "us-east-1",
    credentials: { accessKeyId: "k", secretAccessKey: "s" },
  });
  t.after(async () => {
    client.destroy();
    await scheduler.stop();
    await lambda.stop();
  });
  const Arn = lambda.register({
    name: "log",
    taskRoot: join(import.meta.dirname, "../lambda/package"),
    handler: "functions.log",
    timeoutSeconds: 10,
    memoryMb: 64,
    maximumRetryAttempts: 0,
    maximumEventAgeSeconds: 60,
  });

  await client.send(
    new CreateScheduleCommand({
      Name: "minutely",
      ScheduleExpression: "rate(1 minute)",
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: {
        Arn,
        RoleArn: "arn:aws:iam::000000000000:role/scheduler",
        Input: '{"word":"<aws.scheduler.attempt-number>"}',
      },
    }),
  );

  assert.match(await heard.promise, /INFO\tsaid 1$/);
});
