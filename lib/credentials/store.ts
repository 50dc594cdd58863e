import type { Result } from "../base/result.ts";
import type { CredentialError } from "./errors.ts";

/**
 * Where secrets are kept: only here, never in the state table. A reference is a name such as `/hawser/prod/east/leader`.
 * Every call ends within seconds, or soon after `signal` fires.
 */
export interface CredentialStore {
  /** The secret; `notFound` when there is none. */
  read(reference: string, signal: AbortSignal): Promise<Result<string, CredentialError>>;
  /** Writes or replaces the secret. */
  write(reference: string, secret: string, signal: AbortSignal): Promise<Result<void, CredentialError>>;
  /** Deletes the secret; what is gone already is a success. */
  delete(reference: string, signal: AbortSignal): Promise<Result<void, CredentialError>>;
}
