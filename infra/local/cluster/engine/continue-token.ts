import { isJsonObject } from "./json.ts";

/** Where a paged list goes on. */
export interface Continuation {
  /** The moment that all pages show; -1 for the present, whatever that is. */
  readonly resourceVersion: number;
  /** Key of the last object that was shown. */
  readonly after: string;
}

const VERSION = "meta.k8s.io/v1";

/** The token in a list's metadata.continue. */
export function encodeContinue(at: Continuation): string {
  const token = { v: VERSION, rv: at.resourceVersion, start: `${at.after}\u0000` };
  return Buffer.from(JSON.stringify(token)).toString("base64url");
}

/** Reads a token, or says what is wrong with it. */
export function decodeContinue(text: string): Continuation | { readonly problem: string } {
  const wrong = /[^\w-]/.exec(text);
  if (wrong !== null) return { problem: `illegal base64 data at input byte ${wrong.index}` };
  const token = parsed(Buffer.from(text, "base64url").toString("utf8"));
  if (!isJsonObject(token)) return { problem: "the token is no JSON object" };
  const { v, rv, start } = token;
  if (v !== VERSION) return { problem: `server does not recognize this encoded version ${String(v)}` };
  if (typeof rv !== "number" || rv === 0) {
    return { problem: `incorrect encoded start resourceVersion (version ${VERSION})` };
  }
  if (typeof start !== "string" || start === "") return { problem: `encoded start key empty (version ${VERSION})` };
  if (start.split("/").includes("..")) return { problem: start };
  return { resourceVersion: rv, after: start.endsWith("\u0000") ? start.slice(0, -1) : start };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}
