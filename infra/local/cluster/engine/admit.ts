import { internalError, timeoutStatus } from "../status.ts";
import type { AdmissionAttributes, ApiObject, ResourceRequest } from "../types.ts";
import { type Core, isRefused, type Located, type Refused } from "./core.ts";
import { decode } from "./decode.ts";
import { cloneJson, isJsonObject, type JsonObject } from "./json.ts";

/** One write on its way through admission. */
export interface Admitted {
  readonly core: Core;
  readonly request: ResourceRequest;
  readonly at: Located;
  readonly dryRun: boolean;
  readonly operation: AdmissionAttributes["operation"];
  /** Collects what webhooks warn of. */
  readonly warnings: string[];
}

/** Asks mutating admission; what comes back is read anew, so that its defaults are filled in, too. */
export async function mutate(write: Admitted, object: ApiObject, old?: ApiObject): Promise<ApiObject | Refused> {
  const result = await ask(write, "mutating", object, old);
  if (isRefused(result)) return result;
  if (result.object === undefined || result.object === object) return object;
  const decoded = decode(cloneJson(result.object), write.at.type, write.at.version);
  return "status" in decoded ? { refused: internalError(decoded.wrong) } : decoded.object;
}

/** Asks validating admission; it may only refuse. */
export async function validateByAdmission(
  write: Admitted,
  object: ApiObject | undefined,
  old?: ApiObject,
): Promise<Refused | undefined> {
  const result = await ask(write, "validating", object, old);
  if (isRefused(result)) return result;
  return write.request.signal.aborted ? { refused: timedOut() } : undefined;
}

/** What a request is told whose time is over before its write was stored. */
function timedOut(): ReturnType<typeof timeoutStatus> {
  return timeoutStatus("request did not complete within the allotted timeout");
}

/** Asks mutating admission about a delete, which has no object to change. */
export async function mutateDelete(write: Admitted, old: ApiObject): Promise<Refused | undefined> {
  const result = await ask(write, "mutating", undefined, old);
  return isRefused(result) ? result : undefined;
}

/** Asks, and takes note of the warnings, which a refused client gets, too. */
async function ask(
  write: Admitted,
  phase: "mutating" | "validating",
  object: ApiObject | undefined,
  old: ApiObject | undefined,
): Promise<{ readonly object: ApiObject | undefined } | Refused> {
  const result = await write.core.admission(phase, attributes(write, object, old));
  write.warnings.push(...(result.warnings ?? []));
  return result.allowed ? { object: result.object } : { refused: result.status };
}

function attributes(write: Admitted, object: ApiObject | undefined, old: ApiObject | undefined): AdmissionAttributes {
  const { request, at } = write;
  const meta = (object ?? old)?.metadata;
  return {
    operation: write.operation,
    group: at.type.group,
    version: at.version.name,
    kind: at.type.kind,
    resource: at.type.resource,
    ...(request.subresource === undefined ? {} : { subresource: request.subresource }),
    ...(meta?.namespace === undefined ? {} : { namespace: meta.namespace }),
    // A delete of many objects has no name.
    name: request.verb === "deletecollection" ? "" : (meta?.name ?? request.name ?? ""),
    ...(object === undefined ? {} : { object }),
    ...(old === undefined ? {} : { oldObject: old }),
    dryRun: write.dryRun,
    options: write.operation === "DELETE" ? deleteOptions(request) : writeOptions(request, write.dryRun),
    user: request.user,
  };
}

function writeOptions({ query }: ResourceRequest, dryRun: boolean): JsonObject {
  const given = ["fieldManager", "fieldValidation"].flatMap((field) => {
    const value = query.get(field) ?? "";
    return value === "" ? [] : [[field, value]];
  });
  return { ...(dryRun ? { dryRun: ["All"] } : {}), ...Object.fromEntries(given) };
}

/** A body says it all, without one the query does. */
function deleteOptions({ query, body }: ResourceRequest): JsonObject {
  if (isJsonObject(body)) return body;
  const grace = query.get("gracePeriodSeconds") ?? "";
  const policy = query.get("propagationPolicy") ?? "";
  return {
    ...(query.getAll("dryRun").includes("All") ? { dryRun: ["All"] } : {}),
    ...(grace === "" ? {} : { gracePeriodSeconds: Number(grace) }),
    ...(policy === "" ? {} : { propagationPolicy: policy }),
  };
}
