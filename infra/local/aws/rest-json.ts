import type { HttpReply } from "./loopback-server.ts";

/** An error of a service that speaks REST-JSON: thrown inside a server, and answered by it. */
export class ServiceError extends Error {
  readonly type: string;
  readonly status: number;
  readonly more: Readonly<Record<string, unknown>>;

  constructor(type: string, status: number, message: string, more: Readonly<Record<string, unknown>> = {}) {
    super(message);
    this.name = type;
    this.type = type;
    this.status = status;
    this.more = more;
  }
}

/** An answer in JSON. */
export function jsonReply(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): HttpReply {
  return { status, headers: { "content-type": "application/json", ...headers }, body: JSON.stringify(body) };
}

/** The answer that an SDK turns into the exception named `type`. */
export function errorReply(error: ServiceError): HttpReply {
  const body = { message: error.message, Message: error.message, ...error.more };
  return jsonReply(error.status, body, { "x-amzn-errortype": error.type });
}
