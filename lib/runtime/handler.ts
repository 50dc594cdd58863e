import type { Logger } from "@aws-lambda-powertools/logger";
import { injectLambdaContext } from "@aws-lambda-powertools/logger/middleware";
import wrap, { type MiddyfiedHandler } from "@middy/core";
import errorLogger from "@middy/error-logger";
import { type Clock, systemClock } from "../base/clock.ts";
import { createLog, createLogger, type Log } from "./log.ts";

/** How long before Lambda's own deadline the signal fires, in milliseconds. */
export const EARLY_MS = 5_000;

/** How long the handler may take to settle after the signal, in milliseconds. */
const GRACE_MS = 3_000;

/** What a handler knows of the invocation that it serves. */
export interface Invocation {
  readonly requestId: string;
  /** Milliseconds until Lambda ends the process. */
  readonly remainingMs: () => number;
  /** Fires {@link EARLY_MS} before the deadline: end at once, leave nothing running. */
  readonly signal: AbortSignal;
  readonly log: Log;
}

/** The work of one function. The event is whatever came: the work validates it. */
export type Work<Answer> = (event: unknown, invocation: Invocation) => Promise<Answer>;

/**
 * The one middleware stack, the same for all functions: the invocation's ids in every log line, what the work throws is
 * logged before Lambda is told of it, and a signal that fires before Lambda's deadline.
 *
 * The work is never left running behind an answer: after the signal it has 3 s to settle, and its own answer counts. Only
 * when it ignores the signal does the invocation fail, with the name of the function in the message.
 */
export function functionHandler<Answer>(
  name: string,
  work: Work<Answer>,
  { logger = createLogger(), clock = systemClock }: { readonly logger?: Logger; readonly clock?: Clock } = {},
): MiddyfiedHandler<unknown, Answer> {
  const log = createLog(logger);
  let settled = new AbortController();
  const tooLate = async (): Promise<never> => {
    await clock.sleep(GRACE_MS, settled.signal);
    throw new Error(`${name} did not end when it was told to, ${EARLY_MS} ms before the deadline`);
  };
  return wrap<unknown, Answer>({ timeoutEarlyInMillis: EARLY_MS, timeoutEarlyResponse: tooLate })
    .use(injectLambdaContext(logger, { logEvent: false, resetKeys: true }))
    .use(errorLogger({ logger: ({ error }) => log.error("invocation failed", error, { function: name }) }))
    .handler(async (event, context, { signal }) => {
      settled = new AbortController();
      try {
        return await work(event, {
          requestId: context.awsRequestId,
          remainingMs: () => context.getRemainingTimeInMillis(),
          signal,
          log,
        });
      } finally {
        settled.abort();
      }
    });
}
