import type { Context } from "aws-lambda";

/** The context of an invocation as Lambda hands it to a handler. */
export function lambdaContext(
  options: { readonly remainingMs?: () => number; readonly requestId?: string } = {},
): Context {
  const refuse = (): never => {
    throw new Error("callbacks are gone since Node.js 24");
  };
  return {
    callbackWaitsForEmptyEventLoop: false,
    functionName: "hawser-test-function",
    functionVersion: "$LATEST",
    invokedFunctionArn: "arn:aws:lambda:eu-west-1:123456789012:function:hawser-test-function",
    memoryLimitInMB: "512",
    awsRequestId: options.requestId ?? "11111111-2222-3333-4444-555555555555",
    logGroupName: "/aws/lambda/hawser-test-function",
    logStreamName: "stream",
    getRemainingTimeInMillis: options.remainingMs ?? (() => 900_000),
    done: refuse,
    fail: refuse,
    succeed: refuse,
  };
}
