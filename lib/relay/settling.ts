import type { Clock } from "../base/clock.ts";

/**
 * Waits for something that was told to end, but not for ever: what does not settle must not keep the invocation until the
 * platform kills it. A rejection counts as settled; whoever started the work looks at it.
 * @returns whether it settled in time
 */
export async function settlesWithin(pending: Promise<unknown>, ms: number, clock: Clock): Promise<boolean> {
  const timer = new AbortController();
  const settled = Promise.allSettled([pending]).then(() => true);
  const late = clock.sleep(ms, timer.signal).then(() => false);
  const inTime = await Promise.race([settled, late]);
  timer.abort();
  return inTime;
}
