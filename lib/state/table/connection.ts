import { DynamoDBClient } from "@aws-sdk/client-dynamodb";
import { type Clock, deadline } from "../../base/clock.ts";
import { failed, ok, type Result } from "../../base/result.ts";
import type { StateError } from "../errors.ts";
import { stateError, stateErrorOf } from "./failures.ts";

/** Longest that one call takes, the SDK's retries included, in milliseconds: well within a beat of 10 s. */
export const CALL_MS = 5_000;

/** Where the table is. */
export interface TableLocation {
  readonly tableName: string;
  /** Absent: as the environment says (`AWS_REGION`). */
  readonly region?: string;
  /** Absent: the region's own (`AWS_ENDPOINT_URL_DYNAMODB` is honoured). */
  readonly endpoint?: string;
  /** Absent: the process's own; the local world takes any. */
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string };
}

/** A client whose retries and timeouts are bounded. */
export function dynamoClient({ region, endpoint, credentials }: TableLocation): DynamoDBClient {
  return new DynamoDBClient({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(credentials === undefined ? {} : { credentials }),
    maxAttempts: 3,
    requestHandler: { connectionTimeout: 1_000, requestTimeout: 2_000, throwOnRequestTimeout: true },
  });
}

/** Runs one SDK call under a deadline and turns what it throws into a StateError. */
export async function timed<T>(
  parts: { readonly clock: Clock; readonly table: string },
  call: { readonly what: string; readonly signal: AbortSignal },
  send: (signal: AbortSignal) => Promise<T>,
): Promise<Result<T, StateError>> {
  using limit = deadline(parts.clock, CALL_MS, call.signal);
  try {
    return ok(await untilAborted(send(limit.signal), limit.signal));
  } catch (thrown) {
    if (limit.signal.aborted) {
      const why = limit.expired() ? `no answer within ${CALL_MS} ms` : "ended by its caller";
      return failed(stateError("timeout", `${call.what} in table ${parts.table}: ${why}`));
    }
    return failed(stateErrorOf(thrown, call.what, parts.table));
  }
}

/** The SDK looks at its signal while it waits for an answer, but not while it waits for its next try. */
async function untilAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  if (signal.aborted) abort();
  else signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}
