import { LambdaClient } from "@aws-sdk/client-lambda";
import type { Target } from "./target.ts";

/** Longest time for one call to AWS, in milliseconds. */
const CALL_TIMEOUT_MS = 30_000;

/** A Lambda client for the target. */
export function lambdaClient(target: Target): LambdaClient {
  return new LambdaClient({
    region: target.region,
    ...(target.endpoints === undefined ? {} : { endpoint: target.endpoints.lambda }),
    ...(target.credentials === undefined ? {} : { credentials: target.credentials }),
    maxAttempts: 2,
    // A join answers when its steps are done, which may take the function's whole time.
    requestHandler: { requestTimeout: 4 * CALL_TIMEOUT_MS, connectionTimeout: 5_000 },
  });
}
