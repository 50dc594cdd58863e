import { Logger } from "@aws-lambda-powertools/logger";
import { cleanFacts, errorFacts, type FactValue } from "./redact.ts";

/** The fields that every room uses by the same name; others may be added. */
export interface Facts {
  readonly cluster?: string | undefined;
  readonly protocol?: string | undefined;
  readonly role?: string | undefined;
  readonly shard?: string | undefined;
  readonly fence?: number | undefined;
  readonly outcome?: string | undefined;
  /** Duration in milliseconds. */
  readonly ms?: number | undefined;
  readonly [name: string]: FactValue;
}

/**
 * Structured logging: a constant message, then facts. A transition is `info`, a repetition is a metric and not a line, a
 * bug is `error`. Secrets are replaced and lines stay below 16 KiB whatever is passed in.
 */
export interface Log {
  debug(message: string, facts?: Facts): void;
  info(message: string, facts?: Facts): void;
  warn(message: string, facts?: Facts): void;
  error(message: string, error: unknown, facts?: Facts): void;
}

/** The logger that the middleware stack adds the invocation's context to. */
export function createLogger(): Logger {
  return new Logger({ serviceName: "hawser" });
}

/** Our way of logging over a powertools logger. */
export function createLog(logger: Logger): Log {
  const rounded = (facts: Facts): Facts =>
    facts.ms === undefined ? facts : { ...facts, ms: Math.round(facts.ms * 10) / 10 };
  return {
    debug: (message, facts = {}) => logger.debug(message, cleanFacts(rounded(facts))),
    info: (message, facts = {}) => logger.info(message, cleanFacts(rounded(facts))),
    warn: (message, facts = {}) => logger.warn(message, cleanFacts(rounded(facts))),
    error: (message, error, facts = {}) =>
      logger.error(message, cleanFacts({ ...rounded(facts), ...errorFacts(error) })),
  };
}
