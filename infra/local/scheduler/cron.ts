/** The days that a cron expression allows, apart from month and year. */
type DayRule =
  | { readonly kind: "any" }
  | { readonly kind: "days"; readonly days: ReadonlySet<number> }
  | { readonly kind: "weekdays"; readonly weekdays: ReadonlySet<number> }
  | { readonly kind: "lastDay" }
  | { readonly kind: "nearestWeekday"; readonly day: number }
  | { readonly kind: "lastWeekday"; readonly weekday: number }
  | { readonly kind: "nthWeekday"; readonly weekday: number; readonly nth: number };

/** A cron expression of EventBridge: minutes, hours, day of month, month, day of week (1 is Sunday), year. */
export interface Cron {
  readonly minutes: readonly number[];
  readonly hours: readonly number[];
  readonly months: ReadonlySet<number>;
  readonly years: ReadonlySet<number>;
  readonly day: DayRule;
}

interface Field {
  readonly from: number;
  readonly to: number;
  readonly names?: readonly string[];
}

const MINUTE: Field = { from: 0, to: 59 };
const HOUR: Field = { from: 0, to: 23 };
const DAY: Field = { from: 1, to: 31 };
const MONTHS = ["JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC"];
const MONTH: Field = { from: 1, to: 12, names: MONTHS };
const WEEKDAY: Field = { from: 1, to: 7, names: ["SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT"] };
const YEAR: Field = { from: 1970, to: 2199 };

/** Reads the six fields between the brackets; undefined when EventBridge would refuse them. */
export function parseCron(text: string): Cron | undefined {
  const fields = text.trim().split(/\s+/);
  const [minute = "", hour = "", dayOfMonth = "", month = "", dayOfWeek = "", year = ""] = fields;
  if (fields.length !== 6) return undefined;
  const minutes = valuesOf(minute, MINUTE);
  const hours = valuesOf(hour, HOUR);
  const months = valuesOf(month, MONTH);
  const years = valuesOf(year, YEAR);
  const day = dayRule(dayOfMonth, dayOfWeek);
  if (!minutes || !hours || !months || !years || !day) return undefined;
  return { minutes: sorted(minutes), hours: sorted(hours), months, years, day };
}

/** True when the expression allows this day. `month` and `day` count from 1. */
export function allowsDay(cron: Cron, year: number, month: number, day: number): boolean {
  if (!cron.years.has(year) || !cron.months.has(month)) return false;
  const weekday = weekdayOf(year, month, day);
  const last = new Date(Date.UTC(year, month, 0)).getUTCDate();
  switch (cron.day.kind) {
    case "any":
      return true;
    case "days":
      return cron.day.days.has(day);
    case "weekdays":
      return cron.day.weekdays.has(weekday);
    case "lastDay":
      return day === last;
    case "nearestWeekday":
      return day === nearestWeekday(year, month, Math.min(cron.day.day, last), last);
    case "lastWeekday":
      return weekday === cron.day.weekday && day + 7 > last;
    case "nthWeekday":
      return weekday === cron.day.weekday && Math.ceil(day / 7) === cron.day.nth;
  }
}

/** Exactly one of the two day fields says something; the other one is `?`. */
function dayRule(dayOfMonth: string, dayOfWeek: string): DayRule | undefined {
  if (dayOfWeek === "?") return dayOfMonthRule(dayOfMonth);
  return dayOfMonth === "?" ? dayOfWeekRule(dayOfWeek) : undefined;
}

function dayOfMonthRule(text: string): DayRule | undefined {
  if (text === "*") return { kind: "any" };
  if (text === "L") return { kind: "lastDay" };
  const nearest = /^(\d+)W$/.exec(text)?.[1];
  if (nearest !== undefined) return inRange(Number(nearest), DAY, (day) => ({ kind: "nearestWeekday", day }));
  const days = valuesOf(text, DAY);
  return days && { kind: "days", days };
}

function dayOfWeekRule(text: string): DayRule | undefined {
  if (text === "*") return { kind: "any" };
  if (text === "L") return { kind: "weekdays", weekdays: new Set([7]) };
  const last = /^(\w+)L$/.exec(text)?.[1];
  if (last !== undefined)
    return inRange(valueOf(last, WEEKDAY), WEEKDAY, (weekday) => ({ kind: "lastWeekday", weekday }));
  const [, name, nth] = /^(\w+)#([1-5])$/.exec(text) ?? [];
  if (name !== undefined) {
    return inRange(valueOf(name, WEEKDAY), WEEKDAY, (weekday) => ({ kind: "nthWeekday", weekday, nth: Number(nth) }));
  }
  const weekdays = valuesOf(text, WEEKDAY);
  return weekdays && { kind: "weekdays", weekdays };
}

function inRange(value: number, field: Field, make: (value: number) => DayRule): DayRule | undefined {
  return value >= field.from && value <= field.to ? make(value) : undefined;
}

/** `*`, `a`, `a-b`, `a,b`, `a/n`, `a-b/n`, `*` with a step; undefined for anything else. */
function valuesOf(text: string, field: Field): Set<number> | undefined {
  const values = new Set<number>();
  for (const part of text.split(",")) {
    const [, first = "", last, step] = /^(\*|\w+)(?:-(\w+))?(?:\/(\d+))?$/.exec(part) ?? [];
    const from = first === "*" ? field.from : valueOf(first, field);
    const open = first === "*" || (last === undefined && step !== undefined);
    const to = last === undefined ? (open ? field.to : from) : valueOf(last, field);
    const by = step === undefined ? 1 : Number(step);
    const isWrong =
      (first === "*" && last !== undefined) || by < 1 || !(from >= field.from && to <= field.to && from <= to);
    if (isWrong) return undefined;
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return values;
}

/** A number or a name of the field; NaN for anything else. */
function valueOf(text: string, field: Field): number {
  const index = field.names?.indexOf(text.toUpperCase()) ?? -1;
  return index >= 0 ? index + field.from : /^\d+$/.test(text) ? Number(text) : Number.NaN;
}

function nearestWeekday(year: number, month: number, day: number, last: number): number {
  const weekday = weekdayOf(year, month, day);
  if (weekday === 7) return day > 1 ? day - 1 : day + 2;
  if (weekday === 1) return day < last ? day + 1 : day - 2;
  return day;
}

/** 1 is Sunday, 7 is Saturday. */
function weekdayOf(year: number, month: number, day: number): number {
  return new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 1;
}

function sorted(values: ReadonlySet<number>): number[] {
  return [...values].toSorted((a, b) => a - b);
}
