import type { Verb } from "../types.ts";

/** A request for a resource, taken apart by its method and path as a Kubernetes API server does. */
export interface ResourceInfo {
  readonly kind: "resource";
  readonly verb: Verb;
  readonly group: string;
  readonly version: string;
  readonly resource: string;
  readonly subresource: string | undefined;
  /** For authorisation; also set for requests on a Namespace itself, as RBAC counts them to that Namespace. */
  readonly namespace: string | undefined;
  /** For authorisation; also set for lists and watches that a field selector limits to one name. */
  readonly name: string | undefined;
  /** The name in the path. */
  readonly pathName: string | undefined;
  /** The namespace in the path of a namespaced resource. */
  readonly pathNamespace: string | undefined;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** Any other request: discovery, health, version. Its verb is the HTTP method in lower case. */
export interface NonResourceInfo {
  readonly kind: "nonResource";
  readonly verb: string;
  readonly path: string;
  readonly query: URLSearchParams;
}

/** What a request is about. */
export type RequestInfo =
  | ResourceInfo
  | NonResourceInfo
  /** A resource path with a method that no verb belongs to. */
  | { readonly kind: "methodNotAllowed"; readonly path: string };

const NAMESPACE_SUBRESOURCES: ReadonlySet<string> = new Set(["status", "finalize"]);
const VERBS: Readonly<Record<string, { readonly item?: Verb; readonly collection?: Verb }>> = {
  GET: { item: "get", collection: "list" },
  POST: { item: "create", collection: "create" },
  PUT: { item: "update" },
  PATCH: { item: "patch" },
  DELETE: { item: "delete", collection: "deletecollection" },
};

/** Takes method and request target (`/api/v1/namespaces?limit=5`) apart. */
export function parseRequest(method: string, target: string): RequestInfo {
  const mark = target.indexOf("?");
  const path = mark === -1 ? target : target.slice(0, mark);
  const query = new URLSearchParams(mark === -1 ? "" : target.slice(mark + 1));
  // No route has an empty part: a server's address that ends with a slash makes one.
  if (path.includes("//")) return { kind: "nonResource", verb: method.toLowerCase(), path, query };
  // An escaped slash parts a path like any other.
  const parts = decode(path)
    .split("/")
    .filter((p) => p !== "");
  const grouped = parts[0] === "apis";
  const prefix = grouped ? 3 : 2;
  if ((!grouped && parts[0] !== "api") || parts.length <= prefix) {
    return { kind: "nonResource", verb: method.toLowerCase(), path, query };
  }
  const group = grouped ? (parts[1] ?? "") : "";
  const version = parts[prefix - 1] ?? "";
  return resourceInfo(method, { group, version, path, query }, parts.slice(prefix));
}

type Base = Pick<ResourceInfo, "group" | "version" | "path" | "query">;

function resourceInfo(method: string, base: Base, segments: readonly string[]): RequestInfo {
  const { namespace, own } = splitNamespace(segments);
  const [resource = "", pathName, subresource] = own;
  const verbs = VERBS[method];
  // POST on an object without a subresource means nothing.
  const bare = method === "POST" && pathName !== undefined && subresource === undefined;
  const verb = bare ? undefined : pathName === undefined ? verbs?.collection : verbs?.item;
  if (verb === undefined) return { kind: "methodNotAllowed", path: base.path };
  const watched = base.query.get("watch");
  const watches = watched !== null && watched !== "false" && watched !== "0";
  const selected = verb === "list" ? selectedName(base.query) : undefined;
  return {
    kind: "resource",
    verb: verb === "list" && watches ? "watch" : verb,
    ...base,
    resource,
    subresource: own.length > 2 ? own.slice(2).join("/") : undefined,
    namespace,
    name: pathName ?? selected,
    pathName,
    // The path of a Namespace itself is in none.
    pathNamespace: own === segments ? undefined : namespace,
  };
}

/** `namespaces/x/pods` is about pods; `namespaces/x` and `namespaces/x/status` are about the Namespace. */
function splitNamespace(segments: readonly string[]): { namespace: string | undefined; own: readonly string[] } {
  const [first, namespace, next] = segments;
  if (first !== "namespaces") return { namespace: undefined, own: segments };
  const about = next !== undefined && !NAMESPACE_SUBRESOURCES.has(next);
  return { namespace, own: about ? segments.slice(2) : segments };
}

/** The name of `fieldSelector=metadata.name=x`, which authorisation treats as the name of the request. */
function selectedName(query: URLSearchParams): string | undefined {
  const selector = query.get("fieldSelector");
  if (selector === null) return undefined;
  for (const term of selector.split(",")) {
    const match = /^metadata\.name==?([^=!]+)$/.exec(term.trim());
    if (match?.[1] !== undefined) return match[1];
  }
  return undefined;
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
