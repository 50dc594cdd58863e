import { cutText } from "../base/limits.ts";

/** What may stand in a log line beside its constant message. */
export type FactValue = string | number | boolean | undefined | readonly string[];

/** Longest text of one fact and of all facts of a line, in bytes. CloudWatch and people both prefer short lines. */
const FACT_BYTES = 2048;
const LINE_BYTES = 12_000;

const REDACTED = "[redacted]";

/** Names of fields whose values are never shown. */
const SECRET_NAME = /(token|password|passwd|authorization|private.?key|client.?key|credential|kubeconfig)s?$/i;

/** Shapes of secrets, wherever they stand in a text. */
const SECRET_SHAPES: readonly RegExp[] = [
  // JSON Web Tokens: ServiceAccount tokens among them
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?/g,
  // HTTP credentials
  /\b(?:Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi,
  // private keys, whole or cut off
  /-----BEGIN [A-Z ]*PRIVATE KEY-----(?:[\s\S]*?-----END [A-Z ]*PRIVATE KEY-----|[\s\S]*)/g,
  // EKS tokens, AWS access keys, signed URLs
  /\bk8s-aws-v1\.[A-Za-z0-9_=-]+/g,
  /\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/g,
  /\bX-Amz-(?:Signature|Credential|Security-Token)=[^&\s"']+/gi,
  // bootstrap tokens
  /\b[a-z0-9]{6}\.[a-z0-9]{16}\b/g,
  // user and password in a URL
  /(?<=\/\/)[^/\s:@]+:[^/\s@]+(?=@)/g,
  // the fields of a kubeconfig or of a form
  /\b(?:token|password|client-key-data|client-certificate-data|id-token|refresh-token)\\?["']?\s*[:=]\s*\\?["']?[^\s"',}]{6,}/gi,
];

/** The text with everything that looks like a secret replaced. */
export function redactText(text: string): string {
  return SECRET_SHAPES.reduce((clean, shape) => clean.replace(shape, REDACTED), text);
}

/**
 * Facts as they may be logged: secrets replaced, each text cut to 2,048 bytes and all of them to 12,000, so that a line
 * stays below 16 KiB. What does not fit is dropped and counted in `factsDropped`.
 */
export function cleanFacts(facts: Readonly<Record<string, FactValue>>): Readonly<Record<string, FactValue>> {
  const clean: Record<string, FactValue> = {};
  let room = LINE_BYTES;
  let dropped = 0;
  for (const [name, value] of Object.entries(facts)) {
    if (value === undefined) continue;
    const kept = cleanValue(name, value);
    const bytes = Buffer.byteLength(JSON.stringify({ [name]: kept }));
    if (bytes > room) dropped += 1;
    else {
      room -= bytes;
      clean[name] = kept;
    }
  }
  return dropped === 0 ? clean : { ...clean, factsDropped: dropped };
}

/** An error as facts: its name, its words, where it came from, and what was behind it. */
export function errorFacts(error: unknown): Readonly<Record<string, FactValue>> {
  if (!(error instanceof Error)) return { errorName: typeof error, errorMessage: String(error) };
  const cause = error.cause instanceof Error ? `${error.cause.name}: ${error.cause.message}` : undefined;
  return { errorName: error.name, errorMessage: error.message, errorStack: error.stack, errorCause: cause };
}

function cleanValue(name: string, value: Exclude<FactValue, undefined>): FactValue {
  if (typeof value === "number" || typeof value === "boolean") return value;
  if (SECRET_NAME.test(name)) return REDACTED;
  if (typeof value === "string") return cutText(redactText(value), FACT_BYTES);
  return value.slice(0, 50).map((text) => cutText(redactText(text), 200));
}
