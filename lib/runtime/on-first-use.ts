/**
 * Makes something when it is first asked for and keeps it for the life of the process: what a function shares between its
 * invocations. Not at import, so that what is wrong with a deployment is reported by the middleware stack, and what
 * failed is tried again by the next invocation.
 */
export function onFirstUse<T extends object>(make: () => T): () => T {
  let made: T | undefined;
  return () => (made ??= make());
}
