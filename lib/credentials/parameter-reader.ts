import { GetParameterCommand, ParameterNotFound, type SSMClient } from "@aws-sdk/client-ssm";
import { type Clock, deadline } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";

/** One call, retries of the SDK included, in milliseconds: shorter than a visit to a member. */
const CALL_MS = 5_000;

/** Reads secret texts that people keep in the Parameter Store of AWS Systems Manager. Nothing is kept. */
export class ParameterReader {
  readonly #client: SSMClient;
  readonly #clock: Clock;

  constructor(client: SSMClient, clock: Clock) {
    this.#client = client;
    this.#clock = clock;
  }

  /**
   * The decrypted value of a parameter.
   * @param name full name (`/hawser/prod/east`)
   */
  async read(name: string, signal: AbortSignal): Promise<Result<string, UserError>> {
    using limit = deadline(this.#clock, CALL_MS, signal);
    const command = new GetParameterCommand({ Name: name, WithDecryption: true });
    try {
      const answer = await this.#client.send(command, { abortSignal: limit.signal });
      const value = answer.Parameter?.Value;
      return value === undefined || value === "" ? failed(explain(name, "it is empty", STORE)) : ok(value);
    } catch (thrown) {
      if (limit.expired()) return failed(explain(name, `no answer within ${CALL_MS} ms`, AGAIN));
      return failed(problemOf(name, thrown));
    }
  }
}

const STORE =
  "Store the text as a SecureString: aws ssm put-parameter --type SecureString --name NAME --value file://FILE";
const AGAIN = "It is tried again";

function problemOf(name: string, thrown: unknown): UserError {
  if (thrown instanceof ParameterNotFound) return explain(name, "there is no such parameter", STORE);
  const word = thrown instanceof Error ? thrown.name : "an unknown error";
  if (word === "AccessDeniedException" || word === "InvalidKeyId") {
    return explain(
      name,
      `it may not be read (${word})`,
      "Parameters must lie under the stage's own prefix, see infra/aws/roles.yml",
    );
  }
  return explain(name, `it could not be read (${word})`, AGAIN);
}

function explain(name: string, problem: string, remedy: string): UserError {
  return { path: "ssm", problem: `SSM parameter ${name}: ${problem}`, remedy };
}
