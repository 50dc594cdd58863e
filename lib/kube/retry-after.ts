/** A server that asks for more than this is not believed: our own backoff is used instead. */
export const RETRY_AFTER_MAX_MS = 60_000;

/**
 * Reads `Retry-After` (RFC 9110, section 10.2.3): seconds or an HTTP date.
 * @param serverNow the answer's `Date`, in milliseconds since the epoch, or our own time where it has none: a date is
 * counted from the clock that wrote it
 * @returns milliseconds to wait; undefined when absent, negative, unreadable or over {@link RETRY_AFTER_MAX_MS}
 */
export function parseRetryAfter(header: string | undefined, serverNow: number): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  const ms = /^\d+$/.test(text) ? Number(text) * 1000 : untilDate(text, serverNow);
  return ms === undefined || ms > RETRY_AFTER_MAX_MS ? undefined : ms;
}

function untilDate(text: string, serverNow: number): number | undefined {
  // `Date.parse` takes "-5" and "12.5" for dates; every form of an HTTP date begins with the name of the day.
  if (!/^(mon|tue|wed|thu|fri|sat|sun)/i.test(text)) return undefined;
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, at - serverNow);
}
