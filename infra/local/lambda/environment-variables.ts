import type { FunctionDefinition } from "./function-definition.ts";

/** Where and for whom a service runs. */
export interface Place {
  readonly region: string;
  readonly accountId: string;
}

/**
 * The variables of an execution environment: those that Lambda sets, those shared by all functions, and the function's
 * own. Nothing comes from the parent process.
 */
export function environmentVariables(
  definition: FunctionDefinition,
  place: Place,
  runtime: { readonly api: string; readonly logStream: string },
  shared: Readonly<Record<string, string>>,
): Record<string, string> {
  return {
    ...shared,
    ...definition.environment,
    PATH: "/usr/local/bin:/usr/bin:/bin",
    LANG: "en_US.UTF-8",
    TZ: ":UTC",
    AWS_REGION: place.region,
    AWS_DEFAULT_REGION: place.region,
    AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x",
    AWS_LAMBDA_FUNCTION_NAME: definition.name,
    AWS_LAMBDA_FUNCTION_MEMORY_SIZE: String(definition.memoryMb),
    AWS_LAMBDA_FUNCTION_VERSION: "$LATEST",
    AWS_LAMBDA_INITIALIZATION_TYPE: "on-demand",
    AWS_LAMBDA_LOG_GROUP_NAME: `/aws/lambda/${definition.name}`,
    AWS_LAMBDA_LOG_STREAM_NAME: runtime.logStream,
    AWS_LAMBDA_RUNTIME_API: runtime.api,
    LAMBDA_TASK_ROOT: definition.taskRoot,
    LAMBDA_RUNTIME_DIR: import.meta.dirname,
    _HANDLER: definition.handler,
  };
}

/** A function's ARN, unqualified. */
export function functionArn(place: Place, name: string): string {
  return `arn:aws:lambda:${place.region}:${place.accountId}:function:${name}`;
}
