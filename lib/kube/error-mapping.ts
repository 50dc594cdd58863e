import { type BackoffPolicy, backoffMs } from "../base/backoff.ts";
import { cutText } from "../base/limits.ts";
import type { Random } from "../base/random.ts";
import { never } from "../base/result.ts";
import { type ConnectionFault, connectionFault } from "./connection-fault.ts";
import { cleanWords, type ErrorContext, errorMessage, pageText } from "./error-message.ts";
import type { KubeError, Retry } from "./errors.ts";
import type { ExchangeFailure, HttpAnswer } from "./exchange.ts";
import { parseRetryAfter, RETRY_AFTER_MAX_MS } from "./retry-after.ts";
import { readStatus, readWebhookWord, type StatusBody } from "./status-body.ts";

/**
 * The one place where an answer or an exception becomes a {@link KubeError}. `retry` says when the same request may be
 * sent again: `never` where it cannot succeed as it is (conflict, invalid, gone), `now` after a broken connection,
 * `after` where the server named a time, else `backoff`: what was refused today may be granted tomorrow.
 */

/** How long to wait after a 429 that names no time, or none that is to be believed. */
const DEFAULT_WAIT: BackoffPolicy = { baseMs: 1000, capMs: RETRY_AFTER_MAX_MS };

/** The error in an answer that is no success (status 300 and up). */
export function errorFromAnswer(answer: HttpAnswer, context: ErrorContext, now: number, random: Random): KubeError {
  const text = new TextDecoder().decode(answer.body);
  const contentType = one(answer.headers["content-type"]);
  const status = contentType?.includes("json") === true ? readStatus(parse(text)) : undefined;
  const wait: Wait = { askedMs: retryAfter(answer, status, now), random };
  if (status !== undefined) return errorFromStatus(answer.status, status, context, wait);
  const page = contentType?.includes("html") === true ? pageText(text) : text;
  const words = answer.cutBody ? `${page} [cut: longer than ${answer.body.length} bytes]` : page;
  return errorFromForeign({ code: answer.status, contentType, words }, context, wait);
}

/** What the server asked to wait, if it did and is to be believed, and the chance for a wait of our own. */
interface Wait {
  readonly askedMs: number | undefined;
  readonly random: Random;
}

/**
 * The error in a `Status`.
 * @param code the answer's HTTP status, or the Status' own code where it is an event of a watch
 */
function errorFromStatus(code: number, status: StatusBody, context: ErrorContext, wait: Wait): KubeError {
  const say = (remedy: string): string =>
    errorMessage(context, `${code} ${status.reason}`.trim(), status.message, remedy);
  const base = frame(context);
  const webhook = readWebhookWord(status.message);
  if (webhook?.kind === "denied") {
    const { webhook: name } = webhook;
    const denial = cutText(cleanWords(webhook.denial, context.secrets));
    const message = say("The webhook's words say what it wants; mend that on this side or change its rule");
    return { ...base, kind: "webhookDenied", status: code, webhook: name, denial, retry: "backoff", message };
  }
  if (webhook?.kind === "unavailable") {
    const message = say(
      `Bring the webhook ${webhook.webhook} back: its Pod or Service does not answer, or its CA is wrong`,
    );
    return { ...base, kind: "webhookUnavailable", status: code, webhook: webhook.webhook, retry: "backoff", message };
  }
  if (code === 410 || isExpiredVersion(status)) {
    return {
      ...base,
      kind: "gone",
      status: 410,
      retry: "never",
      message: say("The list is read again from its beginning"),
    };
  }
  switch (code) {
    case 401:
    case 403:
    case 404:
      return refusal(code, say, context);
    case 409: {
      const kind = status.reason === "AlreadyExists" ? "alreadyExists" : "conflict";
      return { ...base, kind, status: 409, retry: "never", message: say("It is read again before the next write") };
    }
    case 429:
      return throttled(say, context, wait);
    case 504:
      if (status.reason === "Timeout") {
        const message = say("The API server did not finish in time; look at its load and its webhooks");
        return { ...base, kind: "timeout", phase: "answer", retry: "backoff", message };
      }
  }
  if (code >= 500) return unavailable(code, say, context, wait.askedMs);
  const message = say("Check the values, and that this version of the resource is the one the server knows");
  return { ...base, kind: "invalid", status: code, field: status.field, retry: "never", message };
}

/** An answer that is no Status: text of the API server's outermost layers, a load balancer's or a proxy's page. */
function errorFromForeign(
  {
    code,
    contentType,
    words,
  }: { readonly code: number; readonly contentType: string | undefined; readonly words: string },
  context: ErrorContext,
  wait: Wait,
): KubeError {
  const say = (remedy: string): string => errorMessage(context, String(code), words, remedy);
  if (code === 401) return refusal(401, say, context);
  // "404 page not found" is how an API server says that it knows no such group or version.
  if (code === 404 && contentType?.startsWith("text/plain") === true) return refusal(404, say, context);
  if (code === 429) return throttled(say, context, wait);
  if (code >= 500) return unavailable(code, say, context, wait.askedMs);
  const message = say("This is no Kubernetes API answer: check the server URL, and the proxies on the way");
  return { ...frame(context), kind: "unexpected", status: code, contentType, retry: "backoff", message };
}

