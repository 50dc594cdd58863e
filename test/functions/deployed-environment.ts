import { readFile } from "node:fs/promises";
import { PutParameterCommand, SSMClient } from "@aws-sdk/client-ssm";
import { type HttpRequest, startLoopbackServer } from "../../infra/local/aws/loopback-server.ts";
import { startParameters } from "../../infra/local/parameters/parameters.ts";
import { startScheduler } from "../../infra/local/scheduler/scheduler.ts";
import { startTable, type Table } from "../../infra/local/table/table.ts";
import { createTableFromTemplate } from "../../infra/local/table/template.ts";
import { systemClock } from "../../lib/base/clock.ts";
import { systemIds } from "../../lib/base/ids.ts";
import { systemRandom } from "../../lib/base/random.ts";
import { FakeClock } from "../support/fake-clock.ts";

const CREDENTIALS = { accessKeyId: "local", secretAccessKey: "local" };

/** An embedded AWS and the environment that points at it: the functions run in the test's own process. */
export interface DeployedEnvironment {
  readonly table: Table;
  readonly schedulerUrl: string;
  readonly env: Readonly<Record<string, string>>;
  /** Told of every asynchronous invocation. */
  onInvoke: (functionName: string, payload: unknown) => void;
  putParameter(name: string, value: string): Promise<void>;
  stop(): Promise<void>;
}

/** Starts table, scheduler (which never fires), parameters and a Lambda API that only notes what it is asked. */
export async function startDeployedEnvironment(): Promise<DeployedEnvironment> {
  const table = await startTable({ clock: systemClock });
  const template = await readFile(new URL("../../infra/aws/table.yml", import.meta.url), "utf8");
  await createTableFromTemplate(table.url, template, "hawser-test");
  const scheduler = await startScheduler({
    clock: new FakeClock(),
    random: systemRandom,
    ids: systemIds(systemClock, systemRandom),
    invoke: () => "accepted",
  });
  const parameters = await startParameters({ clock: systemClock });
  const ssm = new SSMClient({ endpoint: parameters.url, region: "us-east-1", credentials: CREDENTIALS });
  const lambda = await startLoopbackServer(async (request) => {
    environment.onInvoke(functionOf(request), JSON.parse(request.body.toString("utf8")));
    return { status: 202 };
  });
  const environment: DeployedEnvironment = {
    table,
    schedulerUrl: scheduler.url,
    env: {
      ...settings(),
      AWS_ENDPOINT_URL_DYNAMODB: table.url,
      AWS_ENDPOINT_URL_SCHEDULER: scheduler.url,
      AWS_ENDPOINT_URL_SSM: parameters.url,
      AWS_ENDPOINT_URL_LAMBDA: lambda.url,
    },
    onInvoke: () => undefined,
    putParameter: async (name, value) => {
      await ssm.send(new PutParameterCommand({ Name: name, Value: value, Type: "SecureString" }));
    },
    stop: async () => {
      ssm.destroy();
      for (const server of [lambda, parameters, scheduler, table]) await server.stop();
    },
  };
  return environment;
}

function settings(): Readonly<Record<string, string>> {
  const place = "us-east-1:000000000000";
  return {
    AWS_REGION: "us-east-1",
    AWS_ACCESS_KEY_ID: CREDENTIALS.accessKeyId,
    AWS_SECRET_ACCESS_KEY: CREDENTIALS.secretAccessKey,
    HAWSER_STAGE: "test",
    HAWSER_TABLE: "hawser-test",
    HAWSER_SCHEDULE_GROUP: "hawser-test",
    HAWSER_SCHEDULER_ROLE_ARN: "arn:aws:iam::000000000000:role/scheduler",
    HAWSER_DEAD_LETTER_ARN: `arn:aws:sqs:${place}:dead-letters`,
    HAWSER_FUNCTION_ARN_PREFIX: `arn:aws:lambda:${place}:function:hawser-test-`,
    HAWSER_DEPLOYED_AT: "1796098984889",
    HAWSER_PARAMETER_PREFIX: "/hawser/test/",
  };
}

/** The function's name in the path of an Invoke call, which is the end of its ARN. */
function functionOf({ path }: HttpRequest): string {
  const [, encoded = ""] = /\/functions\/([^/]+)\/invocations$/.exec(path) ?? [];
  return decodeURIComponent(encoded).split(":").at(-1) ?? "";
}
