import type { ApiRecord } from "../api-client/api-client.ts";
import { TOUCH_ANNOTATION } from "./resources.ts";

/** An announce that was not touched for this long is swept, in milliseconds. */
const STALE_AFTER_MS = 24 * 3_600_000;

/** How often the leader sweeps, in milliseconds; it also does so when it starts. */
export const SWEEP_INTERVAL_MS = 12 * 3_600_000;

/** True for an announce whose time is older than a day, missing, or not a time. */
export function isStale(announce: ApiRecord, now: number): boolean {
  const touched = announce.metadata.annotations?.[TOUCH_ANNOTATION];
  const at = touched === undefined || !RFC3339.test(touched) ? Number.NaN : Date.parse(touched);
  return !(now - at <= STALE_AFTER_MS);
}

const RFC3339 = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
