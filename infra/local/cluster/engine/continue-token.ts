import { isJsonObject } from "./json.ts";

/** Where a paged list goes on. */
export interface Continuation {
  /** The moment that all pages show; -1 for the present, whatever that is. */
  readonly resourceVersion: number;
  /** Key of the last object that was shown. */
  readonly after: string;
}

/** The token in a list's metadata.continue. */
export function encodeContinue(at: Continuation): string {
  const token = { v: "meta.k8s.io/v1", rv: at.resourceVersion, start: `${at.after}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

/** Reads a token; undefined when it is none. */
export function decodeContinue(text: string): Continuation | undefined {
  try {
    const token: unknown = JSON.parse(Buffer.from(text, "base64url").toString("utf8"));
    if (!isJsonObject(token) || token["v"] !== "meta.k8s.io/v1") return undefined;
    const { rv, start } = token;
    if (typeof rv !== "number" || typeof start !== "string" || start === "") return undefined;
    return { resourceVersion: rv, after: start.endsWith("\u0000") ? start.slice(0, -1) : start };
  } catch {
    return undefined;
  }
}
