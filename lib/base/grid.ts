import { createHash } from "node:crypto";

/**
 * The grid of beats: every membership has its own fixed moments, one each interval of the wall clock, spread over the
 * interval by a hash of the cluster name. Every window computes the same moments, so that a handover changes nothing.
 */

/** How far into each interval the moments of `name` lie, in whole milliseconds from 0 up to the interval. */
export function gridOffsetMs(name: string, intervalMs: number): number {
  const hash = createHash("sha256").update(name).digest().readUInt32BE(0);
  return Math.floor((hash / 2 ** 32) * intervalMs);
}

/** The last grid point at or before `atMs` (milliseconds since the epoch). */
export function gridPointAtOrBefore(atMs: number, offsetMs: number, intervalMs: number): number {
  return Math.floor((atMs - offsetMs) / intervalMs) * intervalMs + offsetMs;
}

/** The first grid point after `atMs` (milliseconds since the epoch). */
export function gridPointAfter(atMs: number, offsetMs: number, intervalMs: number): number {
  return gridPointAtOrBefore(atMs, offsetMs, intervalMs) + intervalMs;
}
