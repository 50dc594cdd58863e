import { type BackoffPolicy, backoffMs } from "../base/backoff.ts";
import type { Random } from "../base/random.ts";
import type { KubeError } from "./errors.ts";

/** May the same request be sent twice? */
export type Repeatable =
  /** A read: nothing is changed by it. */
  | "read"
  /** A write that has the same effect when it arrives twice: a merge PATCH without conditions, a DELETE with preconditions. */
  | "idempotent"
  /** A write that has not (POST, PUT with a resourceVersion): only when nothing was sent. */
  | "once";

/** What is known when a try has failed. */
export interface FailedTry {
  readonly repeatable: Repeatable;
  readonly error: KubeError;
  /** False when the request never left. */
  readonly sent: boolean;
  /** Tries so far, from 1. */
  readonly tries: number;
  /** Time left for the whole call, in milliseconds. */
  readonly remainingMs: number;
}

const MOST_TRIES = 3;
const BACKOFF: BackoffPolicy = { baseMs: 100, capMs: 2000 };
/** Below this a further try has no chance. */
const LEAST_TIME_MS = 50;

/**
 * Whether a call mends a failed try itself. A broken wire is mended here, what the server said is the caller's affair:
 * - a connection that broke (a socket that died in a freeze, the closing that an API server does after somebody else's
 *   401): once at once, then with backoff, if the request may be repeated or was not sent;
 * - everything else: only reads, with backoff or after `Retry-After`. Writes come again with their next beat or their
 *   queue, which know better when.
 * @returns milliseconds to wait before the next try; undefined: no further try
 */
export function decideRetry(failed: FailedTry, random: Random): number | undefined {
  const { error, tries, remainingMs } = failed;
  if (tries >= MOST_TRIES || error.retry === "never") return undefined;
  if (error.kind === "network" && error.code === "ABORT_ERR") return undefined;
  const wait = waitFor(failed, random);
  return wait === undefined || wait + LEAST_TIME_MS > remainingMs ? undefined : wait;
}

function waitFor({ repeatable, error, sent, tries }: FailedTry, random: Random): number | undefined {
  if (error.kind === "network" && error.retry === "now") {
    if (sent && repeatable === "once") return undefined;
    return tries === 1 ? 0 : backoffMs(BACKOFF, tries - 1, random);
  }
  if (repeatable !== "read") return undefined;
  switch (error.kind) {
    case "tooManyRequests":
    case "unavailable": {
      const asked = error.retry === "after" ? error.retryAfterMs : undefined;
      return asked ?? backoffMs(BACKOFF, tries, random);
    }
    case "network":
    case "timeout":
      return backoffMs(BACKOFF, tries, random);
    default:
      return undefined;
  }
}
