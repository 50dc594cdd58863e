const UNIT_MS: Readonly<Record<string, number>> = {
  h: 3_600_000,
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 0.001,
  µs: 0.001,
  ns: 0.000_001,
};

/** A Go duration (`10s`, `1m30s`, `-250ms`) in milliseconds, or Go's word on why it is none. */
export function parseDuration(text: string): number | { readonly problem: string } {
  if (/^[-+]?0$/.test(text)) return 0;
  const [, sign = "", amounts = ""] = /^([-+]?)(.*)$/s.exec(text) ?? [];
  const quoted = JSON.stringify(text);
  if (!/^(\d+(\.\d*)?[^\d.]*|\.\d+[^\d.]*)+$/.test(amounts)) return { problem: `time: invalid duration ${quoted}` };
  let sum = 0;
  for (const [, amount = "0", unit = ""] of amounts.matchAll(/(\d*\.?\d*)([^\d.]*)/g)) {
    if (amount === "") continue;
    if (unit === "") return { problem: `time: missing unit in duration ${quoted}` };
    const unitMs = UNIT_MS[unit];
    if (unitMs === undefined) return { problem: `time: unknown unit ${JSON.stringify(unit)} in duration ${quoted}` };
    sum += Number(amount) * unitMs;
  }
  return sign === "-" ? -sum : sum;
}
