import { InvalidArgumentError } from "commander";

const UNITS: Readonly<Record<string, number>> = { "": 1_000, s: 1_000, m: 60_000, h: 3_600_000 };

/** Reads `90s`, `2m`, `1h` or a number of seconds; answers milliseconds. */
export function parseDuration(text: string): number {
  const match = /^(\d+(?:\.\d+)?)(s|m|h|)$/.exec(text);
  const ms = match === null ? 0 : Number(match[1]) * (UNITS[match[2] ?? ""] ?? 0);
  if (!(ms > 0)) throw new InvalidArgumentError("a duration is a number with s, m or h: 90s, 2m, 1h");
  return ms;
}
