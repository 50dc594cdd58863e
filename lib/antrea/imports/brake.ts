/** So many imports must be gone before it is asked twice. */
const LEAST = 10;

/** Between the two lists that must agree, in milliseconds. */
const BRAKE_MS = 60_000;

/** What a complete list takes away. */
export interface Removals {
  /** What would go. */
  readonly gone: ReadonlySet<string>;
  /** How many there are in all, those included. */
  readonly known: number;
}

/** Holds back a removal of many, first seen at some moment (monotonic milliseconds). */
export interface Held {
  readonly gone: ReadonlySet<string>;
  readonly sinceMs: number;
}

/** What may be removed now. */
export type BrakeDecision =
  | { readonly kind: "go"; readonly gone: ReadonlySet<string>; readonly confirmed: boolean }
  /** Nothing yet: a second complete list is to agree. */
  | { readonly kind: "hold"; readonly held: Held; readonly againMs: number };

/**
 * Ten or more, and over half of all, go only when a second complete list, a minute later, says so too; then those go that
 * both name. A leader that was restored from an empty backup, or a common area made anew by mistake, is mended in that time.
 */
export function decideBrake({ gone, known }: Removals, held: Held | undefined, nowMs: number): BrakeDecision {
  if (gone.size < LEAST || gone.size * 2 <= known) return { kind: "go", gone, confirmed: false };
  if (held === undefined) return { kind: "hold", held: { gone, sinceMs: nowMs }, againMs: BRAKE_MS };
  const leftMs = held.sinceMs + BRAKE_MS - nowMs;
  if (leftMs > 0) return { kind: "hold", held, againMs: leftMs };
  return { kind: "go", gone: new Set([...gone].filter((name) => held.gone.has(name))), confirmed: true };
}