/** The error behind an exchange that brought no complete answer. */
export function errorFromFailure(failure: ExchangeFailure, context: ErrorContext, timeoutMs: number): KubeError {
  const base = frame(context);
  const say = (came: string, words: string, remedy: string): string => errorMessage(context, came, words, remedy);
  switch (failure.kind) {
    case "timeout": {
      const came = { connect: "no connection", answer: "no answer", body: "no complete answer" }[failure.phase];
      const message = say(`${came} within ${Math.round(timeoutMs)} ms`, "", "Check the way to the server and its load");
      return { ...base, kind: "timeout", phase: failure.phase, retry: "backoff", message };
    }
    case "ended": {
      const message = say("ended by the caller", "", "It is tried again");
      return { ...base, kind: "network", code: "ABORT_ERR", retry: "now", message };
    }
    case "tooLarge": {
      const message = say("the answer is too large", "", "Check that the server URL is an API server's");
      return { ...base, kind: "unexpected", status: 200, contentType: undefined, retry: "never", message };
    }
    case "broken":
      return errorFromFault(connectionFault(failure.error), context);
    default:
      return never(failure.kind);
  }
}

function errorFromFault(fault: ConnectionFault, context: ErrorContext): KubeError {
  const base = frame(context);
  const message = errorMessage(context, fault.words, "", fault.remedy);
  switch (fault.kind) {
    case "connectTimeout":
      return { ...base, kind: "timeout", phase: "connect", retry: "backoff", message };
    case "tls":
      return { ...base, kind: "tls", why: fault.why, retry: "backoff", message };
    case "network":
      return { ...base, kind: "network", code: fault.code, retry: fault.broken ? "now" : "backoff", message };
    default:
      return never(fault);
  }
}

/** A success whose body is not what the API promises. The body is not shown: it may be a Secret. */
export function errorFromBadBody(answer: HttpAnswer, context: ErrorContext): KubeError {
  const contentType = one(answer.headers["content-type"]);
  const came = `${answer.status} with a body that is no API object (${contentType ?? "no content type"})`;
  const message = errorMessage(
    context,
    came,
    "",
    "Check that the server URL is an API server's, and the proxies on the way",
  );
  return { ...frame(context), kind: "unexpected", status: answer.status, contentType, retry: "backoff", message };
}

/** A request that would not address what it names. */
export function errorFromBadAddress(context: ErrorContext): KubeError {
  const message = errorMessage(context, "not sent", "", "A name or Namespace is empty or cannot stand in a path");
  return { ...frame(context), kind: "invalid", status: 400, field: "metadata.name", retry: "never", message };
}

interface Frame {
  readonly cluster: string;
  readonly operation: string;
  readonly object: string;
}

function frame({ cluster, operation, object }: ErrorContext): Frame {
  return { cluster, operation, object };
}

type Say = (remedy: string) => string;

function refusal(code: 401 | 403 | 404, say: Say, context: ErrorContext): KubeError {
  const base = frame(context);
  const retry: Retry = "backoff";
  if (code === 401) {
    const message = say(
      "Give a credential that this server accepts: the token may be expired, revoked or of another cluster",
    );
    return { ...base, kind: "unauthorized", status: 401, retry, message };
  }
  if (code === 403) {
    return { ...base, kind: "forbidden", status: 403, retry, message: say("Grant what the text names by RBAC") };
  }
  const message = say("Check the name and Namespace, and that the resource type (CRD) is installed");
  return { ...base, kind: "notFound", status: 404, retry, message };
}

function throttled(say: Say, context: ErrorContext, { askedMs, random }: Wait): KubeError {
  const retry: Retry = askedMs === undefined ? "backoff" : "after";
  const retryAfterMs = askedMs ?? backoffMs(DEFAULT_WAIT, 1, random);
  const message = say("The server limits requests; it is tried again later");
  return { ...frame(context), kind: "tooManyRequests", status: 429, retryAfterMs, retry, message };
}

function unavailable(code: number, say: Say, context: ErrorContext, waitMs: number | undefined): KubeError {
  const retry: Retry = waitMs === undefined ? "backoff" : "after";
  const message = say("It is tried again; if it stays so, look at the API server and what stands in front of it");
  return { ...frame(context), kind: "unavailable", status: code, retryAfterMs: waitMs, retry, message };
}

/** "Too large resource version" comes as a timeout, but means that the server's history is another (a restored backup). */
function isExpiredVersion(status: StatusBody): boolean {
  return status.reason === "Expired" || status.causes.includes("ResourceVersionTooLarge");
}

function retryAfter(answer: HttpAnswer, status: StatusBody | undefined, now: number): number | undefined {
  const serverNow = Date.parse(one(answer.headers["date"]) ?? "");
  const asked = parseRetryAfter(one(answer.headers["retry-after"]), Number.isNaN(serverNow) ? now : serverNow);
  if (asked !== undefined || status?.retryAfterSeconds === undefined) return asked;
  return parseRetryAfter(String(status.retryAfterSeconds), now);
}

function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
