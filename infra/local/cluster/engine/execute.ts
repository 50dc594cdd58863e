import { methodNotAllowed, methodNotAllowedOnPath, notFound, PAGE_NOT_FOUND, pathNotFound, reply } from "../status.ts";
import type { ApiReply, ApiStatus, ResourceRequest } from "../types.ts";
import { type Core, type Located, withWarnings } from "./core.ts";
import { create } from "./create.ts";
import { remove, removeCollection } from "./delete.ts";
import { get, list } from "./reads.ts";
import { patch, update } from "./update.ts";

/** Does what a request asks, watches aside. */
export async function execute(core: Core, request: ResourceRequest): Promise<ApiReply> {
  const at = core.registry.locate(request.group, request.version, request.resource);
  if (at === undefined) return reply(pathNotFound());
  const { subresource } = request;
  if (subresource !== undefined && !at.version.subresources.has(subresource)) {
    return reply(at.type.custom ? notFound(at.type, request.name ?? "") : pathNotFound());
  }
  const misplaced = checkScope(request, at);
  if (misplaced !== undefined) return misplaced;
  if (subresource !== undefined && !["get", "update", "patch"].includes(request.verb)) {
    return reply(methodNotAllowed(at.type, request.verb));
  }
  const { deprecation } = at.version;
  return withWarnings(await perform(core, request, at), deprecation === undefined ? [] : [deprecation]);
}

/** All Namespaces at once can be listed and watched, nothing else; what is in no Namespace has no path in one. */
function checkScope(request: ResourceRequest, at: Located): ApiReply | undefined {
  const inNamespace = (request.namespace ?? "") !== "";
  const nowhere = { ...reply(pathNotFound()), ...(at.type.custom ? { plain: PAGE_NOT_FOUND } : {}) };
  if (inNamespace && !at.type.namespaced) return nowhere;
  if (inNamespace || !at.type.namespaced || request.verb === "list") return undefined;
  return at.type.custom || request.name !== undefined ? nowhere : reply(methodNotAllowedOnPath());
}

async function perform(core: Core, request: ResourceRequest, at: Located): Promise<ApiReply> {
  switch (request.verb) {
    case "get":
      return get(core, request, at);
    case "list":
      return list(core, request, at);
    case "create":
      if (at.type.terminating) return reply(terminatingDefinition(at));
      return await create(core, request, at);
    case "update":
      return await update(core, request, at);
    case "patch":
      return await patch(core, request, at);
    case "delete":
      return await remove(core, request, at);
    case "deletecollection":
      return await removeCollection(core, request, at);
    case "watch":
      return reply(methodNotAllowed(at.type, "watch"));
    default:
      return reply(methodNotAllowed(at.type, request.verb));
  }
}

function terminatingDefinition(at: Located): ApiStatus {
  return {
    ...methodNotAllowed(at.type, "create"),
    message: "create not allowed while custom resource definition is terminating",
  };
}
