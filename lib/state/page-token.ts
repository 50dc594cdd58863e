import * as v from "valibot";
import { failed, ok, type Result } from "../base/result.ts";
import type { StateError } from "./errors.ts";

/** Where a listing goes on, as callers carry it: opaque to them, checked when it comes back. */
export interface PagePosition {
  /** Which part of the listing. */
  readonly part: number;
  /** The last key of that part; absent: its beginning. */
  readonly after?: Readonly<Record<string, string>>;
}

const Position = v.strictObject({
  part: v.pipe(v.number(), v.integer(), v.minValue(0)),
  after: v.exactOptional(v.record(v.string(), v.string())),
});

/** The token of a position. */
export function pageToken(position: PagePosition): string {
  return Buffer.from(JSON.stringify(position)).toString("base64url");
}

/** The position of a token; the first one without a token. */
export function pagePosition(token: string | undefined): Result<PagePosition, StateError> {
  if (token === undefined) return ok({ part: 0 });
  try {
    const parsed = v.safeParse(Position, JSON.parse(Buffer.from(token, "base64url").toString()));
    if (parsed.success) return ok(parsed.output);
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error;
  }
  return failed({
    kind: "invalid",
    message: "the page token is not one that was given out; list again from the start",
  });
}
