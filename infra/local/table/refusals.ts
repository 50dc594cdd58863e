import type { Answer, Body } from "./engine.ts";

/** The prefix of DynamoDB's own error types on the wire. */
const SERVICE = "com.amazonaws.dynamodb.v20120810#";

/** A refusal in DynamoDB's form. */
export function refusal(type: string, message: string, more: Body = {}, status = 400): Answer {
  return { status, body: { __type: `${SERVICE}${type}`, message, ...more } };
}

/** A refusal of a malformed request. */
export function validationRefusal(message: string): Answer {
  return { status: 400, body: { __type: "com.amazon.coral.validate#ValidationException", message } };
}

/** The error's name without its prefix, as the SDK shows it; empty for a success. */
export function refusalType(answer: Answer): string {
  return text(answer.body["__type"]).replace(/^.*#/, "");
}

/** The error's message, whichever way it is spelled. */
export function refusalMessage(answer: Answer): string {
  return text(answer.body["message"] ?? answer.body["Message"]);
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
