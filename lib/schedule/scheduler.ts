import {
  ConflictException,
  CreateScheduleCommand,
  CreateScheduleGroupCommand,
  DeleteScheduleCommand,
  GetScheduleCommand,
  type GetScheduleCommandOutput,
  ResourceNotFoundException,
  type SchedulerClient,
  UpdateScheduleCommand,
} from "@aws-sdk/client-scheduler";
import { type Clock, deadline } from "../base/clock.ts";
import type { Ids } from "../base/ids.ts";
import { failed, ok, type Result } from "../base/result.ts";
import { type ScheduleError, toScheduleError } from "./errors.ts";
import type { PlannedSchedule } from "./plan.ts";

/** What became of a schedule that had to be there. */
export interface EnsuredSchedule {
  readonly outcome: "created" | "updated" | "unchanged";
  /** True when a person has disabled it: it stays so. */
  readonly paused: boolean;
}

/** A schedule's name within its group. */
interface Named {
  readonly name: string;
  readonly group: string;
}

/** Makes the schedules of EventBridge Scheduler agree with the plan. Every method may be repeated. */
export interface Scheduler {
  /** Creates the schedule, or puts right what we own of it; its state and its dates belong to people. */
  ensure(planned: PlannedSchedule, signal?: AbortSignal): Promise<Result<EnsuredSchedule, ScheduleError>>;
  /** Deletes the schedule; `absent` when there was none. */
  remove(schedule: Named, signal?: AbortSignal): Promise<Result<"removed" | "absent", ScheduleError>>;
}

/** A schedule as it is now. */
export interface FoundSchedule {
  /** False when a person has disabled it. */
  readonly enabled: boolean;
  readonly expression: string;
}

/** One call, retries of the SDK included, in milliseconds. */
const CALL_MS = 10_000;

/** How often a change by somebody else between our read and our write is looked at again. */
const ATTEMPTS = 3;

/** Schedules through the AWS SDK. */
export class SdkScheduler implements Scheduler {
  readonly #client: SchedulerClient;
  readonly #clock: Clock;
  readonly #ids: Ids;

  constructor(client: SchedulerClient, clock: Clock, ids: Ids) {
    this.#client = client;
    this.#clock = clock;
    this.#ids = ids;
  }

  async ensure(planned: PlannedSchedule, signal?: AbortSignal): Promise<Result<EnsuredSchedule, ScheduleError>> {
    try {
      for (let attempt = 1; attempt <= ATTEMPTS; attempt += 1) {
        const done = await this.#ensureOnce(planned, signal);
        if (done !== "look again") return ok(done);
      }
      const problem = new Error("it changes each time it is written; somebody else works on it");
      return failed(toScheduleError(`ensure schedule ${planned.name}`, problem));
    } catch (error) {
      return failed(toScheduleError(`ensure schedule ${planned.name}`, error));
    }
  }

  /** The schedule as it is; undefined when there is none. */
  async read(schedule: Named, signal?: AbortSignal): Promise<Result<FoundSchedule | undefined, ScheduleError>> {
    try {
      const found = await this.#read(schedule, signal);
      if (found === undefined) return ok(undefined);
      return ok({ enabled: found.State !== "DISABLED", expression: found.ScheduleExpression ?? "" });
    } catch (error) {
      return failed(toScheduleError(`read schedule ${schedule.name}`, error));
    }
  }

  async remove(schedule: Named, signal?: AbortSignal): Promise<Result<"removed" | "absent", ScheduleError>> {
    const command = new DeleteScheduleCommand({
      Name: schedule.name,
      GroupName: schedule.group,
      ClientToken: this.#ids.uuid(),
    });
    try {
      await this.#call(signal, (abortSignal) => this.#client.send(command, { abortSignal }));
      return ok("removed");
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return ok("absent");
      return failed(toScheduleError(`delete schedule ${schedule.name}`, error));
    }
  }

