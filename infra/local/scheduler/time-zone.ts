/** A moment as a clock on the wall shows it. `month` and `day` count from 1. */
export interface WallTime {
  readonly year: number;
  readonly month: number;
  readonly day: number;
  readonly hour: number;
  readonly minute: number;
  readonly second: number;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** True for a name of the IANA time zone database. */
export function isTimeZone(name: string): boolean {
  try {
    formatOf(name);
    return true;
  } catch {
    return false;
  }
}

/** What clocks in the zone show at a moment (milliseconds since the epoch). */
export function wallTimeAt(atMs: number, zone: string): WallTime {
  const parts = new Map(
    formatOf(zone)
      .formatToParts(atMs)
      .map((part) => [part.type, Number(part.value)]),
  );
  const of = (name: Intl.DateTimeFormatPartTypes): number => parts.get(name) ?? 0;
  return {
    year: of("year"),
    month: of("month"),
    day: of("day"),
    hour: of("hour"),
    minute: of("minute"),
    second: of("second"),
  };
}

/**
 * The first moment at which clocks in the zone show this time; undefined when they jump over it. EventBridge Scheduler
 * leaves out a time that is jumped over, and takes one that comes twice only once.
 */
export function momentOf(wall: WallTime, zone: string): number | undefined {
  const asUtc = utc(wall);
  // The offset at the moment is that of a day before or after it, for a change of the clocks is never so close to another.
  const candidates = [asUtc - 86_400_000, asUtc + 86_400_000]
    .map((near) => asUtc - (utc(wallTimeAt(near, zone)) - near))
    .toSorted((a, b) => a - b);
  return candidates.find((candidate) => utc(wallTimeAt(candidate, zone)) === asUtc);
}

function utc({ year, month, day, hour, minute, second }: WallTime): number {
  return Date.UTC(year, month - 1, day, hour, minute, second);
}

function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US", {
    timeZone: zone,
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
    minute: "numeric",
    second: "numeric",
  });
  formats.set(zone, made);
  return made;
}
