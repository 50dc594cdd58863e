import type { StateError } from "../errors.ts";

type Kind = StateError["kind"];

/** The SDK found nobody to be. */
const NO_CREDENTIALS = "CredentialsProviderError";

/** Names of DynamoDB's, IAM's, KMS' and Node's errors, by what they mean to us. */
const KINDS: Readonly<Record<string, Kind>> = {
  ProvisionedThroughputExceededException: "throttled",
  ThrottlingException: "throttled",
  ThrottlingError: "throttled",
  RequestLimitExceeded: "throttled",
  LimitExceededException: "throttled",
  TransactionConflictException: "throttled",
  TransactionConflict: "throttled",
  TransactionInProgressException: "throttled",
  ProvisionedThroughputExceeded: "throttled",
  KMSThrottlingException: "throttled",
  TimeoutError: "timeout",
  AbortError: "timeout",
  RequestTimeout: "timeout",
  ETIMEDOUT: "timeout",
  InternalServerError: "unavailable",
  InternalFailure: "unavailable",
  ServiceUnavailable: "unavailable",
  ServiceUnavailableException: "unavailable",
  ReplicatedWriteConflictException: "unavailable",
  ECONNREFUSED: "unavailable",
  ECONNRESET: "unavailable",
  EPIPE: "unavailable",
  ENOTFOUND: "unavailable",
  EAI_AGAIN: "unavailable",
  EHOSTUNREACH: "unavailable",
  ENETUNREACH: "unavailable",
  AccessDeniedException: "denied",
  KMSAccessDeniedException: "denied",
  UnrecognizedClientException: "denied",
  InvalidSignatureException: "denied",
  IncompleteSignatureException: "denied",
  MissingAuthenticationTokenException: "denied",
  MissingAuthenticationToken: "denied",
  ExpiredTokenException: "denied",
  InvalidClientTokenId: "denied",
  [NO_CREDENTIALS]: "denied",
  ResourceNotFoundException: "invalid",
  ValidationException: "invalid",
  ValidationError: "invalid",
  SerializationException: "invalid",
  ItemCollectionSizeLimitExceededException: "invalid",
  IdempotentParameterMismatchException: "invalid",
  KMSDisabledException: "denied",
  KMSNotFoundException: "denied",
  KMSInvalidStateException: "denied",
};

const LOG_IN =
  "there are no AWS credentials here: set AWS_PROFILE or log in (aws sso login); for the local world leave --stage out";

const REMEDIES: Readonly<Record<Kind, string>> = {
  throttled: "it is tried again; if it goes on, look at the table's throttling metrics",
  timeout: "it is tried again; nothing is known about a write",
  unavailable: "it is tried again; nothing is known about a write",
  denied: "check the function's role and the table's KMS key",
  invalid: "check that the table exists and was deployed with this version",
};

/** What was thrown, as a StateError. Only names and codes are kept: the words of an error may quote an item. */
export function stateErrorOf(thrown: unknown, what: string, table: string): StateError {
  const names = namesOf(thrown);
  const known = names.find((name) => Object.hasOwn(KINDS, name));
  const kind = (known === undefined ? undefined : KINDS[known]) ?? kindOfStatus(statusOf(thrown));
  const problem = `${what} in table ${table}: ${known ?? names[0] ?? "unknown error"}`;
  return known === NO_CREDENTIALS ? { kind, message: `${problem}; ${LOG_IN}` } : stateError(kind, problem);
}

/** A StateError whose message ends with what to do. */
export function stateError(kind: Kind, problem: string): StateError {
  return { kind, message: `${problem}; ${REMEDIES[kind]}` };
}

function kindOfStatus(status: number | undefined): Kind {
  if (status === undefined || status >= 500) return "unavailable";
  if (status === 429) return "throttled";
  return status === 401 || status === 403 ? "denied" : "invalid";
}

/** Error name and code, its cause's and its parts' after it. */
function namesOf(thrown: unknown, depth = 0): string[] {
  if (typeof thrown !== "object" || thrown === null || depth > 3) return [];
  const own = [field(thrown, "code"), field(thrown, "name")].filter((name) => typeof name === "string");
  const parts = thrown instanceof AggregateError ? thrown.errors : [];
  return [...own, ...[field(thrown, "cause"), ...parts].flatMap((part) => namesOf(part, depth + 1))];
}

function statusOf(thrown: unknown): number | undefined {
  const metadata = typeof thrown === "object" && thrown !== null ? field(thrown, "$metadata") : undefined;
  const status = typeof metadata === "object" && metadata !== null ? field(metadata, "httpStatusCode") : undefined;
  return typeof status === "number" ? status : undefined;
}

function field(of: object, name: string): unknown {
  return name in of ? (of as Record<string, unknown>)[name] : undefined;
}
