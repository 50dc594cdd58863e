import {
  CreateTableCommand,
  type CreateTableCommandInput,
  DescribeTimeToLiveCommand,
  DynamoDBClient,
  ResourceInUseException,
  UpdateTimeToLiveCommand,
} from "@aws-sdk/client-dynamodb";
import { parse } from "yaml";

interface TableProperties extends Omit<CreateTableCommandInput, "TableName"> {
  readonly TimeToLiveSpecification?: { readonly AttributeName?: string; readonly Enabled?: boolean };
}

/**
 * Makes the table that a CloudFormation template describes, so that the local table has the deployed one's keys. A table
 * that exists is left as it is.
 * @param templateText YAML or JSON with one resource of the type `AWS::DynamoDB::Table`; intrinsic functions, long or
 *   short, are passed over
 * @throws when the template has no such resource, or the endpoint refuses it
 */
export async function createTableFromTemplate(
  endpoint: string,
  templateText: string,
  tableName: string,
): Promise<void> {
  const properties = tableProperties(templateText);
  const client = new DynamoDBClient({
    endpoint,
    region: "local",
    credentials: { accessKeyId: "local", secretAccessKey: "local" },
  });
  try {
    await create(client, properties, tableName);
    await switchOnExpiry(client, properties, tableName);
  } finally {
    client.destroy();
  }
}

/** The properties of the template's table. */
function tableProperties(templateText: string): TableProperties {
  // Short tags such as !Sub are not known to the parser: it keeps their values and would only warn.
  const template: unknown = parse(templateText, { logLevel: "error" });
  const resources =
    (template as { Resources?: Record<string, { Type?: string; Properties?: unknown }> }).Resources ?? {};
  const table = Object.values(resources).find((resource) => resource.Type === "AWS::DynamoDB::Table");
  if (table?.Properties === undefined) throw new Error("the template has no resource of type AWS::DynamoDB::Table");
  return table.Properties as TableProperties;
}

async function create(client: DynamoDBClient, properties: TableProperties, tableName: string): Promise<void> {
  const { KeySchema, AttributeDefinitions, GlobalSecondaryIndexes, BillingMode, ProvisionedThroughput } = properties;
  try {
    await client.send(
      new CreateTableCommand({
        TableName: tableName,
        KeySchema,
        AttributeDefinitions,
        GlobalSecondaryIndexes,
        BillingMode,
        ProvisionedThroughput,
      }),
    );
  } catch (error) {
    if (!(error instanceof ResourceInUseException)) throw error;
  }
}

async function switchOnExpiry(client: DynamoDBClient, properties: TableProperties, tableName: string): Promise<void> {
  const { AttributeName, Enabled } = properties.TimeToLiveSpecification ?? {};
  if (AttributeName === undefined || Enabled !== true) return;
  const now = await client.send(new DescribeTimeToLiveCommand({ TableName: tableName }));
  if (now.TimeToLiveDescription?.TimeToLiveStatus === "ENABLED") return;
  await client.send(
    new UpdateTimeToLiveCommand({ TableName: tableName, TimeToLiveSpecification: { AttributeName, Enabled } }),
  );
}
