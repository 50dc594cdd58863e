import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import {
  CloudFormationClient,
  DescribeStackResourcesCommand,
  DescribeStacksCommand,
} from "@aws-sdk/client-cloudformation";
import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
} from "@aws-sdk/client-dynamodb";
import { type FunctionConfiguration, GetFunctionConfigurationCommand, LambdaClient } from "@aws-sdk/client-lambda";
import { runOsls } from "../../infra/packaging/osls.ts";
import type { Template } from "../../infra/packaging/template.ts";
import { type Config, parseConfig } from "../../lib/runtime/config.ts";

const ROOT = resolve(import.meta.dirname, "../..");

/** Where the packaging tool leaves what it deploys. */
export const PACKAGE = join(ROOT, ".serverless");

/** Deploys a stage as a user does. */
export async function deploy(stage: string): Promise<void> {
  const args = [join(ROOT, "infra/deploy.ts"), "--stage", stage];
  await new Promise<void>((done, fail) => {
    execFile(process.execPath, args, (error, stdout, stderr) => {
      if (error === null) done();
      else fail(new Error(`npm run deploy failed: ${stdout}${stderr}`));
    });
  });
}

/** Removes a stage's stack, with the tool that has made it. */
export async function remove(stage: string): Promise<void> {
  const { code, output } = await runOsls(["remove", "--stage", stage], false);
  if (code !== 0) throw new Error(`the stage was not removed: ${output}`);
}

/** The template that was deployed last. */
export async function deployedTemplate(): Promise<Template> {
  const text = await readFile(join(PACKAGE, "cloudformation-template-update-stack.json"), "utf8");
  return JSON.parse(text) as Template;
}

/** What a stack has made and says of itself. */
export interface Stack {
  readonly status: string | undefined;
  /** Physical ID of each resource by its logical ID. */
  readonly resources: Readonly<Record<string, string>>;
  readonly outputs: Readonly<Record<string, string>>;
}

/** Reads a stack. */
export async function readStack(StackName: string): Promise<Stack> {
  const client = new CloudFormationClient();
  const { Stacks: [stack] = [] } = await client.send(new DescribeStacksCommand({ StackName }));
  const { StackResources = [] } = await client.send(new DescribeStackResourcesCommand({ StackName }));
  client.destroy();
  return {
    status: stack?.StackStatus,
    // A resource that moto has left out is listed without a name.
    resources: named(StackResources.map((one) => [one.LogicalResourceId, one.PhysicalResourceId])),
    outputs: named((stack?.Outputs ?? []).map((one) => [one.OutputKey, one.OutputValue])),
  };
}

function named(pairs: readonly (readonly [string | undefined, string | undefined])[]): Record<string, string> {
  return Object.fromEntries(pairs.filter((pair): pair is [string, string] => pair.every((one) => one !== undefined)));
}

/** A deployed function, and the settings that it finds in its environment. */
export interface DeployedFunction {
  readonly configuration: FunctionConfiguration;
  readonly settings: Config;
}

/**
 * Reads a function.
 * @throws when its environment is not one that it would work with
 */
export async function readFunction(FunctionName: string): Promise<DeployedFunction> {
  const client = new LambdaClient();
  const configuration = await client.send(new GetFunctionConfigurationCommand({ FunctionName }));
  client.destroy();
  const config = parseConfig(configuration.Environment?.Variables ?? {});
  if (!config.ok) throw new Error(`${FunctionName}: ${JSON.stringify(config.error)}`);
  return { configuration, settings: config.value };
}

/** The table's settings, under the names that they have in a template. */
export async function readTableSettings(TableName: string): Promise<Readonly<Record<string, unknown>>> {
  const client = new DynamoDBClient();
  const { Table } = await client.send(new DescribeTableCommand({ TableName }));
  const { TimeToLiveDescription: ttl } = await client.send(new DescribeTimeToLiveCommand({ TableName }));
  const { ContinuousBackupsDescription: backups } = await client.send(
    new DescribeContinuousBackupsCommand({ TableName }),
  );
  client.destroy();
  const recovery = backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === "ENABLED";
  return {
    ...Table,
    BillingMode: Table?.BillingModeSummary?.BillingMode,
    TimeToLiveSpecification: { AttributeName: ttl?.AttributeName, Enabled: ttl?.TimeToLiveStatus === "ENABLED" },
    PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: recovery },
    SSESpecification: {
      SSEEnabled: Table?.SSEDescription?.Status === "ENABLED",
      SSEType: Table?.SSEDescription?.SSEType,
      KMSMasterKeyId: Table?.SSEDescription?.KMSMasterKeyArn,
    },
  };
}
