import { isDeepStrictEqual } from "node:util";
import { ServiceError } from "../aws/rest-json.ts";

/** How long a token is remembered. */
const TOKEN_MS = 60 * 60_000;

interface Remembered {
  readonly request: unknown;
  readonly answer: unknown;
  readonly atMs: number;
}

/**
 * Idempotence: the same request with the same ClientToken is answered again without being done again; another request
 * with it is a conflict. Only successes are remembered.
 */
export class ClientTokens {
  readonly #now: () => number;
  readonly #known = new Map<string, Remembered>();

  /** @param now milliseconds since any moment */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Does the work, or answers as it was answered before. */
  once<T>(operation: string, token: string | undefined, request: unknown, work: () => T): T {
    if (token === undefined) return work();
    this.#forget();
    const key = `${operation} ${token}`;
    const known = this.#known.get(key);
    if (known === undefined) {
      const answer = work();
      this.#known.set(key, { request, answer, atMs: this.#now() });
      return answer;
    }
    if (isDeepStrictEqual(known.request, request)) return known.answer as T;
    throw new ServiceError("ConflictException", 409, "The client token was used before with other parameters.");
  }

  #forget(): void {
    for (const [key, { atMs }] of this.#known) {
      if (this.#now() - atMs < TOKEN_MS) break;
      this.#known.delete(key);
    }
  }
}
