/**
 * What a reconciler reports. One function maps it to queue, metric, condition and history (`runtime/outcome-effects.ts`).
 * `E` is the room's error union, `R` the room's reasons.
 */
export type Outcome<E, R extends string = string> =
  /** Nothing more until something changes. */
  | { readonly kind: "done" }
  /** A wait with a known cause. */
  | { readonly kind: "again"; readonly afterMs: number; readonly because: R }
  /** Tried again with backoff; counts as a failure. */
  | { readonly kind: "failed"; readonly error: E }
  /** A person must act; tried again slowly. */
  | { readonly kind: "stuck"; readonly because: R; readonly remedy: string };
