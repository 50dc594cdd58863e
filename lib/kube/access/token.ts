/** A bearer token as it goes into a header: without the newline that files and `echo` leave at its end. */
export type TokenReading =
  | { readonly kind: "token"; readonly token: string }
  | { readonly kind: "empty" }
  /** Something stands in it that no header can carry. */
  | { readonly kind: "unusable" };

/** Reads a token, trimming white space around it. */
export function readToken(text: string): TokenReading {
  const token = text.trim();
  if (token === "") return { kind: "empty" };
  return /^[\x21-\x7e]+$/.test(token) ? { kind: "token", token } : { kind: "unusable" };
}
