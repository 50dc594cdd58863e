const REDACTED = "[redacted]";

/**
 * Takes credentials out of a text that a server sent: the secrets that were used in the request, wherever they stand,
 * whatever follows the word Bearer or Basic, and whatever looks like a token of anybody (a JWT, RFC 7519).
 */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret !== "") clean = clean.replaceAll(secret, REDACTED);
  }
  return clean
    .replace(/\b(Bearer|Basic)(\s+|%20|\+)[\w~+/.=-]{8,}/gi, `$1 ${REDACTED}`)
    .replace(/\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, REDACTED);
}
