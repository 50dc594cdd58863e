/**
 * The value of `touch-ts` for the next beat: UTC to the second, as Antrea's own agent writes it. Where that is the value
 * that stands there already, or might be (the first beat of a window, `previous` unknown), milliseconds are added:
 * a write that changes nothing makes no event, and the leader would not count it. Its RFC 3339 parser takes fractions.
 *
 * @param nowMs milliseconds since the epoch
 * @param previous the value of the last beat, if this window sent one
 */
export function touchTime(nowMs: number, previous: string | undefined): string {
  const precise = new Date(nowMs).toISOString();
  const seconds = `${precise.slice(0, 19)}Z`;
  return previous === undefined || previous === seconds ? precise : seconds;
}
