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

/**
 * Whether a custom object shows what it was given. Fields that only newer definitions have are dropped by older servers:
 * what was given once and is not shown is not kept, and not offered again.
 * @param old fields that every version of the definition keeps
 * @param fresh what is given was not given before
 */
export function showsAsGiven(
  given: Readonly<Record<string, unknown>>,
  shown: unknown,
  { old, fresh }: { readonly old: ReadonlySet<string>; readonly fresh: boolean },
): boolean {
  if (typeof shown !== "object" || shown === null) return false;
  const kept = Object.entries(given).filter(([key]) => fresh || old.has(key) || Object.hasOwn(shown, key));
  return sameMeaning(Object.fromEntries(kept), shown);
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
