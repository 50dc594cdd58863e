import { allowsDay, type Cron, parseCron } from "./cron.ts";
import { momentOf, type WallTime, wallTimeAt } from "./time-zone.ts";

/** When a schedule fires. */
export type ScheduleExpression =
  | { readonly kind: "rate"; readonly periodMs: number }
  | { readonly kind: "cron"; readonly cron: Cron }
  | { readonly kind: "at"; readonly wall: WallTime };

const UNITS: Readonly<Record<string, number>> = { minute: 60_000, hour: 3_600_000, day: 86_400_000 };
/** No pattern of days comes round later than this (29 February on a given weekday). */
const MOST_DAYS = 366 * 41;

/** Reads an expression; undefined when EventBridge Scheduler would refuse it. */
export function parseExpression(text: string): ScheduleExpression | undefined {
  const [, kind, inner = ""] = /^(rate|cron|at)\((.*)\)$/.exec(text) ?? [];
  switch (kind) {
    case "rate":
      return parseRate(inner);
    case "cron": {
      const cron = parseCron(inner);
      return cron && { kind, cron };
    }
    case "at":
      return parseAt(inner);
    default:
      return undefined;
  }
}

function parseRate(text: string): ScheduleExpression | undefined {
  const [, value, unit = ""] = /^([1-9]\d*) (minute|hour|day)s?$/.exec(text) ?? [];
  const unitMs = UNITS[unit];
  return unitMs === undefined ? undefined : { kind: "rate", periodMs: Number(value) * unitMs };
}

function parseAt(text: string): ScheduleExpression | undefined {
  const match = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)$/.exec(text);
  if (match === null) return undefined;
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1).map(Number);
  // A date such as 30 February would move on to another day.
  const asDate = new Date(Date.UTC(year, month - 1, day, hour, minute, second));
  const isReal = asDate.toISOString().startsWith(text);
  return isReal ? { kind: "at", wall: { year, month, day, hour, minute, second } } : undefined;
}

/** The frame of a schedule's occurrences; moments in milliseconds since the epoch. */
export interface OccurrenceFrame {
  readonly zone: string;
  /** Where a rate begins to count. */
  readonly anchorMs: number;
  readonly startMs?: number;
  readonly endMs?: number;
}

/** The first moment after `afterMs` at which the schedule is due; undefined when there is none any more. */
export function nextOccurrence(
  expression: ScheduleExpression,
  frame: OccurrenceFrame,
  afterMs: number,
): number | undefined {
  const from = Math.max(afterMs, (frame.startMs ?? -Infinity) - 1);
  const next = rawNext(expression, frame, from);
  // A one-time schedule knows no start and no end.
  if (expression.kind === "at" || next === undefined) return next;
  return next > (frame.endMs ?? Infinity) ? undefined : next;
}

function rawNext(expression: ScheduleExpression, frame: OccurrenceFrame, afterMs: number): number | undefined {
  switch (expression.kind) {
    case "rate": {
      const periods = Math.floor((afterMs - frame.anchorMs) / expression.periodMs) + 1;
      return frame.anchorMs + Math.max(0, periods) * expression.periodMs;
    }
    case "at": {
      const at = momentOf(expression.wall, frame.zone);
      return at !== undefined && at > afterMs ? at : undefined;
    }
    case "cron":
      return nextOfCron(expression.cron, frame.zone, afterMs);
  }
}

function nextOfCron(cron: Cron, zone: string, afterMs: number): number | undefined {
  const first = wallTimeAt(afterMs, zone);
  for (let add = 0; add < MOST_DAYS; add += 1) {
    const date = new Date(Date.UTC(first.year, first.month - 1, first.day + add));
    const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth() + 1, date.getUTCDate()];
    if (!allowsDay(cron, year, month, day)) continue;
    for (const hour of cron.hours) {
      for (const minute of cron.minutes) {
        const at = momentOf({ year, month, day, hour, minute, second: 0 }, zone);
        if (at !== undefined && at > afterMs) return at;
      }
    }
  }
  return undefined;
}
