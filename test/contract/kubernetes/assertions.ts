import assert from "node:assert/strict";
import type { Answer } from "./contract-client.ts";

/** A Status as a case expects it: what is left out may be anything, but `kind`, `apiVersion` and `status` are checked. */
export interface ExpectedStatus {
  readonly code: number;
  /** Absent: the server gives none. */
  readonly reason?: string;
  /** The whole message, or a pattern where it holds something of the server's own. */
  readonly message?: string | RegExp;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** A refusal is a Status (meta/v1) whose code is the answer's. */
export function assertStatus(answer: Answer, expected: ExpectedStatus): void {
  const { code, reason, message, details } = expected;
  assert.equal(answer.code, code, answer.text);
  assert.match(String(answer.headers["content-type"]), /^application\/json/);
  assert.partialDeepStrictEqual(answer.json, {
    kind: "Status",
    apiVersion: "v1",
    status: "Failure",
    code,
    ...(details === undefined ? {} : { details }),
  });
  assert.equal(answer.json["reason"], reason, answer.text);
  const text = String(answer.json["message"]);
  if (message instanceof RegExp) assert.match(text, message);
  else if (message !== undefined) assert.equal(text, message);
}

/** Something that a body must have, wherever else it says more. */
export function assertHas(actual: unknown, expected: object): void {
  assert.partialDeepStrictEqual(actual, expected);
}
