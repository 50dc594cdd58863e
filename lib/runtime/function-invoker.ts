import { InvokeCommand, type LambdaClient } from "@aws-sdk/client-lambda";
import { type Clock, deadline } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { ShardEvent } from "../schedule/plan.ts";
import type { StepFault } from "./join-ports.ts";

/** One call, retries of the SDK included, in milliseconds. */
const CALL_MS = 10_000;

/** Invokes roles as their schedules do: asynchronously, so that nobody waits for a window to end. */
export class FunctionInvoker {
  readonly #client: LambdaClient;
  readonly #clock: Clock;
  readonly #arnPrefix: string;

  /** @param arnPrefix ARN of each function, up to its name */
  constructor(client: LambdaClient, clock: Clock, arnPrefix: string) {
    this.#client = client;
    this.#clock = clock;
    this.#arnPrefix = arnPrefix;
  }

  async invoke(event: ShardEvent, signal: AbortSignal): Promise<Result<void, StepFault>> {
    using limit = deadline(this.#clock, CALL_MS, signal);
    const command = new InvokeCommand({
      FunctionName: `${this.#arnPrefix}${event.role}`,
      InvocationType: "Event",
      Payload: JSON.stringify(event),
    });
    try {
      await this.#client.send(command, { abortSignal: limit.signal });
      return ok(undefined);
    } catch (thrown) {
      const why = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
      return failed({
        message: `invoke ${event.role} for shard ${event.shard}: ${why}. Its schedule fires within two minutes`,
      });
    }
  }
}
