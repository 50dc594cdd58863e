import { describeFieldError, type FieldError } from "./field-error.ts";
import type { ApiReply, ApiStatus } from "./types.ts";

/** A resource of a group, as Kubernetes names it in messages: `leases.coordination.k8s.io`, or `pods` in the core group. */
export interface GroupResource {
  readonly group: string;
  readonly resource: string;
}

/** `Kind.group`, or `Kind` in the core group. */
export interface GroupKind {
  readonly group: string;
  readonly kind: string;
}

/** One cause in a Status' details. */
export interface StatusCause {
  readonly reason?: string;
  readonly message?: string;
  readonly field?: string;
}

interface Details {
  readonly name?: string;
  readonly group?: string;
  readonly kind?: string;
  readonly uid?: string;
  readonly causes?: readonly StatusCause[];
  readonly retryAfterSeconds?: number;
}

/** A failure, with empty details left out as Go's `omitempty` does. */
export function failure(code: number, reason: string, message: string, details?: Details): ApiStatus {
  const kept = Object.fromEntries(
    Object.entries(details ?? {}).filter(([, v]) => v !== undefined && v !== "" && v !== 0),
  );
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message,
    ...(reason === "" ? {} : { reason }),
    ...(details === undefined ? {} : { details: kept }),
    code,
  };
}

/** `leases.coordination.k8s.io`. */
export function qualified(of: GroupResource): string {
  return of.group === "" ? of.resource : `${of.resource}.${of.group}`;
}

/** The object does not exist. */
export function notFound(of: GroupResource, name: string): ApiStatus {
  return failure(404, "NotFound", `${qualified(of)} ${JSON.stringify(name)} not found`, named(of, name));
}

/** No such path or resource is served. */
export function pathNotFound(): ApiStatus {
  return failure(404, "NotFound", "the server could not find the requested resource", {});
}

/** What a path says, in plain text, that nobody answers for. */
export const PAGE_NOT_FOUND = "404 page not found\n";

/** Another object has the name. */
export function alreadyExists(of: GroupResource, name: string, isLeaving = false): ApiStatus {
  const message = `${qualified(of)} ${JSON.stringify(name)} already exists`;
  return failure(409, "AlreadyExists", isLeaving ? `object is being deleted: ${message}` : message, named(of, name));
}

/** No free name was found for a generateName. */
export function generateNameConflict(of: GroupResource, name: string): ApiStatus {
  const message = `${qualified(of)} ${JSON.stringify(name)} already exists, the server was not able to generate a unique name for the object`;
  return failure(409, "AlreadyExists", message, { ...named(of, name), retryAfterSeconds: 1 });
}

/** The write cannot be done as asked; `why` follows the colon. */
export function conflict(of: GroupResource, name: string, why: string): ApiStatus {
  const message = `Operation cannot be fulfilled on ${qualified(of)} ${JSON.stringify(name)}: ${why}`;
  return failure(409, "Conflict", message, named(of, name));
}

/** The resourceVersion of an update is not the stored one. */
export const MODIFIED = "the object has been modified; please apply your changes to the latest version and try again";

/** Nobody known asks. */
export function unauthorized(message = "Unauthorized"): ApiStatus {
  return failure(401, "Unauthorized", message);
}

/** The asker may not, or admission does not let it; `why` follows the colon. */
export function forbidden(of: GroupResource, name: string, why: string): ApiStatus {
  const message =
    of.resource === "" && of.group === ""
      ? `forbidden: ${why}`
      : `${qualified(of)} ${name === "" ? "" : `${JSON.stringify(name)} `}is forbidden: ${why}`;
  return failure(403, "Forbidden", message, named(of, name));
}

/** The object breaks rules of its type. */
export function invalidObject(of: GroupKind, name: string, errors: readonly FieldError[]): ApiStatus {
  const kind = of.group === "" ? of.kind : `${of.kind}.${of.group}`;
  const lines = [...new Set(errors.map(describeFieldError))];
  const list = lines.length === 1 ? lines[0] : `[${lines.join(", ")}]`;
  const head = `${kind} ${JSON.stringify(name)} is invalid`;
  const causes = errors.map((e) => ({ reason: e.type, message: e.body, field: e.field }));
  return failure(422, "Invalid", errors.length === 0 ? head : `${head}: ${list}`, {
    group: of.group,
    kind: of.kind,
    name,
    ...(causes.length === 0 ? {} : { causes }),
  });
}

