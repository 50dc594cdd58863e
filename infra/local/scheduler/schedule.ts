import * as v from "valibot";
import { ServiceError } from "../aws/rest-json.ts";
import { parseExpression } from "./occurrences.ts";
import { isTimeZone } from "./time-zone.ts";

const least = (n: number): string => `Member must have value greater than or equal to ${n}`;
const most = (n: number): string => `Member must have value less than or equal to ${n}`;
const longest = (n: number): string => `Member must have length less than or equal to ${n}`;
const shortest = "Member must have length greater than or equal to 1";
const pattern = (regex: RegExp): string => `Member must satisfy regular expression pattern: ${regex.source}`;

const text = (max: number) => v.pipe(v.string(), v.minLength(1, shortest), v.maxLength(max, longest(max)));
const matching = (max: number, regex: RegExp) => v.pipe(text(max), v.regex(regex, pattern(regex)));
const between = (from: number, to: number) =>
  v.pipe(v.number(), v.integer(), v.minValue(from, least(from)), v.maxValue(to, most(to)));
const oneOf = <const T extends readonly string[]>(...values: T) =>
  v.picklist(values, `Member must satisfy enum value set: [${values.join(", ")}]`);

const NAME = matching(64, /^[0-9a-zA-Z-_.]+$/);
const ROLE_ARN = matching(1600, /^arn:aws[a-z-]*:iam::\d{12}:role\/[\w+=,.@/-]+$/);
const QUEUE_ARN = matching(1600, /^arn:aws[a-z-]*:sqs:[a-z0-9-]+:\d{12}:[a-zA-Z0-9-_]+$/);

/** Seconds since the epoch. */
const MOMENT = v.number();

const RETRY_POLICY = v.object({
  MaximumEventAgeInSeconds: v.optional(between(60, 86_400), 86_400),
  MaximumRetryAttempts: v.optional(between(0, 185), 185),
});

const TARGET = v.looseObject({
  Arn: text(1600),
  RoleArn: ROLE_ARN,
  Input: v.optional(v.pipe(v.string(), v.minLength(1, shortest))),
  DeadLetterConfig: v.optional(v.object({ Arn: v.optional(QUEUE_ARN) })),
  RetryPolicy: v.optional(RETRY_POLICY, {}),
});

const REQUEST = v.object({
  Name: NAME,
  GroupName: v.optional(NAME, "default"),
  ScheduleExpression: text(256),
  ScheduleExpressionTimezone: v.optional(text(50), "UTC"),
  StartDate: v.optional(MOMENT),
  EndDate: v.optional(MOMENT),
  Description: v.optional(v.pipe(v.string(), v.maxLength(512, longest(512)))),
  State: v.optional(oneOf("ENABLED", "DISABLED"), "ENABLED"),
  ActionAfterCompletion: v.optional(oneOf("NONE", "DELETE"), "NONE"),
  KmsKeyArn: v.optional(text(2048)),
  FlexibleTimeWindow: v.object({
    Mode: oneOf("OFF", "FLEXIBLE"),
    MaximumWindowInMinutes: v.optional(between(1, 1440)),
  }),
  Target: TARGET,
  ClientToken: v.optional(matching(64, /^[a-zA-Z0-9-_]+$/)),
});

const GROUP_REQUEST = v.object({
  Name: NAME,
  Tags: v.optional(v.array(v.object({ Key: text(128), Value: v.pipe(v.string(), v.maxLength(256)) })), []),
  ClientToken: v.optional(matching(64, /^[a-zA-Z0-9-_]+$/)),
});

/** A schedule as a request describes it, with the service's defaults. */
export type ScheduleRequest = v.InferOutput<typeof REQUEST>;

/** A schedule group as a request describes it. */
export type GroupRequest = v.InferOutput<typeof GROUP_REQUEST>;

/** A tag. */
export interface Tag {
  readonly Key: string;
  readonly Value: string;
}

/** A request that the service refuses as malformed. */
export function validationError(message: string): ServiceError {
  return new ServiceError("ValidationException", 400, message);
}

/** Reads the description of a schedule out of a create or an update. Throws a ValidationException. */
export function readScheduleRequest(input: unknown): ScheduleRequest {
  const request = read(REQUEST, input);
  if (parseExpression(request.ScheduleExpression) === undefined) {
    throw validationError(`Invalid Schedule Expression ${request.ScheduleExpression}.`);
  }
  if (!isTimeZone(request.ScheduleExpressionTimezone)) {
    throw validationError(`Invalid Schedule Expression Timezone ${request.ScheduleExpressionTimezone}.`);
  }
  const { Mode, MaximumWindowInMinutes } = request.FlexibleTimeWindow;
  if (Mode === "FLEXIBLE" && MaximumWindowInMinutes === undefined) {
    throw validationError("MaximumWindowInMinutes must be provided for the FLEXIBLE mode.");
  }
  if (Mode === "OFF" && MaximumWindowInMinutes !== undefined) {
    throw validationError("MaximumWindowInMinutes cannot be provided for the OFF mode.");
  }
  if (request.StartDate !== undefined && request.EndDate !== undefined && request.EndDate <= request.StartDate) {
    throw validationError("The EndDate you specify must come after the StartDate.");
  }
  return request;
}

/** Reads the description of a group. Throws a ValidationException. */
export function readGroupRequest(input: unknown): GroupRequest {
  return read(GROUP_REQUEST, input);
}

function read<const S extends v.GenericSchema>(schema: S, input: unknown): v.InferOutput<S> {
  const result = v.safeParse(schema, input);
  if (result.success) return result.output;
  const problems = result.issues.map((issue) => {
    const path = (v.getDotPath(issue) ?? "").split(".").map((part) => part.charAt(0).toLowerCase() + part.slice(1));
    const value =
      issue.input === undefined || issue.input === null
        ? "null"
        : `'${JSON.stringify(issue.input).replaceAll('"', "")}'`;
    const why = value === "null" ? "Member must not be null" : issue.message;
    return `Value ${value} at '${path.join(".")}' failed to satisfy constraint: ${why}`;
  });
  const count = `${problems.length} validation error${problems.length === 1 ? "" : "s"} detected`;
  throw validationError(`${count}: ${problems.join("; ")}`);
}
