import { timeoutStatus } from "../status.ts";
import type { AdmissionAttributes, ApiObject, ResourceRequest } from "../types.ts";
import type { Core, Located, Refused } from "./core.ts";
import { decode } from "./decode.ts";
import { cloneJson } from "./json.ts";

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
  const result = await write.core.admission("mutating", attributes(write, object, old));
  if (!result.allowed) return { refused: result.status };
  write.warnings.push(...result.warnings);
  if (result.object === undefined || result.object === object) return object;
  const decoded = decode(cloneJson(result.object), write.at.type, write.at.version);
  return "status" in decoded ? { refused: decoded.status } : decoded.object;
}

/** Asks validating admission; it may only refuse. */
export async function validateByAdmission(
  write: Admitted,
  object: ApiObject | undefined,
  old?: ApiObject,
): Promise<Refused | undefined> {
  const result = await write.core.admission("validating", attributes(write, object, old));
  if (!result.allowed) return { refused: result.status };
  write.warnings.push(...result.warnings);
  return write.request.signal.aborted ? { refused: timedOut() } : undefined;
}

/** What a request is told whose time is over before its write was stored. */
function timedOut(): ReturnType<typeof timeoutStatus> {
  return timeoutStatus("request did not complete within the allotted timeout");
}

/** Asks mutating admission about a delete, which has no object to change. */
export async function mutateDelete(write: Admitted, old: ApiObject): Promise<Refused | undefined> {
  const result = await write.core.admission("mutating", attributes(write, undefined, old));
  if (!result.allowed) return { refused: result.status };
  write.warnings.push(...result.warnings);
  return undefined;
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
    name: meta?.name ?? request.name ?? "",
    ...(object === undefined ? {} : { object }),
    ...(old === undefined ? {} : { oldObject: old }),
    dryRun: write.dryRun,
    user: request.user,
  };
}
