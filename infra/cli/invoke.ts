import { InvokeCommand } from "@aws-sdk/client-lambda";
import { failed, ok, type Result } from "../../lib/base/result.ts";
import type { UserError } from "../../lib/base/user-error.ts";
import { lambdaClient } from "./clients.ts";
import type { Target } from "./target.ts";

/** Invokes a function of the target, waits for it and gives its answer: what the function itself says, right or wrong. */
export async function invokeFunction(
  target: Target,
  name: string,
  payload: object,
): Promise<Result<unknown, UserError>> {
  const client = lambdaClient(target);
  const functionName = `${target.functionPrefix}${name}`;
  try {
    const answer = await client.send(
      new InvokeCommand({ FunctionName: functionName, Payload: JSON.stringify(payload) }),
    );
    const body: unknown = JSON.parse(Buffer.from(answer.Payload ?? []).toString("utf8"));
    if (answer.FunctionError === undefined) return ok(body);
    const problem = (body as { errorMessage?: string }).errorMessage ?? "no message";
    return failed(faultOf(`the function ${functionName} failed: ${problem}`, "Look into its log, then try again"));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    const problem = `the function ${functionName} cannot be invoked in ${target.name}: ${why}`;
    return failed(faultOf(problem, "Is the stage deployed, and may you invoke it?"));
  } finally {
    client.destroy();
  }
}

function faultOf(problem: string, remedy: string): UserError {
  return { path: "", problem, remedy };
}
