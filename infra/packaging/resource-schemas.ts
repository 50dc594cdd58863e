import { loadAwsServiceSpec } from "@aws-cdk/aws-service-spec";

/** CloudFormation's schemas of all resource types. */
export type ResourceSchemas = Awaited<ReturnType<typeof loadAwsServiceSpec>>;

let loading: Promise<ResourceSchemas> | undefined;

/** Loads the schemas, which takes most of a second, once for the process. */
export async function loadResourceSchemas(): Promise<ResourceSchemas> {
  loading ??= loadAwsServiceSpec();
  return await loading;
}

/** The schema of a resource type; `undefined` when there is no such type. */
export function schemaOf(schemas: ResourceSchemas, type: string) {
  const [found] = schemas.lookup("resource", "cloudFormationType", "equals", type);
  return found;
}
