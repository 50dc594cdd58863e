import type { ResourceType } from "./client.ts";

/** Paths of the Kubernetes API ("Resource URIs" of the API conventions), with every part encoded. */

/** The collection of a type; undefined when a part cannot stand in a path. */
export function collectionPath(type: ResourceType, namespace: string | undefined): string | undefined {
  const parts = [type.version, type.resource];
  if (type.group !== "") parts.push(type.group);
  if (namespace !== undefined) parts.push(namespace);
  if (!parts.every(isPathSegment)) return undefined;
  const root =
    type.group === "" ? `/api/${encode(type.version)}` : `/apis/${encode(type.group)}/${encode(type.version)}`;
  const scope = namespace === undefined ? "" : `/namespaces/${encode(namespace)}`;
  return `${root}${scope}/${encode(type.resource)}`;
}

/**
 * One object, or its subresource; undefined when a part cannot stand in a path. An empty name is refused above all: the
 * path would be the collection's, and a DELETE would take everything in it.
 */
export function objectPath(
  type: ResourceType,
  namespace: string | undefined,
  name: string,
  subresource?: "status",
): string | undefined {
  const collection = collectionPath(type, namespace);
  if (collection === undefined || !isPathSegment(name)) return undefined;
  return `${collection}/${encode(name)}${subresource === undefined ? "" : `/${subresource}`}`;
}

/** The rule of Kubernetes' `IsValidPathSegmentName`, and never empty. */
function isPathSegment(text: string): boolean {
  return text !== "" && text !== "." && text !== ".." && !text.includes("/") && !text.includes("%");
}

/** Names of the API are plain; only an odd one (a colon in an RBAC name) costs an encoding. */
function encode(text: string): string {
  return /^[a-z0-9.-]+$/i.test(text) ? text : encodeURIComponent(text.toWellFormed());
}
