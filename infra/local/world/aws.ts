import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { CreateScheduleCommand, CreateScheduleGroupCommand, SchedulerClient } from "@aws-sdk/client-scheduler";
import type { Clock } from "../../../lib/base/clock.ts";
import { systemIds } from "../../../lib/base/ids.ts";
import type { Random } from "../../../lib/base/random.ts";
import { type Lambda, type LogEvent, startLambda } from "../lambda/lambda.ts";
import { type Parameters, startParameters } from "../parameters/parameters.ts";
import { type LocalScheduler, startScheduler } from "../scheduler/scheduler.ts";
import { startTable, type Table } from "../table/table.ts";
import { createTableFromTemplate } from "../table/template.ts";

const REGION = "us-east-1";
const ACCOUNT = "000000000000";
const STAGE = "local";
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Names and addresses of the embedded AWS. */
export interface LocalAws {
  readonly region: string;
  readonly stage: string;
  readonly tableName: string;
  readonly functionPrefix: string;
  readonly endpoints: {
    readonly dynamodb: string;
    readonly lambda: string;
    readonly scheduler: string;
    readonly ssm: string;
  };
  readonly table: Table;
  readonly lambda: Lambda;
  stop(): Promise<void>;
}

/** What the embedded AWS needs. */
export interface LocalAwsOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Timeout of the relay's functions. */
  readonly windowMs: number;
  readonly standby: "cold" | "hot";
  readonly onLog: (event: LogEvent) => void;
}

/**
 * How long a minute of the schedules lasts: as much shorter as the windows are. A window of 15 minutes bridges the 119
 * seconds that two firings may be apart; a shorter one would end before its successor is fired.
 */
function minuteFor(windowMs: number): number {
  return Math.min(60_000, windowMs / 15);
}

/** Starts DynamoDB, SSM, Lambda with the packaged functions, and EventBridge Scheduler, all on 127.0.0.1. */
export async function startLocalAws(options: LocalAwsOptions): Promise<LocalAws> {
  const { clock, random } = options;
  const ids = systemIds(clock, random);
  const tableName = `hawser-${STAGE}`;
  const functionPrefix = `hawser-${STAGE}-`;
  const stops: (() => Promise<void>)[] = [];
  const stop = async (): Promise<void> => {
    for (const each of stops.toReversed()) await each();
  };
  try {
    const table = await startTable({ clock });
    stops.push(() => table.stop());
    await createTableFromTemplate(table.url, readFileSync(`${ROOT}infra/aws/table.yml`, "utf8"), tableName);
    const parameters: Parameters = await startParameters({ clock });
    stops.push(() => parameters.stop());
    // The scheduler needs Lambda to invoke, the functions need the scheduler's address: it is filled in when known.
    let lambda: Lambda | undefined;
    const scheduler: LocalScheduler = await startScheduler({
      clock,
      random,
      ids,
      minuteMs: minuteFor(options.windowMs),
      region: REGION,
      accountId: ACCOUNT,
      invoke: (arn, payload) => Promise.resolve(lambda?.invokeEvent(arn, payload) ?? "notFound"),
    });
    stops.push(() => scheduler.stop());
    const partial = { dynamodb: table.url, scheduler: scheduler.url, ssm: parameters.url };
    lambda = await startLambda({
      clock,
      random,
      ids,
      region: REGION,
      accountId: ACCOUNT,
      onLog: options.onLog,
      environment: {},
    });
    const running = lambda;
    stops.push(() => running.stop());
    const endpoints = { ...partial, lambda: running.url };
    register(running, endpoints, tableName, functionPrefix, options);
    await scheduleSweep(scheduler.url, functionPrefix);
    return { region: REGION, stage: STAGE, tableName, functionPrefix, endpoints, table, lambda: running, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

function register(
  lambda: Lambda,
  endpoints: LocalAws["endpoints"],
  tableName: string,
  functionPrefix: string,
  options: LocalAwsOptions,
): void {
  const environment = {
    AWS_ACCESS_KEY_ID: "local",
    AWS_SECRET_ACCESS_KEY: "local",
    AWS_ENDPOINT_URL_DYNAMODB: endpoints.dynamodb,
    AWS_ENDPOINT_URL_LAMBDA: endpoints.lambda,
    AWS_ENDPOINT_URL_SCHEDULER: endpoints.scheduler,
    AWS_ENDPOINT_URL_SSM: endpoints.ssm,
    HAWSER_STAGE: STAGE,
    HAWSER_TABLE: tableName,
    HAWSER_SCHEDULE_GROUP: `hawser-${STAGE}`,
    HAWSER_SCHEDULER_ROLE_ARN: `arn:aws:iam::${ACCOUNT}:role/hawser-${STAGE}-scheduler`,
    HAWSER_DEAD_LETTER_ARN: `arn:aws:sqs:${REGION}:${ACCOUNT}:hawser-${STAGE}-dead-letters`,
    HAWSER_FUNCTION_ARN_PREFIX: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${functionPrefix}`,
    HAWSER_DEPLOYED_AT: String(options.clock.now().getTime()),
    HAWSER_STANDBY: options.standby,
    HAWSER_PARAMETER_PREFIX: `/hawser/${STAGE}/`,
    // Memberships of the local world name kubeconfig files, which a deployed function has not.
    HAWSER_FILE_ACCESS: "allowed",
  };
  const common = { taskRoot: ROOT, memoryMb: 512, maximumRetryAttempts: 0, maximumEventAgeSeconds: 60, environment };
  lambda.register({
    ...common,
    name: `${functionPrefix}announce`,
    handler: "dist/announce.handler",
    timeoutSeconds: options.windowMs / 1_000,
  });
  lambda.register({
    ...common,
    name: `${functionPrefix}bootstrap`,
    handler: "dist/bootstrap.handler",
    timeoutSeconds: 120,
  });
  lambda.register({
    ...common,
    name: `${functionPrefix}leave`,
    handler: "dist/leave.handler",
    timeoutSeconds: 150,
  });
  lambda.register({
    ...common,
    name: `${functionPrefix}sweep`,
    handler: "dist/sweep.handler",
    timeoutSeconds: 300,
  });
  lambda.register({
    ...common,
    name: `${functionPrefix}watch`,
    handler: "dist/watch.handler",
    timeoutSeconds: options.windowMs / 1_000,
  });
}

/** The one schedule that the stage's template has: all others are made by the functions. */
async function scheduleSweep(endpoint: string, functionPrefix: string): Promise<void> {
  const credentials = { accessKeyId: "local", secretAccessKey: "local" };
  const client = new SchedulerClient({ endpoint, region: REGION, credentials });
  const group = `hawser-${STAGE}`;
  try {
    await client.send(new CreateScheduleGroupCommand({ Name: group }));
    const command = new CreateScheduleCommand({
      Name: `${group}-sweep`,
      GroupName: group,
      ScheduleExpression: "rate(1 minute)",
      FlexibleTimeWindow: { Mode: "OFF" },
      Target: {
        Arn: `arn:aws:lambda:${REGION}:${ACCOUNT}:function:${functionPrefix}sweep`,
        RoleArn: `arn:aws:iam::${ACCOUNT}:role/hawser-${STAGE}-scheduler`,
        Input: JSON.stringify({ role: "sweep" }),
        RetryPolicy: { MaximumEventAgeInSeconds: 60, MaximumRetryAttempts: 0 },
      },
    });
    await client.send(command);
  } finally {
    client.destroy();
  }
}
