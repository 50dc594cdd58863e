/**
 * The same text for the same meaning: keys in order, and without what says nothing. The API server drops empty fields of
 * built-in types, keeps empty lists of custom ones, and both are read as the same thing.
 */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(canonical(value)) ?? "null";
}

/** Whether both say the same, see {@link canonicalJson}. */
export function sameMeaning(a: unknown, b: unknown): boolean {
  return canonicalJson(a) === canonicalJson(b);
}

function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value)
    .map(([key, of]) => [key, canonical(of)] as const)
    .filter(([, of]) => !saysNothing(of))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries);
}

function saysNothing(value: unknown): boolean {
  return value === undefined || value === null || (Array.isArray(value) && value.length === 0);
}
