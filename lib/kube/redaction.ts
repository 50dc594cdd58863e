const REDACTED = "[redacted]";

/**
 * Takes credentials out of a text that a server sent: the secrets that were used in the request, wherever they stand,
 * and whatever follows the word Bearer or Basic.
 */
export function redact(text: string, secrets: readonly string[]): string {
  let clean = text;
  for (const secret of secrets) {
    if (secret !== "") clean = clean.replaceAll(secret, REDACTED);
  }
  return clean.replace(/\b(Bearer|Basic)(\s+|%20|\+)[\w~+/.=-]{8,}/gi, `$1 ${REDACTED}`);
}
