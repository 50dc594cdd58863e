import { type BackoffPolicy, backoffMs } from "../../../lib/base/backoff.ts";
import type { Ids } from "../../../lib/base/ids.ts";
import type { Random } from "../../../lib/base/random.ts";
import type { Schedule } from "./store.ts";

/** What became of an invocation. `notFound` is for good, `unavailable` is worth another try. */
export type InvokeOutcome = "accepted" | "notFound" | "unavailable";

/** Hands an event to a target without waiting for its work. */
export type Invoke = (targetArn: string, payload: unknown) => InvokeOutcome | Promise<InvokeOutcome>;

type Condition = "MaximumRetryAttempts" | "MaximumEventAgeInSeconds";

/** A message in a dead-letter queue, with the attributes that EventBridge Scheduler gives it. */
export interface DeadLetter {
  readonly queueArn: string;
  readonly body: string;
  readonly attributes: {
    readonly ERROR_CODE: string;
    readonly ERROR_MESSAGE: string;
    readonly EXECUTION_ID: string;
    readonly EXHAUSTED_RETRY_CONDITION?: Condition;
    readonly IS_PAYLOAD_TRUNCATED: "false";
    readonly RETRY_ATTEMPTS: string;
    readonly SCHEDULED_TIME: string;
    readonly SCHEDULE_ARN: string;
    readonly TARGET_ARN: string;
  };
}

/** One firing that has come to its end. */
export interface Firing {
  readonly scheduleArn: string;
  readonly executionId: string;
  /** When it was due. */
  readonly scheduledTime: Date;
  /** When it was first sent. */
  readonly firedAt: Date;
  /** True for the second one of two. */
  readonly duplicate: boolean;
  readonly attempts: number;
  /** `dropped`: there is no dead-letter queue. */
  readonly outcome: "accepted" | "deadLetter" | "dropped";
}

/** What deliveries need. */
export interface DeliveryOptions {
  readonly invoke: Invoke;
  readonly random: Random;
  readonly ids: Ids;
  /** The service's own time, in milliseconds since the epoch. */
  readonly now: () => number;
  /** Waits so many milliseconds of that time. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  readonly onDeadLetter: (letter: DeadLetter) => void;
  readonly onFiring: (firing: Firing) => void;
}

const RETRY: BackoffPolicy = { baseMs: 1000, capMs: 60_000 };

/** Sends one firing to its target, again if need be, and to the dead-letter queue in the end. */
export async function deliver(
  options: DeliveryOptions,
  schedule: Schedule,
  due: { readonly atMs: number; readonly duplicate: boolean },
  signal: AbortSignal,
): Promise<void> {
  const firedAt = new Date(options.now());
  const executionId = options.ids.uuid().replaceAll("-", "").slice(0, 16);
  const { Target } = schedule.request;
  const firing = {
    scheduleArn: schedule.arn,
    executionId,
    scheduledTime: new Date(due.atMs),
    firedAt,
    duplicate: due.duplicate,
  };
  for (let attempt = 1; ; attempt += 1) {
    const input = withContext(Target.Input ?? "{}", schedule, firing, attempt);
    const outcome = await attemptOnce(options.invoke, Target.Arn, input);
    if (signal.aborted) return;
    if (outcome === "accepted") {
      options.onFiring({ ...firing, attempts: attempt, outcome });
      return;
    }
    const waitMs = backoffMs(RETRY, attempt, options.random);
    const condition = exhausted(schedule, attempt, options.now() + waitMs - firedAt.getTime());
    if (outcome === "notFound" || outcome === "malformed" || condition !== undefined) {
      const letter = { queueArn: Target.DeadLetterConfig?.Arn, body: input, outcome, attempt, condition };
      const isKept = bury(options, schedule, firing, letter);
      options.onFiring({ ...firing, attempts: attempt, outcome: isKept ? "deadLetter" : "dropped" });
      return;
    }
    await options.sleep(waitMs, signal);
    if (signal.aborted) return;
  }
}

async function attemptOnce(invoke: Invoke, arn: string, input: string): Promise<InvokeOutcome | "malformed"> {
  let payload: unknown;
  try {
    payload = JSON.parse(input);
  } catch {
    // Lambda takes nothing but JSON.
    return "malformed";
  }
  try {
    return await invoke(arn, payload);
  } catch {
    // Whatever keeps the target away is worth another try.
    return "unavailable";
  }
}

function exhausted(schedule: Schedule, attempt: number, ageMs: number): Condition | undefined {
  const { MaximumRetryAttempts, MaximumEventAgeInSeconds } = schedule.request.Target.RetryPolicy;
  if (attempt > MaximumRetryAttempts) return "MaximumRetryAttempts";
  return ageMs > MaximumEventAgeInSeconds * 1000 ? "MaximumEventAgeInSeconds" : undefined;
}

type Sent = Pick<Firing, "scheduleArn" | "executionId" | "scheduledTime">;

/** Puts a firing into its dead-letter queue; false when it has none. */
function bury(
  options: DeliveryOptions,
  schedule: Schedule,
  firing: Sent,
  letter: {
    queueArn: string | undefined;
    body: string;
    outcome: "notFound" | "unavailable" | "malformed";
    attempt: number;
    condition: Condition | undefined;
  },
): boolean {
  if (letter.queueArn === undefined) return false;
  const codes = {
    notFound: ["AWS.Lambda.ResourceNotFoundException", "Function not found"],
    unavailable: ["AWS.Lambda.ServiceException", "The target could not be invoked"],
    malformed: ["AWS.Lambda.InvalidRequestContentException", "Could not parse request body into json"],
  } as const;
  options.onDeadLetter({
    queueArn: letter.queueArn,
    body: letter.body,
    attributes: {
      ERROR_CODE: codes[letter.outcome][0],
      ERROR_MESSAGE: codes[letter.outcome][1],
      EXECUTION_ID: firing.executionId,
      ...(letter.condition === undefined ? {} : { EXHAUSTED_RETRY_CONDITION: letter.condition }),
      IS_PAYLOAD_TRUNCATED: "false",
      RETRY_ATTEMPTS: String(letter.attempt - 1),
      SCHEDULED_TIME: seconds(firing.scheduledTime),
      SCHEDULE_ARN: schedule.arn,
      TARGET_ARN: schedule.request.Target.Arn,
    },
  });
  return true;
}

/** Fills in the context attributes (EventBridge Scheduler, "Adding context attributes"). */
function withContext(input: string, schedule: Schedule, firing: Sent, attempt: number): string {
  return input
    .replaceAll("<aws.scheduler.schedule-arn>", schedule.arn)
    .replaceAll("<aws.scheduler.scheduled-time>", seconds(firing.scheduledTime))
    .replaceAll("<aws.scheduler.execution-id>", firing.executionId)
    .replaceAll("<aws.scheduler.attempt-number>", String(attempt));
}

function seconds(at: Date): string {
  return at.toISOString().replace(/\.\d+Z$/, "Z");
}
