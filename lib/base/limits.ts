/** Longest message of a condition, an event or an error, in bytes of UTF-8. */
export const MESSAGE_BYTES = 4096;

const encoder = new TextEncoder();
// `ignoreBOM` keeps a leading byte order mark; a cut inside a character is repaired by dropping the broken character.
const decoder = new TextDecoder("utf-8", { fatal: false, ignoreBOM: true });

/**
 * Cuts a text to `limit` bytes of UTF-8 at a character boundary and says how much was cut.
 * Lone surrogates become U+FFFD, so that the result is always valid UTF-8.
 */
export function cutText(text: string, limit: number = MESSAGE_BYTES): string {
  const bytes = encoder.encode(text);
  if (bytes.length <= limit) return text.isWellFormed() ? text : decoder.decode(bytes);
  const note = (cut: number): string => ` [cut by ${cut} bytes]`;
  const room = Math.max(0, limit - encoder.encode(note(bytes.length)).length);
  let end = room;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return decoder.decode(bytes.subarray(0, end)) + note(bytes.length - end);
}
