import type { SSMClient } from "@aws-sdk/client-ssm";
import type { Clock } from "../base/clock.ts";
import { failed, type Result } from "../base/result.ts";
import type { UserError } from "../base/user-error.ts";
import { ssmCredentials } from "./ssm.ts";
import type { CredentialStore } from "./store.ts";

/** Reads secret texts that people keep in the Parameter Store of AWS Systems Manager. Nothing is kept. */
export class ParameterReader {
  readonly #store: CredentialStore;

  constructor(client: SSMClient, clock: Clock) {
    this.#store = ssmCredentials({ client, clock });
  }

  /**
   * The decrypted value of a parameter.
   * @param name full name (`/hawser/prod/east`)
   */
  async read(name: string, signal: AbortSignal): Promise<Result<string, UserError>> {
    const read = await this.#store.read(name, signal);
    return read.ok ? read : failed({ path: "ssm", problem: read.error.problem, remedy: read.error.remedy });
  }
}