  /** One look and at most one write. Creating meets a missing group, or another join that was faster: look again. */
  async #ensureOnce(planned: PlannedSchedule, signal?: AbortSignal): Promise<EnsuredSchedule | "look again"> {
    const current = await this.#read(planned, signal);
    if (current === undefined) return await this.#create(planned, signal);
    const paused = current.State === "DISABLED";
    if (agrees(current, planned)) return { outcome: "unchanged", paused };
    const command = new UpdateScheduleCommand({
      ...theirs(current),
      ...ours(planned),
      ClientToken: this.#ids.uuid(),
    });
    try {
      await this.#call(signal, (abortSignal) => this.#client.send(command, { abortSignal }));
      return { outcome: "updated", paused };
    } catch (error) {
      if (error instanceof ConflictException || error instanceof ResourceNotFoundException) return "look again";
      throw error;
    }
  }

  async #create(planned: PlannedSchedule, signal?: AbortSignal): Promise<EnsuredSchedule | "look again"> {
    const command = new CreateScheduleCommand({
      ...ours(planned),
      Description: planned.description,
      State: "ENABLED",
      // One token for all tries of this call: a retry of the SDK whose first answer was lost is no conflict.
      ClientToken: this.#ids.uuid(),
    });
    try {
      await this.#call(signal, (abortSignal) => this.#client.send(command, { abortSignal }));
      return { outcome: "created", paused: false };
    } catch (error) {
      if (error instanceof ConflictException) return "look again";
      if (!(error instanceof ResourceNotFoundException)) throw error;
      await this.#createGroup(planned.group, signal);
      return "look again";
    }
  }

  async #createGroup(group: string, signal?: AbortSignal): Promise<void> {
    const command = new CreateScheduleGroupCommand({ Name: group, ClientToken: this.#ids.uuid() });
    try {
      await this.#call(signal, (abortSignal) => this.#client.send(command, { abortSignal }));
    } catch (error) {
      if (!(error instanceof ConflictException)) throw error;
    }
  }

  async #read(planned: Named, signal?: AbortSignal): Promise<GetScheduleCommandOutput | undefined> {
    const command = new GetScheduleCommand({ Name: planned.name, GroupName: planned.group });
    try {
      return await this.#call(signal, (abortSignal) => this.#client.send(command, { abortSignal }));
    } catch (error) {
      if (error instanceof ResourceNotFoundException) return undefined;
      throw error;
    }
  }

  async #call<T>(parent: AbortSignal | undefined, send: (signal: AbortSignal) => Promise<T>): Promise<T> {
    using limit = deadline(this.#clock, CALL_MS, parent);
    return await send(limit.signal);
  }
}

/** What Hawser decides about a schedule. */
function ours(planned: PlannedSchedule) {
  return {
    Name: planned.name,
    GroupName: planned.group,
    ScheduleExpression: planned.expression,
    FlexibleTimeWindow: { Mode: "OFF" as const },
    Target: {
      Arn: planned.targetArn,
      RoleArn: planned.roleArn,
      Input: planned.input,
      DeadLetterConfig: { Arn: planned.deadLetterArn },
      RetryPolicy: {
        MaximumEventAgeInSeconds: planned.maximumEventAgeSeconds,
        MaximumRetryAttempts: planned.maximumRetryAttempts,
      },
    },
  };
}

/** What people decide about it, and an update would otherwise reset. */
function theirs(current: GetScheduleCommandOutput) {
  return {
    State: current.State,
    StartDate: current.StartDate,
    EndDate: current.EndDate,
    Description: current.Description,
    ScheduleExpressionTimezone: current.ScheduleExpressionTimezone,
    KmsKeyArn: current.KmsKeyArn,
    ActionAfterCompletion: current.ActionAfterCompletion,
  };
}

function agrees(current: GetScheduleCommandOutput, planned: PlannedSchedule): boolean {
  const target = current.Target;
  return (
    current.ScheduleExpression === planned.expression &&
    current.FlexibleTimeWindow?.Mode === "OFF" &&
    target?.Arn === planned.targetArn &&
    target.RoleArn === planned.roleArn &&
    target.Input === planned.input &&
    target.DeadLetterConfig?.Arn === planned.deadLetterArn &&
    target.RetryPolicy?.MaximumEventAgeInSeconds === planned.maximumEventAgeSeconds &&
    target.RetryPolicy.MaximumRetryAttempts === planned.maximumRetryAttempts
  );
}
