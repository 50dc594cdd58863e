import {
  DeleteParameterCommand,
  GetParameterCommand,
  GetParametersCommand,
  PutParameterCommand,
  type SSMClient,
} from "@aws-sdk/client-ssm";
import { type Clock, deadline } from "../base/clock.ts";
import { failed, ok, type Result } from "../base/result.ts";
import type { CredentialError } from "./errors.ts";
import { GatheredReads } from "./gathered-reads.ts";
import type { CredentialStore } from "./store.ts";

/** One call, retries of the SDK included, in milliseconds: shorter than a beat. */
const CALL_MS = 5_000;

const STORE =
  "store the text as a SecureString: aws ssm put-parameter --type SecureString --name NAME --value file://FILE";
const GRANT = "let the function's role use the parameter and its KMS key, see infra/aws/roles.yml";
const AGAIN = "it is tried again";
const NO_SUCH = "there is no such parameter";
const ENDED = "ended by its caller";

/** What errors of Systems Manager, KMS and IAM mean, by name. Whatever is not here is `unavailable`. */
const MEANINGS: Readonly<Record<string, readonly [kind: CredentialError["kind"], problem: string, remedy: string]>> = {
  ParameterNotFound: ["notFound", NO_SUCH, STORE],
  ParameterVersionNotFound: ["notFound", "there is no such version of the parameter", STORE],
  AccessDeniedException: ["denied", "it may not be used (AccessDeniedException)", GRANT],
  InvalidKeyId: ["denied", "its KMS key may not be used (InvalidKeyId)", GRANT],
  UnrecognizedClientException: ["denied", "AWS does not know our credentials", "check the function's role"],
  ExpiredTokenException: ["denied", "our AWS credentials have expired", "check the function's role"],
  CredentialsProviderError: ["denied", "there are no AWS credentials", "check the function's role"],
  ValidationException: ["invalid", "the name or the value is refused (ValidationException)", STORE],
  HierarchyLevelLimitExceededException: ["invalid", "the name has more than 15 parts", STORE],
  ThrottlingException: ["throttled", "Systems Manager throttles us", AGAIN],
  TooManyUpdates: ["throttled", "it is being written by another", AGAIN],
  TimeoutError: ["timeout", "no answer in time", AGAIN],
};

/** Systems Manager API reference: GetParameters takes ten names. Both calls count against 40 a second of the account. */
const GET_BATCH = 10;
const GET_CALLS = 2;

/** Secrets as SecureString parameters of AWS Systems Manager; reads at the same time are gathered. */
export function ssmCredentials(parts: {
  readonly client: SSMClient;
  readonly clock: Clock;
  /** Encrypts new parameters; absent: the account's own key for Systems Manager. */
  readonly kmsKeyId?: string;
}): CredentialStore {
  const { client, clock, kmsKeyId } = parts;
  const reads = new GatheredReads({
    most: GET_BATCH,
    calls: GET_CALLS,
    readAll: async (references, signal) => await readAll(client, clock, references, signal),
    givenUp: (reference) => explained(reference, "timeout", ENDED, AGAIN),
  });
  return {
    read: async (reference, signal) => await reads.read(reference, signal),
    write: async (reference, secret, signal) => {
      const command = new PutParameterCommand({
        Name: reference,
        Value: secret,
        Type: "SecureString",
        Overwrite: true,
        // A kubeconfig with certificates is longer than the 4 KB of the standard tier.
        Tier: "Intelligent-Tiering",
        ...(kmsKeyId === undefined ? {} : { KeyId: kmsKeyId }),
      });
      const answer = await timed(
        clock,
        reference,
        signal,
        async (abortSignal) => await client.send(command, { abortSignal }),
      );
      return answer.ok ? ok(undefined) : answer;
    },
    delete: async (reference, signal) => {
      const command = new DeleteParameterCommand({ Name: reference });
      const answer = await timed(
        clock,
        reference,
        signal,
        async (abortSignal) => await client.send(command, { abortSignal }),
      );
      return answer.ok || answer.error.kind === "notFound" ? ok(undefined) : answer;
    },
  };
}

type Read = Result<string, CredentialError>;

async function readAll(
  client: SSMClient,
  clock: Clock,
  references: readonly string[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Read>> {
  const one = async (reference: string): Promise<[string, Read]> => [
    reference,
    await readOne(client, clock, reference, signal),
  ];
  const [first = "", ...others] = references;
  if (others.length === 0) return new Map([await one(first)]);
  const command = new GetParametersCommand({ Names: [...references], WithDecryption: true });
  const answer = await timed(clock, first, signal, async (abortSignal) => await client.send(command, { abortSignal }));
  if (answer.ok) {
    const values = new Map(answer.value.Parameters?.map(({ Name, Value }) => [Name, Value]));
    const missing = new Set(answer.value.InvalidParameters);
    return new Map(
      references.map((reference) => [
        reference,
        missing.has(reference) ? failed(absent(reference)) : secretOf(reference, values.get(reference)),
      ]),
    );
  }
  const { kind, remedy } = answer.error;
  // One name that may not be read, or is none, spoils the call for all.
  if (kind === "denied" || kind === "invalid") return new Map(await Promise.all(references.map(one)));
  const problemOf = (reference: string): string => answer.error.problem.replace(first, reference);
  return new Map(references.map((reference) => [reference, failed({ kind, problem: problemOf(reference), remedy })]));
}

async function readOne(client: SSMClient, clock: Clock, reference: string, signal: AbortSignal): Promise<Read> {
  const command = new GetParameterCommand({ Name: reference, WithDecryption: true });
  const answer = await timed(
    clock,
    reference,
    signal,
    async (abortSignal) => await client.send(command, { abortSignal }),
  );
  return answer.ok ? secretOf(reference, answer.value.Parameter?.Value) : answer;
}

function secretOf(reference: string, value: string | undefined): Read {
  return value === undefined || value === ""
    ? failed(explained(reference, "invalid", "it is empty", STORE))
    : ok(value);
}

function absent(reference: string): CredentialError {
  return explained(reference, "notFound", NO_SUCH, STORE);
}

async function timed<T>(
  clock: Clock,
  reference: string,
  signal: AbortSignal,
  send: (signal: AbortSignal) => Promise<T>,
): Promise<Result<T, CredentialError>> {
  using limit = deadline(clock, CALL_MS, signal);
  try {
    return ok(await send(limit.signal));
  } catch (thrown) {
    if (limit.signal.aborted) {
      const why = limit.expired() ? `no answer within ${CALL_MS} ms` : ENDED;
      return failed(explained(reference, "timeout", why, AGAIN));
    }
    // Only the name: the words of an error may quote what was sent.
    const name = thrown instanceof Error ? thrown.name : "an unknown error";
    const meaning = Object.hasOwn(MEANINGS, name) ? MEANINGS[name] : undefined;
    const [kind, problem, remedy] =
      meaning ?? (["unavailable", `Systems Manager cannot be reached (${name})`, AGAIN] as const);
    return failed(explained(reference, kind, problem, remedy));
  }
}

function explained(reference: string, kind: CredentialError["kind"], problem: string, remedy: string): CredentialError {
  return { kind, problem: `SSM parameter ${reference}: ${problem}`, remedy };
}
