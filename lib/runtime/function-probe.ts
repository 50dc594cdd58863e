import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { type Clock, deadline } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { FunctionFault } from "../doctor/ports.ts";

/** One call, retries of the SDK included, in milliseconds. */
const CALL_MS = 3_500;

/** Names under which AWS says that a person must act. */
const KINDS: Readonly<Record<string, FunctionFault["kind"]>> = {
  ResourceNotFoundException: "absent",
  AccessDeniedException: "denied",
  UnrecognizedClientException: "denied",
  ExpiredTokenException: "denied",
  InvalidSignatureException: "denied",
  CredentialsProviderError: "denied",
};

/** Asks Lambda whether a function is there and may be invoked: a dry run, for which no code runs. */
export async function probeFunction(
  client: LambdaClient,
  clock: Clock,
  name: string,
  signal: AbortSignal,
): Promise<Result<void, FunctionFault>> {
  using limit = deadline(clock, CALL_MS, signal);
  try {
    const command = new InvokeCommand({ FunctionName: name, InvocationType: "DryRun" });
    await client.send(command, { abortSignal: limit.signal });
    return ok(undefined);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    const words = error.message === "" ? error.name : `${error.name}: ${error.message}`;
    return failed({ kind: KINDS[error.name] ?? "unreachable", message: words });
  }
}