/** The request makes no sense. */
export function badRequest(message: string): ApiStatus {
  return failure(400, "BadRequest", message);
}

/** The resource does not know the verb. */
export function methodNotAllowed(of: GroupResource, action: string): ApiStatus {
  const message = `${action} is not supported on resources of kind ${JSON.stringify(qualified(of))}`;
  return failure(405, "MethodNotAllowed", message, { group: of.group, kind: of.resource });
}

/** What a path answers that has the method for no verb. */
export function methodNotAllowedOnPath(): ApiStatus {
  return failure(405, "MethodNotAllowed", "the server does not allow this method on the requested resource", {});
}

/** What a real server reads and writes; this one knows no protobuf. */
const BODY_TYPES = ["application/json", "application/yaml", "application/vnd.kubernetes.protobuf"];

/** The body's type is none of the accepted ones. */
export function unsupportedMediaType(accepted: readonly string[] = BODY_TYPES): ApiStatus {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted.join(", ")}`;
  return failure(415, "UnsupportedMediaType", message);
}

/** The body of a patch has none of the accepted types. */
export function unsupportedPatchType(): ApiStatus {
  return failure(415, "UnsupportedMediaType", "415: Unsupported Media Type", {});
}

const REPRESENTATIONS = [
  ...BODY_TYPES,
  "application/json;stream=watch",
  "application/vnd.kubernetes.protobuf;stream=watch",
];

/** The answer cannot have the wanted type; custom resources say so in other words. */
export function notAcceptable(custom: boolean): ApiStatus {
  if (custom) {
    const types = BODY_TYPES.join(", ");
    return failure(406, "NotAcceptable", `only the following media types are accepted: ${types}`);
  }
  const message = `406: Not Acceptable\n\nAvailable representations: ${REPRESENTATIONS.join(", ")}`;
  return failure(406, "NotAcceptable", message, {});
}

/** History or snapshot of the asked resourceVersion is forgotten. */
export function expired(message: string): ApiStatus {
  return failure(410, "Expired", message);
}

/** The asked resourceVersion lies in the future. */
export function tooLargeResourceVersion(asked: number, current: number): ApiStatus {
  const message = `Timeout: Too large resource version: ${asked}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return failure(504, "Timeout", message, { causes, retryAfterSeconds: 1 });
}

/** The request's own time limit passed. */
export function timeoutStatus(message: string, retryAfterSeconds = 0): ApiStatus {
  return failure(504, "Timeout", `Timeout: ${message}`, { retryAfterSeconds });
}

/** Something behind the server failed, for example a webhook. */
export function internalError(message: string): ApiStatus {
  return failure(500, "InternalError", `Internal error occurred: ${message}`, { causes: [{ message }] });
}

/** The body is larger than the server reads. */
export function requestEntityTooLarge(message: string): ApiStatus {
  return failure(413, "RequestEntityTooLarge", `Request entity too large: ${message}`);
}

/** The body that answers a delete which leaves nothing behind; unlike a failure it has neither message, reason nor code. */
export function deleted(of: GroupResource, name: string, uid: string | undefined): Record<string, unknown> {
  const group = of.group === "" ? {} : { group: of.group };
  const details = { name, ...group, kind: of.resource, ...(uid === undefined ? {} : { uid }) };
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details };
}

/** A Status as an answer; `Retry-After` is a header, too. */
export function reply(status: ApiStatus): ApiReply {
  const after = status.details?.["retryAfterSeconds"];
  return typeof after === "number"
    ? { code: status.code, body: status, headers: { "Retry-After": String(after) } }
    : { code: status.code, body: status };
}

function named(of: GroupResource, name: string): Details {
  return { name, group: of.group, kind: of.resource };
}
