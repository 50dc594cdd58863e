import type { HttpReply, HttpRequest } from "../aws/loopback-server.ts";
import { errorReply, ServiceError } from "../aws/rest-json.ts";
import type { InvocationResult } from "./function-definition.ts";

/** A call as it came in. */
export interface InvokeCall {
  readonly functionName: string;
  readonly payload: string;
  readonly clientContext?: string;
}

/** What the API needs of the service. */
export interface InvokeTarget {
  /** True when there is a function of this name. */
  has(functionName: string): boolean;
  /** Runs it; `throttled` when its concurrency is used up. */
  run(call: InvokeCall): Promise<InvocationResult | "throttled">;
  /** Accepts an event; returns its request id. */
  queue(call: InvokeCall): string;
}

const PATH = /^\/2015-03-31\/functions\/([^/]+)\/invocations$/;
const ARN = /^(?:arn:aws[\w-]*:lambda:[\w-]*:)?(?:\d*:)?(?:function:)?([\w-]+)(?::([\w$-]+))?$/;
const MAX_SYNC_BYTES = 6 * 1024 * 1024;
const MAX_EVENT_BYTES = 1024 * 1024;

/** The Invoke operation of the Lambda API (2015-03-31). */
export async function serveInvoke(target: InvokeTarget, request: HttpRequest): Promise<HttpReply> {
  try {
    const [, encoded] = PATH.exec(request.path) ?? [];
    if (request.method !== "POST" || encoded === undefined) {
      throw new ServiceError("UnknownOperationException", 404, "only Invoke is served");
    }
    const functionName = nameOf(decodeURIComponent(encoded), request.query.get("Qualifier"));
    if (functionName === undefined || !target.has(functionName)) {
      throw new ServiceError("ResourceNotFoundException", 404, `Function not found: ${decodeURIComponent(encoded)}`, {
        Type: "User",
      });
    }
    return await invoke(target, request, functionName);
  } catch (error) {
    if (error instanceof ServiceError) return errorReply(error);
    throw error;
  }
}

/** The function's name out of a name, a partial or a whole ARN; undefined when another version than $LATEST is meant. */
export function nameOf(nameOrArn: string, qualifier: string | null = null): string | undefined {
  const [, name, suffix] = ARN.exec(nameOrArn) ?? [];
  const version = suffix ?? qualifier ?? "$LATEST";
  return version === "$LATEST" ? name : undefined;
}

async function invoke(target: InvokeTarget, request: HttpRequest, functionName: string): Promise<HttpReply> {
  const type = header(request, "x-amz-invocation-type") ?? "RequestResponse";
  const call = { functionName, payload: payloadOf(request, type), ...clientContextOf(request) };
  switch (type) {
    case "DryRun":
      return { status: 204 };
    case "Event":
      return { status: 202, headers: { "x-amzn-requestid": target.queue(call) } };
    case "RequestResponse":
      return answer(await target.run(call), header(request, "x-amz-log-type") === "Tail");
    default:
      throw new ServiceError("InvalidParameterValueException", 400, `${type} is no InvocationType`);
  }
}

function answer(result: InvocationResult | "throttled", withLog: boolean): HttpReply {
  if (result === "throttled") {
    throw new ServiceError("TooManyRequestsException", 429, "Rate Exceeded.", {
      Reason: "ReservedFunctionConcurrentInvocationLimitExceeded",
      Type: "User",
    });
  }
  return {
    status: 200,
    headers: {
      "content-type": "application/json",
      "x-amz-executed-version": "$LATEST",
      ...(result.functionError === undefined ? {} : { "x-amz-function-error": result.functionError }),
      ...(withLog ? { "x-amz-log-result": Buffer.from(result.logTail).toString("base64") } : {}),
    },
    body: result.payload,
  };
}

function payloadOf(request: HttpRequest, type: string): string {
  const most = type === "Event" ? MAX_EVENT_BYTES : MAX_SYNC_BYTES;
  if (request.body.length > most) {
    const text = `Request must be smaller than ${most} bytes for the InvokeFunction operation`;
    throw new ServiceError("RequestTooLargeException", 413, text, { Type: "User" });
  }
  const text = request.body.length === 0 ? "{}" : request.body.toString("utf8");
  try {
    JSON.parse(text);
  } catch (error) {
    const why = `Could not parse request body into json: ${String(error)}`;
    throw new ServiceError("InvalidRequestContentException", 400, why, { Type: "User" });
  }
  return text;
}

function clientContextOf(request: HttpRequest): { clientContext?: string } {
  const encoded = header(request, "x-amz-client-context");
  return encoded === undefined ? {} : { clientContext: Buffer.from(encoded, "base64").toString("utf8") };
}

function header(request: HttpRequest, name: string): string | undefined {
  const value = request.headers[name];
  return Array.isArray(value) ? value[0] : value;
}
