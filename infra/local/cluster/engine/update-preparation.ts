import type { ApiObject, ResourceRequest } from "../types.ts";
import { type Core, type Located, type Refused, strategyContext } from "./core.ts";
import { equalJson } from "./json.ts";

/** Puts back what the endpoint does not let change, and counts the generation. Returns a new object. */
export function prepareUpdate(
  core: Core,
  request: ResourceRequest,
  at: Located,
  change: { readonly object: ApiObject; readonly old: ApiObject },
): ApiObject | Refused {
  const { old } = change;
  const object = restrict(request.subresource, at, change);
  keepSystemFields(object, old);
  const context = strategyContext(core, request.user);
  const { strategy } = at.type;
  const refused =
    request.subresource === undefined
      ? strategy.prepareUpdate?.(object, old, context)
      : strategy.prepareSubresource?.(request.subresource, object, old, context);
  if (refused !== undefined) return { refused };
  if (request.subresource === undefined) countGeneration(object, old, at);
  return object;
}

/** `/status` touches the status alone, the main endpoint all but the status. */
function restrict(
  subresource: string | undefined,
  at: Located,
  { object, old }: { readonly object: ApiObject; readonly old: ApiObject },
): ApiObject {
  const hasStatus = at.version.subresources.has("status");
  if (subresource === undefined) return hasStatus ? withStatusOf(object, old) : object;
  if (subresource !== "status") return object;
  // Built-in types let metadata be changed along with the status, custom resources do not.
  const metadata = at.type.custom ? { ...old.metadata } : { ...object.metadata };
  return withStatusOf({ ...old, metadata }, object);
}

function withStatusOf(object: ApiObject, source: ApiObject): ApiObject {
  const { status: _status, ...rest } = object;
  const status = source["status"];
  const bare: ApiObject = { ...rest, apiVersion: object.apiVersion, kind: object.kind, metadata: object.metadata };
  return status === undefined ? bare : { ...bare, status };
}

function keepSystemFields(object: ApiObject, old: ApiObject): void {
  const meta = { ...object.metadata };
  meta.uid ??= old.metadata.uid ?? "";
  for (const field of ["creationTimestamp", "deletionTimestamp"] as const) {
    const value = old.metadata[field];
    if (value !== undefined) meta[field] = value;
  }
  const grace = old.metadata.deletionGracePeriodSeconds;
  if (grace !== undefined) meta.deletionGracePeriodSeconds ??= grace;
  if (old.metadata.generation === undefined) delete meta.generation;
  else meta.generation = old.metadata.generation;
  if (old.metadata.namespace !== undefined) meta.namespace ??= old.metadata.namespace;
  if (old.metadata.resourceVersion !== undefined) meta.resourceVersion = old.metadata.resourceVersion;
  object.metadata = meta;
}

function countGeneration(object: ApiObject, old: ApiObject, at: Located): void {
  const { generation } = at.type.strategy;
  if (generation === "none") return;
  const before = old.metadata.generation ?? 0;
  const relabelled = generation === "contentAndLabels" && !equalJson(object.metadata.labels, old.metadata.labels);
  const changed =
    generation === "spec" ? !equalJson(object["spec"], old["spec"]) : relabelled || !sameButMetadata(object, old);
  if (changed) object.metadata.generation = before + 1;
}

function sameButMetadata(a: ApiObject, b: ApiObject): boolean {
  return equalJson({ ...a, metadata: undefined }, { ...b, metadata: undefined });
}
