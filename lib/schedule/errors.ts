import { cutText } from "../base/limits.ts";

/** What EventBridge Scheduler can answer other than success. */
export interface ScheduleError {
  /**
   * `throttled`, `timeout`, `unavailable`: to be tried again; `denied`: IAM, a person must act; `quota`: too many
   * schedules; `invalid`: the request was refused (a role that the service cannot assume, a target that is not there).
   */
  readonly kind: "throttled" | "timeout" | "unavailable" | "denied" | "quota" | "invalid";
  /** What was tried, on which schedule, what came back and what to do. */
  readonly message: string;
}

const REMEDIES: Readonly<Record<ScheduleError["kind"], string>> = {
  throttled: "It is tried again.",
  timeout: "It is tried again.",
  unavailable: "It is tried again.",
  denied: "Allow the function's role the scheduler actions and iam:PassRole, as infra/aws/roles.yml does.",
  quota: "Ask AWS for a higher EventBridge Scheduler quota in this region.",
  invalid: "Check the stage's scheduler role, dead-letter queue and function names; deploying again restores them.",
};

/** The names under which AWS reports what is not specific to one service. */
const KINDS: Readonly<Record<string, ScheduleError["kind"]>> = {
  ThrottlingException: "throttled",
  TooManyRequestsException: "throttled",
  TimeoutError: "timeout",
  AbortError: "timeout",
  AccessDeniedException: "denied",
  UnrecognizedClientException: "denied",
  ExpiredTokenException: "denied",
  InvalidSignatureException: "denied",
  CredentialsProviderError: "denied",
  ServiceQuotaExceededException: "quota",
  ValidationException: "invalid",
  ResourceNotFoundException: "invalid",
  InternalServerException: "unavailable",
};

/**
 * Turns what the SDK threw into the room's union.
 * @param operation what was tried, in words (`create schedule hawser-dev-announce-a`)
 */
export function toScheduleError(operation: string, thrown: unknown): ScheduleError {
  const error = thrown instanceof Error ? thrown : new Error(String(thrown));
  const kind = KINDS[error.name] ?? (faultOf(error) === "client" ? "invalid" : "unavailable");
  return { kind, message: cutText(`${operation}: ${error.name}: ${error.message} ${REMEDIES[kind]}`) };
}

function faultOf(error: Error): string | undefined {
  return "$fault" in error && typeof error.$fault === "string" ? error.$fault : undefined;
}
