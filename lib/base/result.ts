/** What an operation that can fail in an expected way returns. `throw` is for bugs. */
export type Result<T, E> = { readonly ok: true; readonly value: T } | { readonly ok: false; readonly error: E };

/** A success. */
export function ok<T>(value: T): { readonly ok: true; readonly value: T } {
  return { ok: true, value };
}

/** An expected failure. */
export function failed<E>(error: E): { readonly ok: false; readonly error: E } {
  return { ok: false, error };
}

/** For the `default` of a switch that handles every case: does not compile when one is missing. */
export function never(value: never): never {
  throw new Error(`a case without a handler: ${JSON.stringify(value)}`);
}
