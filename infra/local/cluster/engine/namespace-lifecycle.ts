import { failure, notFound, qualified } from "../status.ts";
import type { ApiObject } from "../types.ts";
import type { Core, Located, Refused } from "./core.ts";

const NAMESPACES = { group: "", resource: "namespaces" };

/** Refuses what is to be made in a Namespace that is missing or on its way out. */
export function checkNamespace(core: Core, at: Located, object: ApiObject): Refused | undefined {
  const name = object.metadata.namespace;
  if (!at.type.namespaced || name === undefined || name === "") return undefined;
  const namespace = core.store.get("/namespaces", name);
  if (namespace === undefined) return { refused: notFound(NAMESPACES, name) };
  if (namespace.metadata.deletionTimestamp === undefined) return undefined;
  const { type } = at;
  const objectName = object.metadata.name ?? "";
  const words = `unable to create new content in namespace ${name} because it is being terminated`;
  const message = `${qualified(type)} ${JSON.stringify(objectName)} is forbidden: ${words}`;
  const cause = {
    reason: "NamespaceTerminating",
    message: `namespace ${name} is being terminated`,
    field: "metadata.namespace",
  };
  return {
    refused: failure(403, "Forbidden", message, {
      name: objectName,
      group: type.group,
      kind: type.resource,
      causes: [cause],
    }),
  };
}
