import { cutText, MESSAGE_BYTES } from "../base/limits.ts";
import { redact } from "./redaction.ts";

/** Of what a request was: what its errors say. */
export interface ErrorContext {
  /** Hawser's name for the cluster. */
  readonly cluster: string;
  /** The server's URL. */
  readonly server: string;
  readonly operation: string;
  readonly object: string;
  /** What was sent to prove ourselves, and must not come back in a message. */
  readonly secrets: readonly string[];
}

/** Room for the frame of the message around what came back. */
const FRAME_BYTES = 1200;

/**
 * The message of an error: what was tried, against what, what came back, what to do. The server's words are cleaned of
 * credentials and control characters and cut, so that the whole stays within the limit of a condition.
 */
export function errorMessage(context: ErrorContext, came: string, words: string, remedy: string): string {
  const head = cutText(`${context.operation} ${context.object}: ${came}`, 700);
  const where = cutText(` (${context.cluster}, ${context.server})`, 300);
  const said = cleanWords(words, context.secrets);
  const body = said === "" ? "" : `: ${cutText(said, MESSAGE_BYTES - FRAME_BYTES)}`;
  return cutText(`${head}${where}${body}. ${remedy}`, MESSAGE_BYTES);
}

/** A server's words, fit to be shown: no credential, one line, no full stop at the end. */
export function cleanWords(words: string, secrets: readonly string[]): string {
  // Redacted before anything is cut: half a token would not be recognised.
  return redact(words, secrets)
    .replace(/[\s\p{Cc}]+/gu, " ")
    .trim()
    .replace(/\.$/, "");
}

/** The text of a page, without its markup, scripts and styles; linear in its length, as a hostile server may send it. */
export function pageText(html: string): string {
  const [head = "", ...rest] = html.split(/<(?:script|style)\b/i);
  const kept = rest.map((part) => part.slice(Math.max(0, part.indexOf("</"))));
  return [head, ...kept].join(" ").replace(/<[^<>]*>/g, " ");
}
